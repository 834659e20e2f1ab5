//===- FakeCuda.h - A libcuda.so.1 that runs on the host -------*- C++ -*--===//
//
// A shared object with every function of CudaSymbols.def, so that HIP over CUDA
// can be tested without a GPU. Device memory is host memory whose bounds are
// checked, launches are recorded and not executed, and a test can make any
// function fail. A module is a text: "FAKE-PTX", then for each kernel its name
// and the number of its arguments, of eight bytes each.
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

/// The calls that the fake has recorded, and the failures that a test has asked
/// for. `mutex` must be locked to read the members.
struct FakeCuda {
  std::mutex mutex;
  std::map<std::string, int> calls; ///< By function name without suffix _v2.
  std::vector<FakeCudaLaunch> launches;
  /// The next call of this function returns `failure`.
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
