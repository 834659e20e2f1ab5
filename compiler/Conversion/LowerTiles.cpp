//===- LowerTiles.cpp - Turn tile programs into GPU functions -------------===//
//
// Those that cp_async copies for; dnn-expand-pipeline has made programs of a
// workgroup of all others.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Ampere/LowerAmpere.h"
#include "compiler/Conversion/Common/KernelFunction.h"
#include "compiler/Conversion/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
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
    if (failed(lowerAmpere(program, device)))
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
