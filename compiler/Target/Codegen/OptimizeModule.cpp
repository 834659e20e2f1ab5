//===- OptimizeModule.cpp - LLVM's passes before code generation ----------===//
//
// The default O3 pipeline takes 15 to 20 ms a kernel, most of it for code that
// the lowering never generates: calls, globals, memory that could be registers,
// loops to vectorize. This file runs only those passes without which a kernel
// is measurably worse; test/lit/Target/optimize-loop.mlir checks their effect.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/Codegen/Backend.h"
#include "compiler/Target/Codegen/Codegen.h"
#include "compiler/Target/Codegen/LlvmDiagnostics.h"

#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

using namespace tessera;

// The reasons of the passes and of their order:
// - mem2reg gives registers to what a lowering keeps across its loops.
// - early-cse and instcombine remove the constants and address arithmetic that
//   the lowering repeats for every access.
// - div-rem-pairs turns x % c into x - x / c * c if the quotient exists. It
// must
//   run before licm, which would separate the two. (Default O3 runs it too
//   late: kernels that divide in the loop keep 5 to 15 % more instructions.)
// - loop-rotate moves the test of an scf.for loop from its head to its end,
// which
//   gives licm a preheader that only runs if the loop does.
// - licm leaves no vector arithmetic that is invariant in the main loop.
// - instcombine and simplifycfg clean up after these two, including empty
//   blocks.
// - infer-alignment makes 16-byte LDS accesses of f32 rows one instruction,
// which
//   would otherwise be two ds_read2_b32.
// - The vendor's backend adds passes at the end (Backend.h).
// Left out are indvars and unrolling, because they merge the loop over
// channels into the one over taps and put address arithmetic into it.
static constexpr const char *kPasses =
    "function(mem2reg,early-cse,instcombine<max-iterations=1;no-verify-"
    "fixpoint>,"
    "div-rem-pairs,loop-mssa(loop-rotate,licm),"
    "instcombine<max-iterations=1;no-verify-fixpoint>,simplifycfg,"
    "infer-alignment)";

Status tessera::optimizeModule(llvm::Module &module,
                               llvm::TargetMachine &machine,
                               const GpuTarget &target) {
  LlvmDiagnostics diagnostics(module.getContext());
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  llvm::ModulePassManager passes;
  for (llvm::StringRef pipeline : {kPasses, getBackend(target).lastPasses}) {
    if (pipeline.empty())
      continue;
    if (llvm::Error error = builder.parsePassPipeline(passes, pipeline))
      return internalError(llvm::toString(std::move(error)));
  }
  passes.run(module, modules);
  return diagnostics.getStatus();
}
