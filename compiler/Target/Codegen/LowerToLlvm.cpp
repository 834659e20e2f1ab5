//===- LowerToLlvm.cpp - From stage gpu to the llvm dialect ---------------===//
//
// Upstream's conversions do the work; here is their order.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/Codegen/Backend.h"
#include "compiler/Target/Codegen/Codegen.h"

#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

void tessera::addLowerToLlvmPasses(OpPassManager &passes,
                                   const GpuTarget &target) {
  OpPassManager &kernels = passes.nest<gpu::GPUModuleOp>();
  kernels.addPass(createSCFToControlFlowPass());
  getBackend(target).addGpuConversion(kernels, target);
  // No canonicalizer and no CSE: LLVM's instcombine and early-cse find the
  // same, and the assembly is equal to the byte without them.
  kernels.addPass(createReconcileUnrealizedCastsPass());
}
