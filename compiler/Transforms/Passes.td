//===- Passes.td - Passes from dnn to dnn ------------------*- tablegen -*-===//

#ifndef TESSERA_COMPILER_TRANSFORMS_PASSES_TD
#define TESSERA_COMPILER_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileConv : Pass<"dnn-tile-conv", "::mlir::ModuleOp"> {
  let summary = "Turn each convolution into a tiled implicit GEMM";
  let description = [{
    Replaces `dnn.conv` by a tile program: views of the three tensors through
    GEMM coordinates (m = output pixels, n = output channels of a group, k =
    filter taps x input channels of a group), one output tile a workgroup, and
    a pipeline over k. Sets `dnn.target` on the module.

    Pre-condition:  every `dnn.conv` passes its verifier and is forward.
    Post-condition: no `dnn.conv` is left; every `dnn.kernel` function holds
                    one `dnn.for_each_tile`.

    Example, with `target=gfx942 tile=igemm-m128n128k32-w2x2-b2-mfma32`: see
    test/lit/Transforms/tile-conv.mlir.
  }];
  let options = [
    Option<"target", "target", "std::string", "",
           "Chip, as LLVM's -mcpu spells it">,
    Option<"tile", "tile", "std::string", "",
           "Canonical text of the tile">,
  ];
  let dependentDialects = ["::tessera::dnn::DnnDialect"];
}

#endif // TESSERA_COMPILER_TRANSFORMS_PASSES_TD
