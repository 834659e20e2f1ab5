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
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

void tessera::addLowerToLlvmPasses(OpPassManager &passes,
                                   const GpuTarget &target) {
  ConvertGpuOpsToROCDLOpsOptions options;
  options.chipset = std::string(target.name);
  // Kernel arguments are bare device pointers. Indices of 32 bits keep 64-bit
  // arithmetic out of the kernels; they reach all that a buffer descriptor
  // does.
  options.useBarePtrCallConv = true;
  options.indexBitwidth = 32;
  options.runtime = gpu::amd::Runtime::HIP;

  OpPassManager &kernels = passes.nest<gpu::GPUModuleOp>();
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(createConvertGpuOpsToROCDLOps(options));
  // No canonicalizer and no CSE: LLVM's instcombine and early-cse find the
  // same, and the assembly is equal to the byte without them.
  kernels.addPass(createReconcileUnrealizedCastsPass());
}
