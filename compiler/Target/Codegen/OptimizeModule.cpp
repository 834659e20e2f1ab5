//===- OptimizeModule.cpp - LLVM's passes before code generation ----------===//
//
// The default O3 pipeline costs 15 to 20 ms a kernel, most of it for code that
// the lowering never makes: calls, globals, memory that could be registers,
// loops to vectorise. The passes here are those without which a kernel is
// measurably worse; test/lit/Target/optimize-loop.mlir keeps watch.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/Codegen/Backend.h"
#include "compiler/Target/Codegen/Codegen.h"
#include "compiler/Target/Codegen/LlvmDiagnostics.h"

#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

using namespace tessera;

// Why each, and in this order:
// - early-cse, instcombine: the lowering repeats constants and address
//   arithmetic for every access; later passes see it only once.
// - div-rem-pairs: x % c becomes x - x / c * c of the quotient beside it. Must
//   run before licm, which would take the two apart. (Default O3 has it too
//   late: kernels that divide in the loop keep 5 to 15 % more instructions.)
// - loop-rotate: scf.for comes as a loop that tests at its head; only a tested
//   loop has a place for licm to move things to.
// - licm: leaves no vector arithmetic in the loop.
// - instcombine, simplifycfg: what the two before uncovered; empty blocks.
// - infer-alignment: 16-byte LDS accesses of f32 rows; without it two
//   ds_read2_b32 each.
// - what the vendor's backend adds (Backend.h).
// No indvars and no unrolling: they merge the loop over channels into the one
// over taps and put address arithmetic into it.
static constexpr const char *kPasses =
    "function(early-cse,instcombine<max-iterations=1;no-verify-fixpoint>,"
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
