//===- ChainLaunches.cpp - Launches that begin while another ends ---------===//
//
// A launch costs a microsecond or more between the end of the kernel in front
// and the first instruction of the next. A chip with programmatic dependent
// launches can have the next one's workgroups there before: they wait for the
// kernel in front themselves (docs/design/0017-dependent-launches.md).
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Common/DeviceOps.h"
#include "compiler/Conversion/Common/KernelFunction.h"
#include "compiler/Conversion/Passes.h"
#include "dialect/IR/Dnn.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace tessera {
#define GEN_PASS_DEF_CHAINLAUNCHES
#include "compiler/Conversion/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

/// Shared memory that a multiprocessor takes for itself of each workgroup's,
/// and in what pieces it gives it out (CUDA C++ Programming Guide, compute
/// capability 9.0).
static constexpr int64_t kReserved = 1024, kGranule = 128;

/// Workgroups that a multiprocessor holds at most, by the same guide.
static constexpr int64_t kMostWorkgroups = 32;

/// Bytes that the kernel shares within a workgroup without asking. What a
/// launch asks for lies behind them and is aligned as the buffers of TMA are,
/// so that ptxas counts whole kilobytes.
static int64_t countSharedBytes(gpu::GPUFuncOp kernel) {
  constexpr int64_t kAlignment = 1024;
  int64_t bytes = 0;
  for (BlockArgument buffer : kernel.getWorkgroupAttributions()) {
    auto type = cast<MemRefType>(buffer.getType());
    bytes += llvm::alignTo(
        type.getNumElements() * getByteSize(type.getElementType()), kGranule);
  }
  return llvm::alignTo(bytes, kAlignment);
}

/// The shared memory that each workgroup of a launch must ask for so that no
/// multiprocessor takes more than its share of them: what it needs anyway if
/// that is enough; nothing if they do not all fit.
static std::optional<int64_t> getShareBytes(gpu::GPUFuncOp kernel,
                                            const GpuTarget &target) {
  if (!kernel.getKnownGridSize())
    return std::nullopt;
  const int64_t workgroups = kernel.getKnownGridSize()->front();
  const int64_t threads = kernel.getKnownBlockSize()->front();
  const int64_t share =
      llvm::divideCeilSigned(workgroups, int64_t(target.computeUnits));
  const int64_t mostThreads =
      int64_t(target.maxWavesPerSimd) * target.simdsPerCu * target.waveSize;
  if (share > kMostWorkgroups || share * threads > mostThreads)
    return std::nullopt;
  const int64_t whole = int64_t(target.getMaxSharedBytes()) + kReserved;
  const int64_t fixed = kReserved + countSharedBytes(kernel);
  auto own = kernel->getAttrOfType<IntegerAttr>(dnn::kSharedBytesAttrName);
  if (own && whole / (own.getInt() + fixed) <= share)
    return own.getInt();
  const int64_t bytes = llvm::alignDown(whole / share, kGranule) - fixed;
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

/// Whether the kernel takes something that it loads for constant: what a kernel
/// in front still writes must not be loaded so.
static bool loadsConstants(gpu::GPUFuncOp kernel) {
  return kernel
      .walk([](Operation *op) {
        auto load = dyn_cast<LLVM::LoadOp>(op);
        auto text = dyn_cast<LLVM::InlineAsmOp>(op);
        return (load && load.getInvariant()) ||
                       (text && text.getAsmString().contains("global.nc"))
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether an op concerns only its own workgroup, or is no more than a request
/// to L2: it may run while the kernel in front still writes.
static bool isOwn(Operation *op) {
  return (isPure(op) && !isa<gpu::ReturnOp>(op)) ||
         isa<scf::IfOp, scf::ForOp, scf::YieldOp, NVVM::BarrierOp,
             NVVM::MBarrierInitOp, NVVM::FenceMbarrierInitOp, NVVM::PrefetchOp,
             NVVM::CpAsyncBulkTensorPrefetchOp, NVVM::ClusterArriveRelaxedOp,
             NVVM::ClusterWaitOp, NVVM::ShflOp>(op);
}

/// The first op of the kernel that may need what the kernel in front wrote, or
/// may write what that one reads: behind the preparation of stages.
static Operation *findFirstAccess(gpu::GPUFuncOp kernel) {
  return &*llvm::find_if(kernel.getBody().front(), [](Operation &op) {
    return op
        .walk([](Operation *inner) {
          return isOwn(inner) ? WalkResult::advance() : WalkResult::interrupt();
        })
        .wasInterrupted();
  });
}

static void emit(gpu::GPUFuncOp kernel, Operation *before,
                 NVVM::GridDepActionKind action) {
  OpBuilder b(before);
  NVVM::GriddepcontrolOp::create(b, kernel.getLoc(), action);
}

/// Lets the launch behind `kernel` come early: as soon as the kernel's last
/// workgroup has begun, and behind its own wait, so that what kernels further
/// in front wrote is complete by then.
static void letNextCome(gpu::GPUFuncOp kernel) {
  Block &entry = kernel.getBody().front();
  auto wait = llvm::find_if(entry, llvm::IsaPred<NVVM::GriddepcontrolOp>);
  emit(kernel, wait == entry.end() ? &entry.front() : wait->getNextNode(),
       NVVM::GridDepActionKind::launch_dependents);
}

/// Makes `kernel` wait by itself for the one in front of it. Returns whether
/// its workgroups may come while that one still runs, because no multiprocessor
/// takes more than its share of them.
static bool chain(gpu::GPUFuncOp kernel, const GpuTarget &target) {
  Builder b(kernel.getContext());
  kernel->setAttr(dnn::kDependentAttrName, b.getUnitAttr());
  emit(kernel, findFirstAccess(kernel), NVVM::GridDepActionKind::wait);
  std::optional<int64_t> bytes = getShareBytes(kernel, target);
  if (!bytes)
    return false;
  const bool hasOwn = kernel->hasAttr(dnn::kSharedBytesAttrName);
  kernel->setAttr(dnn::kSharedBytesAttrName, b.getI64IntegerAttr(*bytes));
  return !hasOwn;
}

namespace {
struct ChainLaunches : tessera::impl::ChainLaunchesBase<ChainLaunches> {
  using Base::Base;

  void runOnOperation() override {
    const GpuTarget *target = getModuleTarget(getOperation());
    if (!target)
      return signalPassFailure();
    if (!target->hasDependentLaunches)
      return;
    gpu::GPUFuncOp front;
    WalkResult result = getOperation().walk([&](gpu::GPUFuncOp kernel) {
      if (!kernel.isKernel())
        return WalkResult::advance();
      if ((!kernel.getKnownGridSize() &&
           !kernel->hasAttr(dnn::kWorkgroupsAttrName)) ||
          !kernel.getKnownBlockSize()) {
        kernel.emitOpError("needs known_block_size and known_grid_size to "
                           "follow another launch");
        return WalkResult::interrupt();
      }
      const bool isEarly =
          (front || !loadsConstants(kernel)) && chain(kernel, *target);
      if (front && isEarly)
        letNextCome(front);
      front = kernel;
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    // The next call's kernels are unknown here. Where a kernel fills the chip,
    // they would only take the place of workgroups of their own kind.
    if (front && front.getKnownGridSize() &&
        front.getKnownGridSize()->front() < int64_t(target->computeUnits))
      letNextCome(front);
  }
};
} // namespace
