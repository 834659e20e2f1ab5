//===- CellProgram.h - Programs of narrow groups ---------------*- C++ -*--===//
//
// Waves that share 64 channels of narrow groups, of which cp_async brings
// images to shared memory once for all taps (docs/design/0010-groups.md). What
// a tile program becomes is written by writeCellProgram(); a program, whoever
// wrote it, is read, checked and lowered by lowerCellProgram().
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_WORKGROUP_CELLPROGRAM_H
#define TESSERA_COMPILER_CONVERSION_WORKGROUP_CELLPROGRAM_H

#include "compiler/Conversion/Cooperative/TileProgram.h"
#include "dialect/Workgroup/Workgroup.h"

namespace tessera {

class DeviceOps;

/// Writes the program of a tile program in its place; fails after an error at
/// the op that does not fit.
llvm::LogicalResult writeCellProgram(TileProgram &program,
                                     const DeviceOps &device);

/// Whether the first buffer of a program of waves is of pixels.
bool isCellProgram(wg::ProgramOp program);

/// Replaces `function` by a kernel; fails after an error at the op that is
/// wrong.
llvm::LogicalResult lowerCellProgram(mlir::func::FuncOp function,
                                     wg::ProgramOp program,
                                     const DeviceOps &device);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_WORKGROUP_CELLPROGRAM_H
