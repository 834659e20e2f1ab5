//===- FakeHip.h - A HIP runtime that only remembers -----------*- C++ -*-===//
//
// A shared object with every function of HipSymbols.def. Its device memory is
// host memory; it launches nothing, but keeps what a launch was given. Tests
// find it through the same loader as the real ones. Variants of it (HIP 6, no
// device, ...) are built from one source by test/unit/Support/CMakeLists.txt.
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

/// What a fake runtime saw and how it shall answer. Lock `mutex` to read.
struct FakeHip {
  std::mutex mutex;
  /// By function; its name is a literal.
  std::map<std::string_view, int> calls;
  /// Handles by the function that made them.
  std::map<std::string_view, int> alive;
  std::vector<FakeLaunch> launches;
  /// Blocks and streams that are alive.
  std::set<const void *> blocks;
  /// The next call of this function answers `failure`.
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

/// A code object that the fake loads: it has one kernel of this name.
std::vector<char> makeFakeCodeObject(const std::string &symbol);

/// Path of a variant: "fake-hip" is HIP 5 on a gfx90a, "fake-amd/libamdhip64"
/// HIP 6 under AMD's name.
std::string getFakeHipPath(const std::string &variant);

/// The table of a variant, loaded once; aborts if it cannot be.
const GpuApi &loadFakeHip(const std::string &variant = "fake-hip");

/// The state behind a variant that is loaded.
FakeHip &getFakeHip(const std::string &variant = "fake-hip");

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_SUPPORT_FAKEHIP_H
