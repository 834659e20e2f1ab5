//===- Passes.td - Passes from dnn to dnn ------------------*- tablegen -*-===//

#ifndef TESSERA_COMPILER_TRANSFORMS_PASSES_TD
#define TESSERA_COMPILER_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ApplyTile : Pass<"dnn-apply-tile", "::mlir::ModuleOp"> {
  let summary = "Replace each primitive by the tiled program of an algorithm";
  let description = [{
    The tile names an algorithm (compiler/Algorithms), which replaces every
    primitive (`dnn.conv`, `dnn.pool`, `dnn.row_wise`) by one or more tile programs
    or point programs. The chip is saved in the module's attribute `dnn.target`.

    Pre-condition:  every primitive passes its verifier.
    Post-condition: no primitive is left; every `dnn.kernel` function holds one
                    tile program or point program.

    Example, with `target=gfx942 tile=igemm-m128n64k32-w2x2-b2-mfma32`:
    ```mlir
    // Before
    func.func @window(%x: memref<2x18x5x64xf16>, %w: memref<96x3x2x64xf16>, %y: memref<2x8x6x96xf16>) attributes {dnn.kernel} {
      dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
          pads [2, 1] strides [2, 1] dilations [3, 1] groups 1
          : memref<2x18x5x64xf16>, memref<96x3x2x64xf16>, memref<2x8x6x96xf16>
      return
    }
    // After
    func.func @window(%arg0: memref<2x18x5x64xf16>, %arg1: memref<96x3x2x64xf16>,
        %arg2: memref<2x8x6x96xf16>) attributes {dnn.kernel} {
      %0 = dnn.view %arg0 <[1], [2, 8, 6], [3, 2, 64] : (d0, d1, d2, d3, d4, d5, d6) -> (d1,
          d2 * 2 + d4 * 3 - 2, d3 + d5 - 1, d0 * 64 + d6)> : memref<2x18x5x64xf16>
          -> <1x96x384xf16>
      %1 = dnn.view %arg1 <[1], [96], [3, 2, 64] : (d0, d1, d2, d3, d4) -> (d0 * 96 + d1, d2, d3,
          d4)> : memref<96x3x2x64xf16> -> <1x96x384xf16>
      %2 = dnn.view %arg2 <[1], [2, 8, 6], [96] : (d0, d1, d2, d3, d4) -> (d1, d2, d3,
          d0 * 96 + d4)> : memref<2x8x6x96xf16> -> <1x96x96xf16>
      dnn.for_each_tile [1, 1, 2] of [128, 64] {
      ^bb0(%arg3: index, %arg4: index, %arg5: index):
        %3 = dnn.pipeline reduce [3, 2,
            64] step 32 buffers 2 copy registers sync barrier schedule pinned load {
        ^bb0(%arg6: index):
          %4 = dnn.tile_load %0[%arg3, %arg4, %arg6] : <1x96x384xf16> -> <128x32xf16>
          %5 = dnn.tile_load %1[%arg3, %arg5, %arg6] : <1x96x384xf16> -> <64x32xf16>
          dnn.yield %4, %5 : !dnn.tile<128x32xf16>, !dnn.tile<64x32xf16>
        } compute {
        ^bb0(%arg6: !dnn.tile<128x32xf16>, %arg7: !dnn.tile<64x32xf16>,
            %arg8: !dnn.tile<128x64xf32>):
          %4 = dnn.tile_mma %arg6, %arg7, %arg8 using "mfma32" waves [2, 2] lanes n
              : <128x32xf16>, <64x32xf16>, <128x64xf32>
          dnn.yield %4 : !dnn.tile<128x64xf32>
        } : <128x64xf32>
        dnn.tile_store %3, %2[%arg3, %arg4, %arg5] : <128x64xf32>, <1x96x96xf16>
      }
      return
    }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "",
           "The chip, as LLVM's -mcpu spells it">,
    Option<"tile", "tile", "std::string", "",
           "The canonical text of the tile">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::tessera::dnn::DnnDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
    "::mlir::math::MathDialect", "::mlir::nvgpu::NVGPUDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

#endif // TESSERA_COMPILER_TRANSFORMS_PASSES_TD
