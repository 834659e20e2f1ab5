//===- FakeHip.h - A HIP runtime that records calls ------------*- C++ -*--===//
//
// A shared object with every function of HipSymbols.def. Its device memory is
// host memory, and launches are recorded with their arguments and not executed.
// Tests load it by the same loader as the real runtimes. Variants of it (HIP 6,
// no device, ...) are built from one source by
// test/unit/Support/CMakeLists.txt.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_SUPPORT_FAKEHIP_H
#define TESSERA_TEST_UNIT_SUPPORT_FAKEHIP_H

#include "runtime/Gpu/GpuApiLoader.h"

#include <array>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::test {

struct FakeLaunch {
  std::string symbol;
  std::array<uint32_t, 3> grid;
  std::array<uint32_t, 3> block;
  uint32_t ldsBytes;
  hipStream_t stream;
  std::vector<char> kernarg;
  bool isDependent = false;
};

/// The calls that a fake runtime has recorded, and the failures that a test has
/// asked for. `mutex` must be locked to read the members.
struct FakeHip {
  std::mutex mutex;
  /// Numbers of calls by function name. The keys are literals, so that they
  /// outlive the map.
  std::map<std::string_view, int> calls;
  /// Numbers of handles that are alive, by the function that creates them.
  std::map<std::string_view, int> alive;
  std::vector<FakeLaunch> launches;
  /// Memory blocks and streams that are alive.
  std::set<const void *> blocks;
  /// The next call of this function returns `failure`.
  std::string failingFunction;
  hipError_t failure = hipSuccess;
  int currentDevice = 0;

  int getCalls(std::string_view name) {
    std::lock_guard lock(mutex);
    const auto found = calls.find(name);
    return found == calls.end() ? 0 : found->second;
  }
  int getAlive(std::string_view name) {
    std::lock_guard lock(mutex);
    const auto found = alive.find(name);
    return found == alive.end() ? 0 : found->second;
  }
  void failNext(const std::string &name, hipError_t error) {
    std::lock_guard lock(mutex);
    failingFunction = name;
    failure = error;
  }
  void reset() {
    std::lock_guard lock(mutex);
    calls.clear();
    launches.clear();
    failingFunction.clear();
    currentDevice = 0;
  }
};

/// Returns a code object that the fake can load, with one kernel of this name.
std::vector<char> makeFakeCodeObject(const std::string &symbol);

/// Returns the path of a variant: "fake-hip" is HIP 5 on a gfx90a,
/// "fake-amd/libamdhip64" is HIP 6 with the file name of AMD's runtime.
std::string getFakeHipPath(const std::string &variant);

/// Returns the function table of a variant, which is loaded once. Aborts if it
/// cannot be loaded.
const GpuApi &loadFakeHip(const std::string &variant = "fake-hip");

/// Returns the state of a variant that is loaded.
FakeHip &getFakeHip(const std::string &variant = "fake-hip");

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_SUPPORT_FAKEHIP_H
