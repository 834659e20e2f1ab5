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
/// multiprocessor takes more than its share of them; nothing if they do not all
/// fit, or if the kernel has its own use for that memory.
static std::optional<int64_t> getShareBytes(gpu::GPUFuncOp kernel,
                                            const GpuTarget &target) {
  const int64_t workgroups = kernel.getKnownGridSize()->front();
  const int64_t threads = kernel.getKnownBlockSize()->front();
  const int64_t share =
      llvm::divideCeilSigned(workgroups, int64_t(target.computeUnits));
  const int64_t mostThreads =
      int64_t(target.maxWavesPerSimd) * target.simdsPerCu * target.waveSize;
  if (kernel->hasAttr(dnn::kSharedBytesAttrName) || share > kMostWorkgroups ||
      share * threads > mostThreads)
    return std::nullopt;
  const int64_t whole = int64_t(target.getMaxSharedBytes()) + kReserved;
  const int64_t bytes = llvm::alignDown(whole / share, kGranule) - kReserved -
                        countSharedBytes(kernel);
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

static void emitAtBegin(gpu::GPUFuncOp kernel, NVVM::GridDepActionKind action) {
  Block &entry = kernel.getBody().front();
  auto first = llvm::find_if_not(entry, llvm::IsaPred<NVVM::GriddepcontrolOp>);
  OpBuilder b(&entry, first);
  NVVM::GriddepcontrolOp::create(b, kernel.getLoc(), action);
}

/// Makes `kernel` wait by itself for the one in front of it.
static void chain(gpu::GPUFuncOp front, gpu::GPUFuncOp kernel,
                  const GpuTarget &target) {
  Builder b(kernel.getContext());
  kernel->setAttr(dnn::kDependentAttrName, b.getUnitAttr());
  emitAtBegin(kernel, NVVM::GridDepActionKind::wait);
  std::optional<int64_t> bytes = getShareBytes(kernel, target);
  if (!bytes)
    return;
  kernel->setAttr(dnn::kSharedBytesAttrName, b.getI64IntegerAttr(*bytes));
  emitAtBegin(front, NVVM::GridDepActionKind::launch_dependents);
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
      if (!kernel.getKnownGridSize() || !kernel.getKnownBlockSize()) {
        kernel.emitOpError("needs known_block_size and known_grid_size to "
                           "follow another launch");
        return WalkResult::interrupt();
      }
      if (front)
        chain(front, kernel, *target);
      front = kernel;
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
