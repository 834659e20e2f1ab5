//===- WorkgroupLowering.h - A program's threads ---------------*- C++ -*--===//
//
// Loops and arithmetic stay as they are. A role's place in a ring of stages
// becomes two values, a stage and a parity, which loops carry; the other ops
// are calls of the emitters of compiler/Conversion/Hopper.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_WORKGROUP_WORKGROUPLOWERING_H
#define TESSERA_COMPILER_CONVERSION_WORKGROUP_WORKGROUPLOWERING_H

#include "compiler/Conversion/Common/SizeArguments.h"
#include "compiler/Conversion/Hopper/ClusterSum.h"
#include "compiler/Conversion/Hopper/PixelOperands.h"
#include "compiler/Conversion/Hopper/SumStore.h"
#include "compiler/Conversion/Hopper/TmaKernel.h"
#include "compiler/Conversion/Hopper/TmaRing.h"
#include "compiler/Conversion/Hopper/Wgmma.h"
#include "compiler/Conversion/Workgroup/ProgramLowering.h"
#include "compiler/Conversion/Workgroup/TensorMemory.h"
#include "compiler/Conversion/Workgroup/WorkgroupPlan.h"

namespace tessera {

/// Writes the kernel of a program.
class WorkgroupLowering : ProgramLowering {
public:
  WorkgroupLowering(WorkgroupPlan &plan, const TmaKernel &kernel,
                    mlir::OpBuilder &b, const DeviceOps &device);
  llvm::LogicalResult emit();

private:
  /// A role's place in a ring.
  struct Place {
    RingPlace at;
    mlir::Value previous; ///< The stage before it; null if that is not known.
    /// Of stages that slide `previous` is the oldest that is not released, so
    /// many in front of this one; null if there is none.
    int64_t held = 0;
  };

  llvm::LogicalResult emitCopiers();
  llvm::LogicalResult emitConsumer();
  llvm::LogicalResult emitFirst();
  bool readsFilterOnce() const;
  llvm::LogicalResult emitEarlyReads();
  void askForCopy(wg::CopyOp copy);
  void askForChannels(dnn::ViewOp extra);
  llvm::LogicalResult emitRoles(mlir::Value group);
  llvm::LogicalResult emitRole(wg::RoleOp role, mlir::Value number);
  void prepareConsumer(mlir::Value firstRow);
  void prepareStatistics(dnn::ViewOp result);
  using ProgramLowering::lower;
  Emitter &getEmitter() override { return e; }
  llvm::LogicalResult lower(mlir::Operation *op) override;
  void forget(mlir::scf::ForOp loop) override;
  llvm::FailureOr<llvm::SmallVector<mlir::Value *>>
  findCarried(mlir::scf::ForOp loop);
  llvm::LogicalResult lowerBranch(mlir::scf::IfOp branch);
  llvm::LogicalResult lowerRing(mlir::Operation *op, size_t number);
  void release(size_t number, mlir::Value stage);
  void lowerPassingBy(mlir::scf::IfOp branch);
  llvm::LogicalResult lowerProduct(wg::MmaOp mma);
  void lowerSums(wg::MmaSumsOp mma);
  void lowerLoad(wg::LoadSumsOp load);
  void acquireStage(wg::AcquireOp acquire, size_t number);
  void releaseOldest(size_t number);
  void goOn(size_t number, mlir::Value steps);
  mlir::Value locateOldest(wg::SlideOp slide);
  mlir::Value locateShare(wg::SlideOp slide, int64_t block, int64_t k);
  Wgmma::Place locateOperands(wg::MmaOp mma);
  void lowerSlice(wg::SliceOp slice);
  void lowerCopy(wg::CopyOp copy);
  void lowerPrepare(wg::PrepareOp prepare);
  void emitReady(mlir::Value ready);
  void lowerLoad(wg::LoadOp load);
  void lowerAdd(wg::AddOp add);
  llvm::LogicalResult lowerResult(mlir::Operation *op);
  llvm::LogicalResult lowerCluster(mlir::Operation *op);

  llvm::SmallVector<mlir::Type> getTypes(mlir::TypeRange types);
  void mapResults(mlir::ValueRange results, mlir::ValueRange targets);
  /// The current stage of a role in those of `buffer`.
  mlir::Value getStage(mlir::Value buffer) {
    return places[plan.getRing(wg::findStages(buffer))].at.stage;
  }
  /// Where slot `stage` of `buffer` is.
  mlir::Value getSlot(mlir::Value buffer, mlir::Value stage) {
    return addBytes(
        e, shared.pointer,
        buffer == plan.getBufferA()
            ? e.mul(stage, shape.getBytesA())
            : e.add(e.mul(stage, shape.getBytesB()), shape.getOffsetB()));
  }
  mlir::Value getLane() { return e.andi(thread, 31); }
  /// The number of the warp in its warpgroup.
  mlir::Value getGroupWarp() { return e.andi(warp, kWarpgroup / 32 - 1); }
  /// The first row of the rows `buffer`, behind the consumer's own.
  mlir::Value getRow(mlir::Value buffer) {
    return buffer.getDefiningOp<wg::SliceOp>() ? get(buffer) : e.constant(0);
  }

  SizeArguments sizes;
  Emitter e;
  WorkgroupPlan &plan;
  const HopperShape &shape;
  const HopperShape stored;
  mlir::gpu::GPUFuncOp kernel;
  const mlir::IRMapping &arguments;
  SharedBase shared;
  llvm::SmallVector<TmaRing> rings;
  mlir::Value workgroup, thread, warp, rank;
  mlir::Value consumer;            ///< The warpgroup's number in its role.
  llvm::SmallVector<Place> places; ///< In each of the rings.
  /// Of what has been split.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<llvm::SmallVector<SplitPair>>>
      terms;
  std::optional<Wgmma> wgmma;
  std::optional<SumStore> store;
  std::optional<ClusterSum> cluster;
  std::optional<TensorMemory> tensorMemory;
  bool issuesSums = false; ///< Whether the role does.
  bool onlyAsks = false;   ///< Whether copies are requests (EarlyReads.cpp).
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_WORKGROUP_WORKGROUPLOWERING_H
