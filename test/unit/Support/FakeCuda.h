//===- FakeCuda.h - A libcuda.so.1 that runs on the host -------*- C++ -*-===//
//
// A shared object with every function of CudaSymbols.def, so that HIP over CUDA
// can be tested without a GPU. Its memory is host memory with bounds, its
// kernels only remember their launch, and it can be told to fail. A module is a
// text: "FAKE-PTX", then for each kernel its name and how many arguments of
// eight bytes it has.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_SUPPORT_FAKECUDA_H
#define TESSERA_TEST_UNIT_SUPPORT_FAKECUDA_H

#include "runtime/HipOnCuda/Cuda.h"

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace tessera::test {

struct FakeCudaLaunch {
  std::string kernel;
  std::array<unsigned, 3> grid, block;
  unsigned sharedBytes;
  hipStream_t stream;
  std::vector<uint64_t> arguments;
  int device;
  bool isCooperative = false;
  bool isDependent = false;
};

/// What the fake saw and how it shall answer. Lock `mutex` to read.
struct FakeCuda {
  std::mutex mutex;
  std::map<std::string, int> calls; ///< By the documented name.
  std::vector<FakeCudaLaunch> launches;
  /// The next call of this function answers `failure`.
  std::string failingFunction;
  cuda::CudaError failure = cuda::CudaError::Success;

  int getCalls(const std::string &name) {
    std::lock_guard lock(mutex);
    return calls[name];
  }
  void failNext(const std::string &name, cuda::CudaError error) {
    std::lock_guard lock(mutex);
    failingFunction = name;
    failure = error;
  }
  FakeCudaLaunch takeLaunch() {
    std::lock_guard lock(mutex);
    FakeCudaLaunch last = launches.back();
    launches.clear();
    return last;
  }
};

/// Loads a variant ("fake-cuda": two devices, CUDA 12.4) as the libcuda.so.1 of
/// this process; aborts if it cannot.
FakeCuda &loadFakeCuda(const std::string &variant = "fake-cuda");

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_SUPPORT_FAKECUDA_H
