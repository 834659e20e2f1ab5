//===- Conformance.h - The frame of the conformance set --------*- C++ -*--===//
//
// Every case runs kernels through HIP's ordinary interface and compares their
// results with those of the host in the same program. A function that is
// __host__ __device__ is its own reference: the host compiler has compiled it
// independently.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_CONFORMANCE_CONFORMANCE_H
#define TESSERA_TEST_CONFORMANCE_CONFORMANCE_H

#ifdef CONFORMANCE_PTX
#include "NvidiaDevice.h"
#else
#include <hip/hip_runtime.h>
#endif

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

namespace conformance {

struct Case {
  const char *name;
  void (*run)();
  bool isByNameOnly; ///< Runs only if it is named.
  Case *next;
  Case(const char *name, void (*run)(), bool isByNameOnly = false);
};

/// Records a failure of the running case; only the first ones are printed.
void fail(const char *what, size_t index, double got, double want);
void check(hipError_t error, const char *what);

#define CONFORMANCE_CASE(name)                                                 \
  static void run##name();                                                     \
  static ::conformance::Case case##name{#name, run##name};                     \
      static void run##name()
#define CONFORMANCE_CASE_BY_NAME(name)                                         \
  static void run##name();                                                     \
  static ::conformance::Case case##name{#name, run##name, true};               \
      static void run##name()
#define CHECK_HIP(call) ::conformance::check(call, #call)

/// Device memory with the contents of a vector.
template <typename T>
class Buffer {
public:
  explicit Buffer(const std::vector<T> &values) : count(values.size()) {
    CHECK_HIP(hipMalloc(&pointer, count * sizeof(T)));
    CHECK_HIP(hipMemcpy(pointer, values.data(), count * sizeof(T),
                        hipMemcpyHostToDevice));
  }
  explicit Buffer(size_t count) : Buffer(std::vector<T>(count)) {}
  ~Buffer() { CHECK_HIP(hipFree(pointer)); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  operator T *() const { return pointer; }
  std::vector<T> read() const {
    CHECK_HIP(hipGetLastError());
    CHECK_HIP(hipDeviceSynchronize());
    std::vector<T> values(count);
    CHECK_HIP(hipMemcpy(values.data(), pointer, count * sizeof(T),
                        hipMemcpyDeviceToHost));
    return values;
  }

private:
  T *pointer = nullptr;
  size_t count;
};

/// Compares bit for bit, except that all NaNs are equal.
template <typename T>
bool isSame(const T &a, const T &b) {
  return (a != a && b != b) || std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <typename T>
void expectEqual(const char *what, const std::vector<T> &got,
                 const std::vector<T> &want) {
  for (size_t i = 0; i < want.size(); ++i)
    if (!isSame(got[i], want[i]))
      fail(what, i, static_cast<double>(got[i]), static_cast<double>(want[i]));
}

inline void expectNear(const char *what, const std::vector<float> &got,
                       const std::vector<double> &want, double tolerance) {
  for (size_t i = 0; i < want.size(); ++i)
    if (!(std::fabs(got[i] - want[i]) <= tolerance))
      fail(what, i, got[i], want[i]);
}

/// A hash, for pseudo-random numbers that are the same on host and device.
inline uint32_t scramble(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352d;
  x ^= x >> 15;
  x *= 0x846ca68b;
  return x ^ x >> 16;
}

} // namespace conformance

#endif // TESSERA_TEST_CONFORMANCE_CONFORMANCE_H
