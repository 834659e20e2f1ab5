//===- Atomics.h - Read-modify-write on one element ------------*- C++ -*-===//
//
// Workgroups run on several host threads, so atomics must be atomic on the
// host too. Lanes go in ascending order.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_EXEC_ATOMICS_H
#define TESSERA_RUNTIME_EMULATOR_EXEC_ATOMICS_H

#include "runtime/Emulator/Exec/HalfFloat.h"

#include <bit>
#include <cstdint>

namespace tessera::emulator {

/// new = Fn(old, data, compare); compare only for compare-and-swap.
using AtomicFunction32 = uint32_t (*)(uint32_t, uint32_t, uint32_t);
using AtomicFunction64 = uint64_t (*)(uint64_t, uint64_t, uint64_t);

/// Replaces the element at `memory`, which is naturally aligned, and returns
/// what was there.
template <typename T>
T updateAtomically(uint8_t *memory, T data, T compare, T (*function)(T, T, T)) {
  T *element = reinterpret_cast<T *>(memory);
  T old = __atomic_load_n(element, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(element, &old,
                                      function(old, data, compare), false,
                                      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
  }
  return old;
}

/// The operations, once for both widths.
template <typename T>
struct AtomicOps {
  using Signed = std::make_signed_t<T>;
  static T add(T old, T data, T) { return old + data; }
  static T sub(T old, T data, T) { return old - data; }
  static T reverseSub(T old, T data, T) { return data - old; }
  static T smin(T old, T data, T) {
    return static_cast<Signed>(data) < static_cast<Signed>(old) ? data : old;
  }
  static T smax(T old, T data, T) {
    return static_cast<Signed>(data) > static_cast<Signed>(old) ? data : old;
  }
  static T umin(T old, T data, T) { return data < old ? data : old; }
  static T umax(T old, T data, T) { return data > old ? data : old; }
  static T bitAnd(T old, T data, T) { return old & data; }
  static T bitOr(T old, T data, T) { return old | data; }
  static T bitXor(T old, T data, T) { return old ^ data; }
  static T swap(T, T data, T) { return data; }
  static T increment(T old, T data, T) { return old >= data ? 0 : old + 1; }
  static T decrement(T old, T data, T) {
    return old == 0 || old > data ? data : old - 1;
  }
  static T compareSwap(T old, T data, T compare) {
    return old == compare ? data : old;
  }
};

template <typename Float, typename T>
struct FloatAtomicOps {
  static T add(T old, T data, T) {
    return std::bit_cast<T>(std::bit_cast<Float>(old) +
                            std::bit_cast<Float>(data));
  }
  static T min(T old, T data, T) {
    auto a = std::bit_cast<Float>(old), b = std::bit_cast<Float>(data);
    return a != a || b < a ? data : old;
  }
  static T max(T old, T data, T) {
    auto a = std::bit_cast<Float>(old), b = std::bit_cast<Float>(data);
    return a != a || b > a ? data : old;
  }
};

inline uint32_t addPackedF16(uint32_t old, uint32_t data, uint32_t) {
  uint32_t lo = floatToHalf(halfToFloat(old) + halfToFloat(data));
  uint32_t hi = floatToHalf(halfToFloat(old >> 16) + halfToFloat(data >> 16));
  return lo | hi << 16;
}
inline uint32_t addPackedBf16(uint32_t old, uint32_t data, uint32_t) {
  uint32_t lo = floatToBf16(bf16ToFloat(old) + bf16ToFloat(data));
  uint32_t hi = floatToBf16(bf16ToFloat(old >> 16) + bf16ToFloat(data >> 16));
  return lo | hi << 16;
}

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_EXEC_ATOMICS_H
