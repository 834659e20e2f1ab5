//===- Passes.td - Passes from dnn to dnn ------------------*- tablegen -*-===//

#ifndef TESSERA_COMPILER_TRANSFORMS_PASSES_TD
#define TESSERA_COMPILER_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ApplyTile : Pass<"dnn-apply-tile", "::mlir::ModuleOp"> {
  let summary = "Turn each primitive into the tiled program of its algorithm";
  let description = [{
    Hands every primitive (`dnn.conv`, ...) to the algorithm that the tile
    names (compiler/Algorithms), which replaces it by a tiled program. Sets
    `dnn.target` on the module.

    Pre-condition:  every primitive passes its verifier.
    Post-condition: no primitive is left; every `dnn.kernel` function holds one
                    tiled program.

    Example, with `target=gfx942 tile=igemm-m128n128k32-w2x2-b2-mfma32`: see
    test/lit/Transforms/apply-tile.mlir.
  }];
  let options = [
    Option<"target", "target", "std::string", "",
           "Chip, as LLVM's -mcpu spells it">,
    Option<"tile", "tile", "std::string", "",
           "Canonical text of the tile">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::tessera::dnn::DnnDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
    "::mlir::math::MathDialect", "::mlir::nvgpu::NVGPUDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

#endif // TESSERA_COMPILER_TRANSFORMS_PASSES_TD
