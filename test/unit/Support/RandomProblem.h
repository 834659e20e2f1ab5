//===- RandomProblem.h - Valid problems for property tests -----*- C++ -*--===//
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

/// Creates valid problems of every type, layout and direction. An object must
/// not be shared between threads.
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

  /// Returns a convolution with two dimensions and packed tensors. `lastType`
  /// is the last DataType that is used, in the order of the enum; behind i8 are
  /// those of 8-bit floats, too.
  ConvProblem next(DataType lastType = DataType::I8) {
    ConvProblem problem;
    problem.direction = static_cast<Direction>(pick(0, 2));
    problem.dataType =
        static_cast<DataType>(pick(0, static_cast<int64_t>(lastType)));
    if (lastType == DataType::I8 && pick(0, 3) == 0) {
      constexpr DataType kFloats8[] = {DataType::E4M3FNUZ, DataType::E5M2FNUZ,
                                       DataType::E4M3FN, DataType::E5M2};
      problem.dataType = kFloats8[pick(0, 3)];
      problem.byteResult =
          pick(0, 1) ? problem.dataType : static_cast<DataType>(pick(0, 2));
    }
    if (problem.dataType == DataType::I8)
      problem.direction = Direction::Forward;
    problem.xLayout = static_cast<Layout>(pick(0, 1));
    problem.wLayout = static_cast<Layout>(pick(0, 1));
    problem.yLayout = static_cast<Layout>(pick(0, 1));
    problem.groups = pick(1, 8);
    problem.batch = pick(1, 300);
    problem.inChannels = problem.groups * pick(1, 100);
    problem.outChannels = problem.groups * pick(1, 100);
    problem.in = pickPair(1, 300);
    problem.filter = pickPair(1, 11);
    problem.pad = {pick(0, 5), pick(0, 5)};
    if (pick(0, 3) == 0)
      problem.setPadAfter({pick(0, 5), pick(0, 5)});
    problem.stride = pickPair(1, 4);
    problem.dilation = pickPair(1, 3);
    return problem;
  }

  /// Returns a convolution that may have, each with probability 1/2, depth,
  /// gaps between images, a result of f32, products of tf32 and an epilogue,
  /// and with 1/4 statistics, or each kind of a normalisation's gradient.
  ConvProblem nextOfAll() {
    ConvProblem p = next();
    if (pick(0, 1)) {
      p.in.d = pick(1, 9);
      p.filter.d = pick(1, 3);
      p.pad.d = pick(0, 2);
      p.extraPad.d = pick(0, 3) == 0 ? pick(0, 2) - p.pad.d : 0;
      p.stride.d = pick(1, 2);
      p.dilation.d = pick(1, 2);
    }
    if (pick(0, 1)) {
      p.xStrides = getPackedStrides(p.xLayout, p.getInputLengths());
      p.xStrides.n += 5;
      p.xLayout = Layout::Strided;
    }
    if (p.dataType == DataType::I8)
      p.byteResult = pick(0, 1)   ? DataType::I32
                     : pick(0, 1) ? DataType::F32
                                  : DataType::I8;
    if (p.dataType != DataType::I8 || p.byteResult != DataType::I32)
      p.epilogue = {.alpha = pick(0, 1) != 0,
                    .beta = pick(0, 1) != 0,
                    .bias = pick(0, 1) != 0,
                    .residual = pick(0, 1) != 0,
                    .activation = static_cast<Activation>(pick(0, 10))};
    if (p.direction == Direction::Forward && !p.hasByteResult() &&
        p.dataType != DataType::F64)
      p.epilogue.statistics = pick(0, 3) == 0;
    if (p.direction == Direction::BackwardData && !p.hasByteResult() &&
        p.dataType != DataType::F64)
      p.epilogue.normGradient = static_cast<NormGradient>(pick(0, 3));
    p.mathType = static_cast<MathType>(pick(0, 1));
    p.forbidsWinograd = pick(0, 1) != 0;
    return p.canonicalize();
  }

  /// Returns a pooling of any mode, direction and kind of index, perhaps with
  /// depth or gaps.
  PoolProblem nextPool() {
    PoolProblem p;
    p.mode = static_cast<PoolMode>(pick(0, 3));
    p.direction = pick(0, 1) ? Direction::Forward : Direction::BackwardData;
    p.dataType = static_cast<DataType>(pick(0, 2));
    p.xLayout = static_cast<Layout>(pick(0, 1));
    p.yLayout = static_cast<Layout>(pick(0, 1));
    p.batch = pick(1, 30);
    p.channels = pick(1, 100);
    p.in = pickPair(1, 60);
    p.window = pickPair(1, 7);
    p.pad = {pick(0, 3), pick(0, 3)};
    p.stride = pickPair(1, 4);
    if (pick(0, 1)) {
      p.in.d = pick(1, 9);
      p.window.d = pick(1, 3);
      p.pad.d = pick(0, 1);
      p.stride.d = pick(1, 2);
    }
    if (pick(0, 3) == 0)
      p.setPadAfter({pick(0, 3), pick(0, 3), p.hasDepth() ? pick(0, 1) : 0});
    if (isMaximum(p.mode) &&
        (p.direction == Direction::BackwardData || pick(0, 1))) {
      p.indexType = pick(0, 1) ? IndexType::U32 : IndexType::U64;
      p.indexMode = static_cast<IndexMode>(pick(0, 1));
    }
    if (pick(0, 1)) {
      p.yStrides = getPackedStrides(p.yLayout, p.getOutputLengths());
      p.yStrides.n += 3;
      p.yLayout = Layout::Strided;
    }
    return p.canonicalize();
  }

private:
  uint64_t seed;
  std::mt19937_64 engine;
};

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_SUPPORT_RANDOMPROBLEM_H
