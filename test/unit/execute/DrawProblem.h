//===- DrawProblem.h - Draws valid problems --------------------*- C++ -*-===//
//
// For tests that execute what they draw: small enough for the emulated device,
// and the same for a seed on every machine.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_EXECUTE_DRAWPROBLEM_H
#define TESSERA_TEST_UNIT_EXECUTE_DRAWPROBLEM_H

#include "runtime/Base/Problem.h"

#include <vector>

namespace tessera {

/// What a draw may use; everything unless said otherwise.
struct ProblemSpace {
  std::vector<Direction> directions{Direction::Forward, Direction::BackwardData,
                                    Direction::BackwardWeights};
  /// i8 is drawn for forward only.
  std::vector<DataType> types{DataType::F16, DataType::BF16, DataType::F32,
                              DataType::I8, DataType::F64};
  bool depth = true;
  bool strided = true;
  bool epilogues = true;
  bool pooling = true; ///< For drawAny(): every fifth problem.
  bool rows = false;   ///< For drawAny(): operations on rows, and no others.
  double maxFlops = 60e6;
};

/// Problem number `index` of the sequence `seed`, in canonical form. The
/// indices go round the directions, the types and the layouts, so that a few
/// dozen neighbours have met each combination; everything else is random:
/// groups and depthwise, windows, paddings that a filter does not reach across,
/// filters that do not fit, depth, gaps, epilogues, whether f32 may be tf32.
ConvProblem drawProblem(uint64_t seed, int64_t index,
                        const ProblemSpace &space = {});

/// The same for poolings: modes, directions, types and layouts in turn;
/// windows, padding, depth, gaps and indices at random.
PoolProblem drawPool(uint64_t seed, int64_t index);

/// Operations on rows, and the modes of each, in turn; recipe, space, reduced
/// dimensions, types, orders, gaps and broadcasts at random.
RowProblem drawRows(uint64_t seed, int64_t index);

/// Convolutions and, where the space has them, poolings in turn.
Problem drawAny(uint64_t seed, int64_t index, const ProblemSpace &space = {});

} // namespace tessera

#endif // TESSERA_TEST_UNIT_EXECUTE_DRAWPROBLEM_H
