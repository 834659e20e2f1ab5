// RUN: dnn-opt %s --dnn-lower-tiles | FileCheck %s

// The epilogue region runs on a whole accumulator at once, before rounding.
// CHECK-LABEL: gpu.func @relu
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK: %[[RELU:.*]] = arith.maximumf %{{.*}}, %[[ZERO]] : vector<16xf32>
// CHECK: arith.truncf %[[RELU]] : vector<16xf32> to vector<16xf16>
module attributes {dnn.target = "gfx942"} {
  func.func @relu(%x: memref<64x64xf16>, %w: memref<64x64xf16>, %y: memref<64x64xf16>) attributes {dnn.kernel} {
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
      dnn.tile_store %acc, %d[%g, %m, %n] epilogue {
      ^bb0(%v: f32):
        %zero = arith.constant 0.0 : f32
        %relu = arith.maximumf %v, %zero : f32
        dnn.yield %relu : f32
      } : <64x64xf32>, <1x64x64xf16>
    }
    return
  }
}
