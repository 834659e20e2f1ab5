//===- Passes.td - Passes that check the pipeline ----------*- tablegen -*-===//

#ifndef TESSERA_COMPILER_PIPELINE_PASSES_TD
#define TESSERA_COMPILER_PIPELINE_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyStage : Pass<"dnn-verify-stage", "::mlir::ModuleOp"> {
  let summary = "Check that a module is at the expected stage";
  let description = [{
    This pass ends every stage whose text is MLIR, and checks text from which a
    compilation starts. If a pass silently leaves an op unconverted, the error
    is reported at its stage and not several stages later. The module is not
    changed. The following dialects are allowed:

    | stage   | dialects besides builtin                                    |
    |---------|-------------------------------------------------------------|
    | `dnn`   | dnn (primitives only), func; in the regions of primitives arith, math; `arith.truncf` |
    | `tiled` | dnn without primitives, func, arith, math, memref, amdgpu, nvgpu, scf, vector; `gpu.barrier`, `gpu.shuffle` |
    | `workgroup` | as `tiled`, and wg |
    | `gpu`   | gpu, amdgpu, rocdl, nvvm, arith, math, memref, scf, vector, llvm |

    From stage `tiled` on, the module names its chip in the attribute
    `dnn.target`. A kernel of stage `gpu` has the attributes `known_block_size`
    and `known_grid_size`, from which its launch is read. One with the attribute
    `dnn.simplified`, which is not rewritten before it is converted, has no
    op that is unused.

    Pre-condition:  none.
    Post-condition: the module has only ops that its stage allows, and the
                    attributes above.

    Example, with `stage=gpu`: see test/lit/Pipeline/verify-stage.mlir.
  }];
  let options = [
    Option<"stage", "stage", "std::string", "",
           "The expected stage: dnn, tiled, workgroup or gpu">,
  ];
}

#endif // TESSERA_COMPILER_PIPELINE_PASSES_TD
