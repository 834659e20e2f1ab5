//===- Passes.td - Passes of the pipeline itself -----------*- tablegen -*-===//

#ifndef TESSERA_COMPILER_PIPELINE_PASSES_TD
#define TESSERA_COMPILER_PIPELINE_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyStage : Pass<"dnn-verify-stage", "::mlir::ModuleOp"> {
  let summary = "Check that a module is at the stage it should be at";
  let description = [{
    Ends every stage whose text is MLIR, and checks what is fed back in. A pass
    that silently leaves something undone is thus found where it happened, not
    three stages later. Changes nothing.

    | stage   | dialects besides builtin                                    |
    |---------|-------------------------------------------------------------|
    | `dnn`   | dnn (primitives alone), func; in an epilogue arith, math    |
    | `tiled` | dnn without primitives, func, arith, math, memref, nvgpu, scf, vector; `gpu.barrier`, `gpu.shuffle` |
    | `gpu`   | gpu, amdgpu, rocdl, nvvm, arith, math, memref, scf, vector, llvm |

    Stages `tiled` and `gpu` name their chip in `dnn.target`; a kernel of stage
    `gpu` says how it is launched in `known_block_size` and `known_grid_size`.

    Pre-condition:  none.
    Post-condition: the module is as the table says.

    Example, with `stage=gpu`: see test/lit/Pipeline/verify-stage.mlir.
  }];
  let options = [
    Option<"stage", "stage", "std::string", "",
           "dnn, tiled or gpu">,
  ];
}

#endif // TESSERA_COMPILER_PIPELINE_PASSES_TD
