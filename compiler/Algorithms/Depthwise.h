//===- Depthwise.h - Convolutions of few channels a group ------*- C++ -*-===//

#ifndef TESSERA_COMPILER_ALGORITHMS_DEPTHWISE_H
#define TESSERA_COMPILER_ALGORITHMS_DEPTHWISE_H

#include "compiler/Algorithms/ConvProgram.h"
#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/TileConfig.h"

namespace tessera {

/// "depthwise-g8p2q4t256s1", or "depthwise-g8p2q4t256s1n7". Plain data.
struct DepthwiseTile {
  int64_t groups = 1;  ///< Neighbouring groups of a thread.
  int64_t rows = 1;    ///< Result rows of a thread,
  int64_t columns = 1; ///< and columns.
  int64_t threads = 256;
  int64_t parts = 1; ///< Backward weights: parts of the sums.
  int64_t turns = 1; ///< The others: blocks of rows that a thread walks.

  TileConfig toConfig() const;
};

/// Reads what DepthwiseTile::toConfig() writes.
ErrorOr<DepthwiseTile> parseDepthwiseTile(const TileConfig &config);

/// The filter's elements for a thread's groups: they lie together.
class GroupFilter {
public:
  /// Loads them from the groups [first, first + count).
  GroupFilter(PointBuilder &p, const ConvProgram &program,
              mlir::Value flatFilter, mlir::Value first, int64_t count);

  /// Which of them belongs to output channel `output`, counted from the first
  /// group's first; input channel `input` of its group; row, column.
  mlir::Value get(int64_t output, int64_t input, int64_t row,
                  int64_t column) const;

private:
  PointBuilder::Values elements;
  bool channelsFirst;
  int64_t inputs, rows, columns;
};

/// Replace the convolution by its program.
void buildDepthwiseData(const ConvProgram &program, const DepthwiseTile &tile);
void buildDepthwiseWeights(const ConvProgram &program,
                           const DepthwiseTile &tile);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_DEPTHWISE_H
