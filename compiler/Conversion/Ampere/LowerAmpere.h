//===- LowerAmpere.h - Tile programs with copy cp_async --------*- C++ -*--===//
//
// Narrow groups of channels side by side (docs/design/0010-groups.md). What a
// block of results sees of the image is brought to shared memory once; ldmatrix
// takes each tap from there, and mma.sync multiplies nothing of another group.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_AMPERE_LOWERAMPERE_H
#define TESSERA_COMPILER_CONVERSION_AMPERE_LOWERAMPERE_H

#include "compiler/Conversion/Common/DeviceOps.h"
#include "compiler/Conversion/Cooperative/TileProgram.h"

namespace tessera {

/// Makes the kernel of `program`, whose pipeline copies by cp_async, before its
/// function: with rows of pixels and a filter, or with rows of channels and
/// columns of taps, of which pixels are the reduction. Fails after an error at
/// the op that does not fit.
mlir::LogicalResult lowerAmpere(TileProgram &program, const DeviceOps &device);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_AMPERE_LOWERAMPERE_H
