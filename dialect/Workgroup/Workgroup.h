//===- Workgroup.h - The wg dialect, its types and ops ---------*- C++ -*--===//
//
// The header that users of the dialect include.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_WORKGROUP_WORKGROUP_H
#define TESSERA_DIALECT_WORKGROUP_WORKGROUP_H

#include "dialect/IR/Dnn.h"
#include "dialect/Workgroup/Layout.h"

#include "dialect/Workgroup/WorkgroupDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/Workgroup/WorkgroupTypes.h.inc"
#define GET_OP_CLASSES
#include "dialect/Workgroup/WorkgroupOps.h.inc"

namespace tessera::wg {

/// Threads of a warpgroup.
inline constexpr int64_t kWarpgroup = 128;

/// The program of a kernel at stage `workgroup`; null at others.
ProgramOp findProgram(mlir::Operation *function);

/// The buffer of stages that `operand` is rows of, was loaded from, or is
/// itself; and its stages, null if it is of none.
mlir::Value getWhole(mlir::Value operand);
StagesOp findStages(mlir::Value operand);

/// The op that located a box of threads, or that of which it is a tap.
TileOp findTile(mlir::Value box);

} // namespace tessera::wg

#endif // TESSERA_DIALECT_WORKGROUP_WORKGROUP_H
