// What is decided for a pipeline is written into it; everything else stays.
// RUN: dnn-opt %s --dnn-plan-kernel | FileCheck %s
// CHECK: dnn.pipeline reduce [64] step 32 buffers 2 copy registers sync barrier schedule pinned knobs(order n, store staged, fetch lines) load
module attributes {dnn.target = "gfx942"} {
// EXAMPLE: dnn-plan-kernel
func.func @add(%x: memref<64x64xf16>, %w: memref<64x64xf16>, %y: memref<64x64xf16>) attributes {dnn.kernel} {
  %a = dnn.view %x <[1], [64], [64] : (g, m, k) -> (m, k)> : memref<64x64xf16> -> <1x64x64xf16>
  %b = dnn.view %w <[1], [64], [64] : (g, n, k) -> (n, k)> : memref<64x64xf16> -> <1x64x64xf16>
  %d = dnn.view %y <[1], [64], [64] : (g, m, n) -> (m, n)> : memref<64x64xf16> -> <1x64x64xf16>
  dnn.for_each_tile [1, 1, 1] of [64, 64] {
  ^bb0(%g: index, %m: index, %n: index):
    %acc = dnn.pipeline reduce [64] step 32 buffers 2 copy registers
        sync barrier schedule pinned load {
    ^bb0(%k: index):
      %at = dnn.tile_load %a[%g, %m, %k] : <1x64x64xf16> -> <64x32xf16>
      %bt = dnn.tile_load %b[%g, %n, %k] : <1x64x64xf16> -> <64x32xf16>
      dnn.yield %at, %bt : !dnn.tile<64x32xf16>, !dnn.tile<64x32xf16>
    } compute {
    ^bb0(%at: !dnn.tile<64x32xf16>, %bt: !dnn.tile<64x32xf16>, %in: !dnn.tile<64x64xf32>):
      %out = dnn.tile_mma %at, %bt, %in using "mfma32" waves [2, 2] lanes n
           : <64x32xf16>, <64x32xf16>, <64x64xf32>
      dnn.yield %out : !dnn.tile<64x64xf32>
    } : <64x64xf32>
    dnn.tile_store %acc, %d[%g, %m, %n] : <64x64xf32>, <1x64x64xf16>
  }
  return
}
// EXAMPLE-AFTER: dnn.pipeline
// EXAMPLE-END
}
