//===- OneStepProgram.h - One step of a recurrent network ------*- C++ -*--===//
//
// Where a workgroup or a cluster cannot hold the weights, a launch makes one
// step, and workgroups share out the units: none needs what another computes.
// The waves of one share out the reduction, so that all weights of a wave are
// on their way at once, and add up their sums in shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_RECURRENT_ONESTEPPROGRAM_H
#define TESSERA_COMPILER_ALGORITHMS_RECURRENT_ONESTEPPROGRAM_H

#include "compiler/Algorithms/Recurrent/StepProgram.h"

namespace tessera {

/// Writes the program of a tile with splits. Borrows all arguments.
class OneStepProgram : private StepProgram {
public:
  using StepProgram::StepProgram;

  void build();

private:
  /// Neighbours along the reduction of a unit or a sequence, for the wave's
  /// instructions from `first` on that are loaded at once.
  Value loadRow(Value memory, mlir::ArrayRef<Value> at, int64_t first,
                mlir::ArrayRef<int64_t> inside);
  /// The held rows of all blocks, for the instructions from `first` on.
  Values loadWeights(int64_t first);
  /// Those of all tiles.
  Values loadState(int64_t first);
  /// The accumulators of all tiles, each with all blocks.
  std::vector<Values> multiplyTiles();
  /// Those of one tile, with the sums of all waves.
  Values addSplits(mlir::ArrayRef<Values> tiles, Value tile);
  Values pack(mlir::ArrayRef<Value> accumulators);
  Values unpack(mlir::ArrayRef<Value> chunks);

  Value split;
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_RECURRENT_ONESTEPPROGRAM_H
