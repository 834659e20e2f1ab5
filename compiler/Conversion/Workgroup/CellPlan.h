//===- CellPlan.h - A program of narrow groups, found and checked -*- C++ -*-=//

#ifndef TESSERA_COMPILER_CONVERSION_WORKGROUP_CELLPLAN_H
#define TESSERA_COMPILER_CONVERSION_WORKGROUP_CELLPLAN_H

#include "compiler/Conversion/Ampere/CellGradient.h"
#include "compiler/Conversion/Ampere/CellOperands.h"
#include "compiler/Conversion/Ampere/LineRing.h"
#include "dialect/Workgroup/Workgroup.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tessera {

/// What such a program is made of: the factors of forward and backward data, or
/// those of backward weights.
struct CellPlan {
  wg::ProgramOp program;
  TileProgram parts;
  wg::AllocOp bufferM, bufferN;
  wg::AllocOp partial; ///< That sums go through; may be null.
  std::optional<CellOperands> operands;
  CellGradient gradient;
  LineRing ring; ///< Of a circular buffer.

  bool isGradient() const { return !operands; }
  bool isCircular() {
    return bufferM.getType().getLayout() == wg::Layout::Circular;
  }
  const CellTile &getCells() const {
    return operands ? operands->cells : gradient.cells;
  }
  /// Of the rows that a loop of waves has, fragments. Only those of pixels.
  int64_t countFragments();
  /// Of a slot of pixels: bytes to the next one, and those in front of what
  /// `buffer` has in it.
  int64_t getSlotStep();
  int64_t getBegin(wg::AllocOp buffer);
  int64_t getSharedBytes();
};

/// The plan of `program`; fails after an error at the op that this lowering
/// cannot make a kernel of.
llvm::FailureOr<CellPlan> readCellPlan(mlir::func::FuncOp function,
                                       wg::ProgramOp program,
                                       const GpuTarget &target);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_WORKGROUP_CELLPLAN_H
