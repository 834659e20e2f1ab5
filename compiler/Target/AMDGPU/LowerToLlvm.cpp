//===- LowerToLlvm.cpp - From stage gpu to the llvm dialect ---------------===//
//
// Upstream's conversions do the work; here is their order and their options.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/AMDGPU/AmdgpuTarget.h"

#include "mlir/Conversion/GPUToROCDL/GPUToROCDLPass.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void tessera::addLowerToLlvmPasses(OpPassManager &passes,
                                   const GpuTarget &target) {
  ConvertGpuOpsToROCDLOpsOptions options;
  options.chipset = std::string(target.name);
  // Kernel arguments are bare device pointers, and no tensor that a kernel
  // addresses through an index is larger than 4 GiB: 32-bit addresses keep
  // 64-bit arithmetic out of the kernels.
  options.useBarePtrCallConv = true;
  options.indexBitwidth = 32;
  options.runtime = gpu::amd::Runtime::HIP;

  OpPassManager &kernels = passes.nest<gpu::GPUModuleOp>();
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(createConvertGpuOpsToROCDLOps(options));
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createReconcileUnrealizedCastsPass());
}
