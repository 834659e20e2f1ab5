//===- ResultStatistics.h - Statistics of what a warp stages ---*- C++ -*--===//
//
// Differences from the first of a warp's 16 rows are summed up, and the squares
// of them; what is left of these is no less than a sixteenth, whatever the
// data. Chan's formula adds the 16 rows to those before.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_RESULTSTATISTICS_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_RESULTSTATISTICS_H

#include "compiler/Conversion/Hopper/StagedPartials.h"

namespace tessera {

class ResultStatistics final : public StagedPartials {
public:
  ResultStatistics(Emitter &e, const HopperShape &shape, dnn::ViewOp result,
                   const PartialsMemory &memory, const Thread &thread);

  void beginRows(int64_t rowPiece) override;
  void add(mlir::Value buffer, int64_t columnPiece) override;

private:
  /// The sums of rows of a piece, which are `count`.
  struct Rows {
    mlir::Value mask;    ///< A bit for each that is a result; null if all are.
    mlir::Value first;   ///< The first of them.
    mlir::Value count;   ///< How many, f32.
    mlir::Value inverse; ///< One over `count`, or 1.
    mlir::Value share;   ///< Of all so far.
    mlir::Value between; ///< Count of those before times `share`.
  };

  void addRows(mlir::Value buffer, int64_t columnPiece, bool isMasked);
  void merge(const Numbers &to, mlir::Value pivot, mlir::Value sum,
             mlir::Value squares, bool isMasked);

  Rows rows;
  /// A variable: rows so far. Of a column it is followed by the mean and the
  /// sum of squared differences.
  mlir::Value count;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_RESULTSTATISTICS_H
