//===- LowerTiles.cpp - Turn tile programs into GPU functions -------------===//
//
// Those that cp_async copies for: narrow groups of channels side by side
// (docs/design/0010-groups.md). What a block of results sees of the image is
// brought to shared memory once; ldmatrix takes each tap from there, and
// mma.sync multiplies nothing of another group. dnn-expand-pipeline has made
// programs of a workgroup of all others.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Ampere/CellKernel.h"
#include "compiler/Conversion/Common/KernelFunction.h"
#include "compiler/Conversion/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tessera {
#define GEN_PASS_DEF_LOWERTILES
#include "compiler/Conversion/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

/// What both kinds have in common: whole blocks of channels, and a store that
/// is theirs.
static LogicalResult checkProgram(TileProgram &program) {
  const bool isF32 = program.loadM.getType().getElementType().isF32();
  const StringRef instruction = program.mma.getInstruction();
  if (isF32 ? instruction != "mma8_tf32" && instruction != kSplitCells
            : instruction != "mma8")
    return program.mma.emitOpError()
           << "names '" << instruction
           << "', but tiles that cp_async copies are multiplied by "
           << (isF32 ? "'mma8_tf32' or 'mma8_bf16x6'" : "'mma8'");
  if (program.store.getAtomic())
    return program.store.emitOpError(
        "adds atomically, but what cp_async copies is stored");
  return success();
}

/// A whole reduction is one of taps, a part of it one of pixels.
static LogicalResult lowerCells(TileProgram &program, const DeviceOps &device) {
  const GpuTarget &target = device.getTarget();
  if (target.matrixUnit != MatrixUnit::MmaSm80)
    return program.pipeline.emitOpError()
           << "has copy cp_async, but " << target.name
           << " copies through registers or directly to LDS";
  if (failed(checkProgram(program)))
    return failure();
  if (program.pipeline.getSplits())
    return lowerCellWeights(program, device);
  if (program.tiles.getRun())
    return lowerCellRuns(program, device);
  return lowerCellImages(program, device);
}

namespace {
struct LowerTiles : tessera::impl::LowerTilesBase<LowerTiles> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    registerDeviceDialects(registry);
  }

  LogicalResult lower(func::FuncOp function, const DeviceOps &device) {
    TileProgram program;
    if (failed(matchTileProgram(function, device.getTarget(), program)))
      return failure();
    if (!program.isAmpere())
      return program.pipeline.emitOpError()
             << "has copy " << stringifyEnum(program.pipeline.getCopy())
             << ", which dnn-expand-pipeline lowers";
    if (failed(lowerCells(program, device)))
      return failure();
    function.erase();
    return success();
  }

  void runOnOperation() override {
    const GpuTarget *target = getModuleTarget(getOperation());
    if (!target)
      return signalPassFailure();
    std::unique_ptr<DeviceOps> device = createDeviceOps(*target);
    gpu::GPUModuleOp kernels = getKernelModule(getOperation());
    for (auto function :
         llvm::make_early_inc_range(kernels.getOps<func::FuncOp>()))
      if (failed(lower(function, *device)))
        return signalPassFailure();
  }
};
} // namespace
