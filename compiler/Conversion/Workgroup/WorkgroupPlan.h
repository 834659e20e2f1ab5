//===- WorkgroupPlan.h - A program of a workgroup, found -------*- C++ -*--===//
//
// What today's emitters need to know of a program before they write it: its
// ops, the tensor maps behind them, and the shape that they agree on.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_WORKGROUP_WORKGROUPPLAN_H
#define TESSERA_COMPILER_CONVERSION_WORKGROUP_WORKGROUPPLAN_H

#include "compiler/Conversion/Hopper/HopperShape.h"
#include "compiler/Conversion/Hopper/TmaOperand.h"
#include "compiler/Conversion/Hopper/TmaStore.h"
#include "dialect/Workgroup/Workgroup.h"

#include <memory>

namespace tessera {

struct WorkgroupPlan {
  mlir::func::FuncOp function;
  wg::ProgramOp program;
  llvm::SmallVector<wg::StagesOp> rings;
  llvm::SmallVector<wg::RoleOp> roles;
  wg::RoleOp consumer;   ///< The role whose warpgroups have the sums.
  wg::MmaOp mma;         ///< One of those that issue products; or null, and
  wg::MmaSumsOp mmaSums; ///< the one that issues those into tensor memory.
  wg::AccType sums;      ///< Of a warpgroup.
  wg::SliceOp ownRows;   ///< Of A, which a consumer has in all steps; or null.
  wg::ResultOp result;
  wg::StoreOp store;
  wg::SendOp send; ///< If a cluster adds.
  wg::BoxOp boxA, boxB;
  std::unique_ptr<TmaOperand> a, b;
  std::optional<ResultMap> map; ///< Of the result, if it leaves by TMA.
  HopperShape shape;
  /// Whether each tile of a warp is a part of the statistics, if there are any.
  bool hasPartOfTile = false;

  /// An op that issues products.
  mlir::Operation *getProduct() {
    return mmaSums ? mmaSums.getOperation() : mma.getOperation();
  }
  /// The slots of the operands.
  mlir::Value getA() { return mmaSums ? mmaSums.getA() : mma.getA(); }
  mlir::Value getB() { return mmaSums ? mmaSums.getB() : mma.getB(); }
  mlir::Value getBufferA() { return wg::getWhole(getA()); }
  mlir::Value getBufferB() { return wg::getWhole(getB()); }
  /// The rows of A, or of B, that slide; null if they do not.
  wg::SlideOp getSlideA() { return getA().getDefiningOp<wg::SlideOp>(); }
  wg::SlideOp getSlideB() { return getB().getDefiningOp<wg::SlideOp>(); }
  /// Whether A goes through registers, and operands are split into terms.
  bool hasFragments() { return mlir::isa<wg::FragmentType>(getA().getType()); }
  bool splits() {
    return mlir::cast<wg::BufferType>(getB().getType()).getIsSplit();
  }
  /// The number of some stages.
  size_t getRing(mlir::Value stages) const {
    return llvm::find(rings, stages.getDefiningOp()) - rings.begin();
  }
  const TmaOperand &getOperand(wg::BoxOp box) const {
    return box == boxA ? *a : *b;
  }
  /// In the order of the kernel's arguments.
  llvm::SmallVector<TensorMap> getMaps() const {
    llvm::SmallVector<TensorMap> maps = {a->getMap(), b->getMap()};
    if (map)
      maps.push_back(map->map);
    return maps;
  }
};

/// The slice outside of all loops behind the A of a product in shared memory;
/// null if there is none.
wg::SliceOp findOwnRows(wg::MmaOp mma);

/// Finds the ops of `plan.program`; fails after an error at one that it cannot
/// have, or that has no role here, or at the program if one is missing.
llvm::LogicalResult findOps(WorkgroupPlan &plan);

/// The plan of `program`; fails after an error at the op that this lowering
/// cannot make a kernel of.
llvm::FailureOr<WorkgroupPlan> readWorkgroupPlan(mlir::func::FuncOp function,
                                                 wg::ProgramOp program,
                                                 const GpuTarget &target);

/// Fails after an error at the op where a role reads a stage before it is full,
/// fills it before it is empty, or arrives more or less often than the ring
/// counts (docs/design/0035-workgroup-level.md).
llvm::LogicalResult checkStages(WorkgroupPlan &plan);

/// Fails after an error at stages that wait for other numbers of arrivals than
/// there are, or at a role that goes through more or fewer stages than the
/// others do, and so would wait forever. Follows the first workgroup.
llvm::LogicalResult checkStageCounts(WorkgroupPlan &plan);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_WORKGROUP_WORKGROUPPLAN_H
