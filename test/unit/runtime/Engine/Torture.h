//===- Torture.h - What processes that are ill-treated ask for -*- C++ -*--===//

#ifndef TESSERA_TEST_UNIT_RUNTIME_ENGINE_TORTURE_H
#define TESSERA_TEST_UNIT_RUNTIME_ENGINE_TORTURE_H

#include "test/unit/Support/FakeHip.h"
#include "test/unit/Support/RandomProblem.h"
#include "test/unit/Support/SampleKernel.h"

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

namespace tessera::test {

inline constexpr char kTortureRevision[] = "r1";

inline Problem makeTortureProblem(int number) {
  ConvProblem problem;
  problem.batch = number + 1;
  return problem;
}

inline int getTortureNumber(const Problem &problem) {
  return static_cast<int>(problem.getConv()->batch) - 1;
}

/// A kernel whose code, of 20 KB that do not compress, and numbers depend on
/// the problem.
inline Kernel makeTortureKernel(int number,
                                const std::string &tile = "igemm-tile") {
  Kernel kernel = makeSampleKernel(tile);
  const std::string symbol = "conv" + std::to_string(number);
  kernel.codeObject = makeFakeCodeObject(symbol);
  std::minstd_rand random(number + 1);
  while (kernel.codeObject.size() < 20000)
    kernel.codeObject.push_back(static_cast<char>(random() >> 8));
  LaunchRecipe launch;
  launch.symbol = symbol;
  launch.grid[0] = number + 1;
  kernel.launches = {launch};
  kernel.workspaceBytes = number;
  return kernel;
}

/// Cuts the file off, or overwrites a part of it.
inline void spoil(const std::string &path, RandomProblem &random) {
  std::error_code error;
  const auto size =
      static_cast<int64_t>(std::filesystem::file_size(path, error));
  if (error || size == 0)
    return;
  if (random.pick(0, 2) == 0) {
    std::filesystem::resize_file(path, random.pick(0, size - 1), error);
    return;
  }
  std::fstream bytes(path, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(random.pick(0, size - 1));
  std::string garbage(random.pick(1, 5000), '\0');
  for (char &byte : garbage)
    byte = static_cast<char>(random.pick(0, 255));
  bytes << garbage;
}

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_RUNTIME_ENGINE_TORTURE_H
