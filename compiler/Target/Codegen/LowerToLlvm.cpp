//===- LowerToLlvm.cpp - From stage gpu to the llvm dialect ---------------===//
//
// This file defines the order of MLIR's own conversions.
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
  // A canonicalizer and CSE would be redundant: LLVM's instcombine and
  // early-cse do the same, and the assembly is identical without them.
  kernels.addPass(createReconcileUnrealizedCastsPass());
}
