// RUN: dnn-opt %s -split-input-file -verify-diagnostics --dnn-apply-tile="target=sm_90 tile=packed-m128n64k64-w1x1-p6-wgmma" | FileCheck %s

// Pixels of a stride and their channels are 12 elements of 16. Block row i of
// the image holds lines 2 i and 2 i + 1; two blocks of zeros lie before a line
// and one behind it. A line of the window is a run of 4 blocks; windows overlap.
// CHECK-LABEL: func.func @forward_images
// CHECK-SAME:    memref<2x16x19x16xf16, strided<[4864, 304, 16, 1]>> {dnn.arg = "workspace", dnn.bytes = 52224 : i64}
// CHECK: dnn.for_each_point [2, 16, 19]
// CHECK-COUNT-12: dnn.point_load %arg0
// CHECK-COUNT-2: dnn.point_store {{.*}} vector<8xf16>
// CHECK-LABEL: func.func @forward_filter
// CHECK: dnn.for_each_point [64, 4, 4, 16]
// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    %[[Y:arg2]]: memref<2x16x16x64xf16>, %[[X:arg3]]: memref<2x16x16x64xf16, strided<[4864, 304, 16, 1]>> {{.*}}, %[[W:arg4]]: memref<64x4x64xf16, strided<[256, 64, 1], offset: 9728>>
// CHECK: dnn.view %[[X]] <[1], [2, 16, 16], [4, 64] : (d0, d1, d2, d3, d4, d5) -> (d1, d2 + d4 - 2, d3, d5)>
// CHECK: dnn.view %[[W]] <[1], [64], [4, 64] : (d0, d1, d2, d3) -> (d1, d2, d3)>
// CHECK: dnn.view %[[Y]] <[1], [2, 16, 16], [64] :
// CHECK: dnn.for_each_tile [1, 4, 1] of [128, 64] persistent 132
// CHECK: dnn.pipeline reduce [4, 64]
func.func @forward(%x: memref<2x32x32x3xf16>, %w: memref<64x7x7x3xf16>, %y: memref<2x16x16x64xf16>) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [3, 3] strides [2, 2] dilations [1, 1] groups 1
      : memref<2x32x32x3xf16>, memref<64x7x7x3xf16>, memref<2x16x16x64xf16>
  return
}

// -----

// A block of 4 by 4 pixels of 3 channels is 48 columns, which one window of 5
// by 5 gradients reaches. The gradient is read where it lies.
// CHECK-LABEL: func.func @data_filter
// CHECK: dnn.for_each_point [4, 4, 3, 5, 5, 64]
// CHECK-NOT: func.func @data_images
// CHECK-LABEL: func.func @data(
// CHECK: dnn.view %arg2 <[1], [2, 8, 8], [5, 5, 64] : (d0, d1, d2, d3, d4, d5, d6) -> (d1, d2 * 2 + d4 - 1, d3 * 2 + d5 - 1, d6)>
// CHECK: dnn.view %arg3 <[1], [48], [5, 5, 64] :
// CHECK: dnn.view %arg0 <[1], [2, 8, 8], [4, 4, 3] : (d0, d1, d2, d3, d4, d5, d6) -> (d1, d2 * 4 + d4, d3 * 4 + d5, d6)>
func.func @data(%x: memref<2x32x32x3xf16>, %w: memref<64x7x7x3xf16>, %y: memref<2x16x16x64xf16>) attributes {dnn.kernel} {
  dnn.conv backward_data x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [3, 3] strides [2, 2] dilations [1, 1] groups 1
      : memref<2x32x32x3xf16>, memref<64x7x7x3xf16>, memref<2x16x16x64xf16>
  return
}

// -----

// Backward weights of odd channels on both sides: both images are filled up,
// sums come first in the workspace, and runs of 120 are copied as 128.
// CHECK-LABEL: func.func @weights_images
// CHECK: dnn.for_each_point [2, 8, 10, 1, 1, 5]
// CHECK-LABEL: func.func @weights_gradient
// CHECK-LABEL: func.func @weights(
// CHECK-SAME: memref<1x9x3x120xf32> {dnn.arg = "workspace"
// CHECK: dnn.view %arg5 <[1, 1], [9], [2, 8, 8] :
// CHECK: dnn.view %arg4 <[1, 1], [3, 128], [2, 8, 8] : (d0, d1, d2, d3, d4, d5, d6) -> (d4, d2 + d5 - 1, d6, d3)>
// CHECK: dnn.view %arg3 <[1, 1], [9], [3, 128] : (d0, d1, d2, d3, d4) -> (d0, d2, d3, d4)>
// CHECK-LABEL: func.func @weights_sum
// CHECK: dnn.for_each_point [9, 3, 3, 37]
// CHECK: arith.maximumf
func.func @weights(%x: memref<2x8x8x37xf16>, %w: memref<9x3x3x37xf16>, %y: memref<2x8x8x9xf16>) attributes {dnn.kernel} {
  dnn.conv backward_weights x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      epilogue {
  ^bb0(%sum: f32):
    %zero = arith.constant 0.0 : f32
    %relu = arith.maximumf %sum, %zero : f32
    dnn.yield %relu : f32
  } : memref<2x8x8x37xf16>, memref<9x3x3x37xf16>, memref<2x8x8x9xf16>
  return
}

// -----

// What is not packed is refused by name.
func.func @dilated(%x: memref<2x8x8x3xf16>, %w: memref<8x3x3x3xf16>, %y: memref<2x4x4x8xf16>) attributes {dnn.kernel} {
  // expected-error@+1 {{is no convolution of one group in f16 or bf16, channels last and undilated, which 'packed' needs}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [0, 0] strides [1, 1] dilations [2, 2] groups 1
      : memref<2x8x8x3xf16>, memref<8x3x3x3xf16>, memref<2x4x4x8xf16>
  return
}
