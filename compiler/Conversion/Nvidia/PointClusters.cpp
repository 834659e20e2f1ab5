//===- PointClusters.cpp - Clusters of point programs ---------------------===//

#include "compiler/Conversion/Nvidia/PointClusters.h"
#include "compiler/Conversion/Common/DeviceOps.h"
#include "compiler/Conversion/Common/LdsPointer.h"
#include "dialect/IR/PointClusters.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tessera;

/// What every chip with clusters can have.
static constexpr int64_t kMostWorkgroups = 8;

FailureOr<int64_t> tessera::findCluster(dnn::ForEachPointOp points,
                                        const GpuTarget &target,
                                        int64_t workgroups) {
  auto attr = points->getAttrOfType<IntegerAttr>(dnn::kClusterAttrName);
  const int64_t cluster = attr ? attr.getInt() : 1;
  if (attr && !target.hasTma)
    return points.emitOpError("needs a chip with clusters, as sm_90");
  if (cluster < 1 || cluster > kMostWorkgroups ||
      (attr && (!points.hasKnownSizes() || workgroups % cluster != 0)))
    return points.emitOpError() << "needs clusters of up to " << kMostWorkgroups
                                << " workgroups that divide all of them";
  WalkResult result = points.walk([&](Operation *op) {
    if (op == points || !op->hasAttr(dnn::kClusterAttrName) ||
        (attr && isa<gpu::BarrierOp, vector::StoreOp>(op)))
      return WalkResult::advance();
    op->emitOpError("is of a cluster, but is no barrier or store of a program "
                    "with clusters");
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  return cluster;
}

/// The byte where the store begins, from the first one of the buffer.
static Value emitOffset(Emitter &e, vector::StoreOp store) {
  auto type = cast<MemRefType>(store.getBase().getType());
  Value offset = e.constant(0);
  for (auto [index, size] : llvm::zip(store.getIndices(), type.getShape())) {
    Value word =
        arith::IndexCastOp::create(e.b, e.loc, e.b.getI32Type(), index);
    offset = e.add(e.mul(offset, size), word);
  }
  return e.mul(offset, getByteSize(type.getElementType()));
}

static void lowerStore(Emitter &e, vector::StoreOp store, int64_t cluster) {
  auto remote = LLVM::LLVMPointerType::get(e.b.getContext(), 7);
  Value place = emitLdsPointer(e, store.getBase(), emitOffset(e, store));
  for (int64_t rank = 0; rank < cluster; ++rank) {
    Value target =
        NVVM::MapaOp::create(e.b, e.loc, remote, place, e.constant(rank));
    LLVM::StoreOp::create(e.b, e.loc, store.getValueToStore(), target,
                          getByteSize(store.getValueToStore().getType()));
  }
  store.erase();
}

void tessera::lowerCluster(Emitter &e, gpu::GPUFuncOp kernel, int64_t cluster) {
  if (cluster == 1)
    return;
  kernel->setAttr(
      NVVM::NVVMDialect::getClusterDimAttrName(),
      e.b.getDenseI32ArrayAttr({static_cast<int32_t>(cluster), 1, 1}));
  OpBuilder::InsertionGuard guard(e.b);
  kernel.walk([&](Operation *op) {
    if (!op->hasAttr(dnn::kClusterAttrName))
      return;
    e.b.setInsertionPoint(op);
    if (auto store = dyn_cast<vector::StoreOp>(op))
      return lowerStore(e, store, cluster);
    // All threads arrive, and see what all have written before.
    NVVM::ClusterArriveOp::create(e.b, e.loc, e.b.getUnitAttr());
    NVVM::ClusterWaitOp::create(e.b, e.loc, e.b.getUnitAttr());
    op->erase();
  });
}
