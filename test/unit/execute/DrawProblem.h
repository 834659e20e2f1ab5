//===- DrawProblem.h - Draws valid problems --------------------*- C++ -*--===//
//
// The problems are small enough to be executed on the emulated device, and a
// seed names the same problems on every machine.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_EXECUTE_DRAWPROBLEM_H
#define TESSERA_TEST_UNIT_EXECUTE_DRAWPROBLEM_H

#include "runtime/Base/Problem.h"

#include <vector>

namespace tessera {

/// What may be drawn.
struct ProblemSpace {
  std::vector<Direction> directions{Direction::Forward, Direction::BackwardData,
                                    Direction::BackwardWeights};
  /// i8 is drawn for forward only.
  std::vector<DataType> types{
      DataType::F16, DataType::BF16,     DataType::F32,
      DataType::I8,  DataType::E4M3FNUZ, DataType::E4M3FN,
      DataType::F64, DataType::E5M2FNUZ, DataType::E5M2};
  bool depth = true;
  bool strided = true;
  bool epilogues = true;
  bool pooling = true; ///< drawAny() draws every fifth problem as a pooling.
  bool rows = false;   ///< drawAny() draws row-wise operations and no others.
  double maxFlops = 60e6;
};

/// Draws problem number `index` of the sequence `seed`, in canonical form.
/// Directions, types and layouts repeat periodically, so that a few dozen
/// consecutive indices cover all their combinations. Everything else is random:
/// groups and depthwise, windows, paddings wider than the filter or different
/// at both ends, filters that do not fit, depth, gaps, epilogues, and whether
/// f32 may be multiplied as tf32.
ConvProblem drawProblem(uint64_t seed, int64_t index,
                        const ProblemSpace &space = {});

/// Draws a pooling in the same way: modes, directions, types and layouts repeat
/// periodically; windows, padding, depth, gaps and indices are random.
PoolProblem drawPool(uint64_t seed, int64_t index);

/// Draws a row-wise operation: operations and their modes repeat periodically;
/// recipe, lengths, reduced dimensions, types, orders, gaps and broadcasts are
/// random.
RowWiseProblem drawRowWise(uint64_t seed, int64_t index);

/// Draws convolutions and, if the space has them, poolings periodically among
/// them.
Problem drawAny(uint64_t seed, int64_t index, const ProblemSpace &space = {});

} // namespace tessera

#endif // TESSERA_TEST_UNIT_EXECUTE_DRAWPROBLEM_H
