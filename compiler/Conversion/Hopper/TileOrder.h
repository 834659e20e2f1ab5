//===- TileOrder.h - Tiles and steps by their numbers ----------*- C++ -*--===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_TILEORDER_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_TILEORDER_H

#include "compiler/Conversion/Hopper/HopperPlan.h"

namespace tessera {

/// Whether a launch may begin with the last tile: where a tensor is so large
/// that L2 does not hold it, unless the knob says otherwise. Fails after an
/// error at the pipeline if the knob asks for what the plan cannot have.
llvm::FailureOr<bool> chooseBothWays(TileProgram &program,
                                     const HopperPlan &plan);

/// The tile of number `tile`; of a pair of tiles, that of the workgroup of
/// `rank`.
ResultTile locateTile(Emitter &e, const HopperPlan &plan, TileProgram &program,
                      mlir::Value tile, mlir::Value rank);

/// The steps that the workgroup of `rank` has of a tile of `group`, and the
/// number of the first in the whole reduction.
mlir::Value countSteps(Emitter &e, const HopperPlan &plan, mlir::Value group,
                       mlir::Value rank);
mlir::Value getFirstStep(Emitter &e, const HopperPlan &plan, mlir::Value group,
                         mlir::Value rank);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_TILEORDER_H
