// RUN: dnn-opt %s --dnn-expand-pipeline --dnn-lower-workgroup --dnn-verify-stage=stage=gpu | FileCheck %s

// A pointwise product of unknown images: pixels are one dimension, of which the
// number of tiles, the number of rows and the bytes of x and y are arguments.
// There is nothing to divide by an unknown size, and no padding to check.
// CHECK-LABEL: gpu.func @pointwise
// CHECK-SAME: i64 {dnn.arg = "size=128.xd0.*"}
// CHECK-SAME: i64 {dnn.arg = "size=xd0"}
// CHECK-NOT: divisor
// CHECK-SAME: dnn.workgroups = "yd0.64.^"
// CHECK-NOT: known_grid_size
// CHECK-NOT: arith.mului_extended
// CHECK: mfma
module attributes {dnn.target = "gfx942"} {
  func.func @pointwise(%x: memref<?x64xf16> {dnn.arg = "x"},
                       %w: memref<64x64xf16> {dnn.arg = "w"},
                       %y: memref<?x64xf16> {dnn.arg = "y"}) attributes {dnn.kernel} {
    %c0 = arith.constant 0 : index
    %nx = memref.dim %x, %c0 : memref<?x64xf16>
    %ny = memref.dim %y, %c0 : memref<?x64xf16>
    %a = dnn.view %x <[1], [?], [64] : (g, n, c) -> (n, c)> sizes(%nx)
       : memref<?x64xf16> -> <1x?x64xf16>
    %b = dnn.view %w <[1], [64], [64] : (g, k, c) -> (k, c)>
       : memref<64x64xf16> -> <1x64x64xf16>
    %d = dnn.view %y <[1], [?], [64] : (g, n, k) -> (n, k)> sizes(%ny)
       : memref<?x64xf16> -> <1x?x64xf16>
    dnn.for_each_tile [1, ?, 1] of [64, 64] {
    ^bb0(%g: index, %m: index, %n: index):
      %acc = dnn.pipeline reduce [64] step 32 buffers 2 copy registers
          sync barrier schedule pinned load {
      ^bb0(%k: index):
        %at = dnn.tile_load %a[%g, %m, %k] : <1x?x64xf16> -> <64x32xf16>
        %bt = dnn.tile_load %b[%g, %n, %k] : <1x64x64xf16> -> <64x32xf16>
        dnn.yield %at, %bt : !dnn.tile<64x32xf16>, !dnn.tile<64x32xf16>
      } compute {
      ^bb0(%at: !dnn.tile<64x32xf16>, %bt: !dnn.tile<64x32xf16>,
           %in: !dnn.tile<64x64xf32>):
        %out = dnn.tile_mma %at, %bt, %in using "mfma32" waves [1, 2] lanes n
             : <64x32xf16>, <64x32xf16>, <64x64xf32>
        dnn.yield %out : !dnn.tile<64x64xf32>
      } : <64x64xf32>
      dnn.tile_store %acc, %d[%g, %m, %n] : <64x64xf32>, <1x?x64xf16>
    }
    return
  }
}
