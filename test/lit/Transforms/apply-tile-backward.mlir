// RUN: dnn-opt %s --dnn-apply-tile="target=gfx942 tile=igemm-m128n64k32-w2x2-b2-mfma32" | FileCheck %s

// Backward data, 3x3, stride 2, padding 1: h = 2 i + rho - 1 with rho of 1 and 2, so
// that the 14 rows are seven times two. r = rho + 2 t, with tap 1 before tap 0,
// because both residue classes have it. A tap that a class does not have is outside
// the filter.
// CHECK-LABEL: func.func @backward_data
// CHECK: dnn.view %arg2 <[1, 2, 1, 2, 1], [8, 7, 7], [2, 2, 64] : (d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10) -> (d5, d6 + d8, d7 + d9, d0 * 64 + d10)>
// CHECK: dnn.view %arg1 <[1, 2, 1, 2, 1], [32], [2, 2, 64] : (d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0 * 64 + d8, d1 - d6 * 2 + 1, d3 - d7 * 2 + 1, d5)>
// CHECK: dnn.view %arg0 <[1, 2, 1, 2, 1], [8, 7, 7], [32] : (d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d5, d6 * 2 + d1, d7 * 2 + d3, d0 * 32 + d8)>
// CHECK: dnn.for_each_tile [4, 4, 1] of [128, 64]
// CHECK: dnn.pipeline reduce [2, 2, 64] step 32
func.func @backward_data(%x: memref<8x14x14x32xf16>, %w: memref<64x3x3x32xf16>, %y: memref<8x7x7x64xf16>) attributes {dnn.kernel} {
  dnn.conv backward_data x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [2, 2] dilations [1, 1] groups 1
      : memref<8x14x14x32xf16>, memref<64x3x3x32xf16>, memref<8x7x7x64xf16>
  return
}

// The dilation shares a factor with the stride: only every second pixel has taps
// (the second group dimension of the height), and its taps are neighbours.
// CHECK-LABEL: func.func @dilated
// CHECK: dnn.view %arg2 <[1, 1, 2, 1, 1], [8, 8, 14], [3, 3, 64] : {{.*}} -> (d5, d6 - d8, d7 - d9 + 1, d0 * 64 + d10)>
// CHECK: dnn.view %arg1 {{.*}} -> (d0 * 64 + d8, d6 + d2 * 3, d7, d5)>
func.func @dilated(%x: memref<8x14x14x32xf16>, %w: memref<64x3x3x32xf16>, %y: memref<8x6x14x64xf16>) attributes {dnn.kernel} {
  dnn.conv backward_data x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [2, 1] dilations [2, 1] groups 1
      : memref<8x14x14x32xf16>, memref<64x3x3x32xf16>, memref<8x6x14x64xf16>
  return
}

// Backward weights of 64 images, which are two steps of 32: images are the innermost
// dimension. The columns are in the filter's order.
// CHECK-LABEL: func.func @backward_weights
// CHECK: dnn.view %arg2 <[2], [32], [8, 8, 64] : (d0, d1, d2, d3, d4) -> (d4, d0 * 32 + d1, d2, d3)>
// CHECK: dnn.view %arg0 <[2], [16, 3, 3], [8, 8, 64] : (d0, d1, d2, d3, d4, d5, d6) -> (d6, d0 * 16 + d1, d2 + d4 - 1, d3 + d5 - 1)>
// CHECK: dnn.view %arg1 <[2], [32], [16, 3, 3] : (d0, d1, d2, d3, d4) -> (d0 * 32 + d1, d2, d3, d4)>
// CHECK: dnn.tile_mma {{.*}} lanes n
func.func @backward_weights(%x: memref<64x32x8x8xf16>, %w: memref<64x16x3x3xf16>, %y: memref<64x64x8x8xf16>) attributes {dnn.kernel} {
  dnn.conv backward_weights x(%x) w(%w) y(%y) layouts(nchw, nchw, nchw)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 2
      : memref<64x32x8x8xf16>, memref<64x16x3x3xf16>, memref<64x64x8x8xf16>
  return
}

// Volumes with an epilogue: its region moves to the store, and the bias is a view
// that only the channel indexes.
// CHECK-LABEL: func.func @volume
// CHECK: dnn.view %arg3 <[1], [2, 4, 4, 4], [32] : (d0, d1, d2, d3, d4, d5) -> (d0 * 32 + d5)>
// CHECK: dnn.tile_store {{.*}} ins(%{{.*}} : !dnn.view<1x128x32xf32>) epilogue
func.func @volume(%x: memref<2x4x4x4x8xf16>, %w: memref<32x1x1x1x8xf16>, %y: memref<2x4x4x4x32xf16>, %bias: memref<32xf32>, %alpha: f64) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [0, 0, 0] strides [1, 1, 1] dilations [1, 1, 1] groups 1
      epilogue ins(%bias : memref<32xf32>) {
  ^bb0(%sum: f32, %b: f32):
    %a = arith.truncf %alpha : f64 to f32
    %scaled = arith.mulf %sum, %a : f32
    %r = arith.addf %scaled, %b : f32
    dnn.yield %r : f32
  } : memref<2x4x4x4x8xf16>, memref<32x1x1x1x8xf16>, memref<2x4x4x4x32xf16>
  return
}
