//===- LowerHopper.h - Tile programs with copy tma -------------*- C++ -*--===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_LOWERHOPPER_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_LOWERHOPPER_H

#include "compiler/Conversion/Common/DeviceOps.h"
#include "compiler/Conversion/Cooperative/TileProgram.h"

namespace tessera {

/// Makes the kernel of `program`, whose pipeline copies by tma, before its
/// function. Fails after an error at the op that does not fit. The kernel takes
/// the tensor maps of its attribute `dnn.tensor_maps`, then the function's
/// scalars.
mlir::LogicalResult lowerHopper(TileProgram &program, const DeviceOps &device);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_LOWERHOPPER_H
