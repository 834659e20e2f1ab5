//===- RandomProblem.h - Valid problems for property tests -----*- C++ -*-===//
//
// Property tests print the seed, and TESSERA_TEST_SEED repeats a run.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_SUPPORT_RANDOMPROBLEM_H
#define TESSERA_TEST_UNIT_SUPPORT_RANDOMPROBLEM_H

#include "runtime/Base/Env.h"
#include "runtime/Base/Problem.h"

#include <random>

namespace tessera::test {

/// Makes valid problems of every type, layout and direction. Not for threads.
class RandomProblem {
public:
  RandomProblem()
      : seed(getEnvInt("TESSERA_TEST_SEED").value_or(std::random_device{}())),
        engine(seed) {}

  uint64_t getSeed() const { return seed; }

  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  }

  Spatial pickPair(int64_t low, int64_t high) {
    return {pick(low, high), pick(low, high)};
  }

  /// `lastType`: the last DataType to use, in the order of the enum.
  Problem next(DataType lastType = DataType::I32) {
    Problem problem;
    problem.direction = static_cast<Direction>(pick(0, 2));
    problem.dataType =
        static_cast<DataType>(pick(0, static_cast<int64_t>(lastType)));
    problem.xLayout = static_cast<Layout>(pick(0, 1));
    problem.wLayout = static_cast<Layout>(pick(0, 1));
    problem.yLayout = static_cast<Layout>(pick(0, 1));
    problem.groups = pick(1, 8);
    problem.batch = pick(1, 300);
    problem.inChannels = problem.groups * pick(1, 100);
    problem.outChannels = problem.groups * pick(1, 100);
    problem.in = pickPair(1, 300);
    problem.filter = pickPair(1, 11);
    problem.pad = pickPair(0, 5);
    problem.stride = pickPair(1, 4);
    problem.dilation = pickPair(1, 3);
    return problem;
  }

private:
  uint64_t seed;
  std::mt19937_64 engine;
};

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_SUPPORT_RANDOMPROBLEM_H
