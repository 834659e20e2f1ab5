// RUN: dnn-opt %s -split-input-file -verify-diagnostics --dnn-apply-tile="target=gfx942 tile=igemm-m64n64k32-w2x2-b2-mfma32-s2" | FileCheck %s

// Each of two splits has half of the channels. The split is the last dimension of
// the group and the outermost one of the workspace; the launch that adds the splits
// has the epilogue.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[PARTIAL:[^ ]+]]: memref<2x2x7x5x72xf32> {dnn.arg = "workspace", dnn.bytes = 40320 : i64}
// CHECK: dnn.view %arg0 <[1, 2], [2, 7, 5], [3, 3, 64] : (d0, d1, d2, d3, d4, d5, d6, d7) -> (d2, d3 + d5 - 1, d4 + d6 - 1, d0 * 128 + d1 * 64 + d7)>
// CHECK: dnn.view %arg1 <[1, 2], [72], [3, 3, 64] : (d0, d1, d2, d3, d4, d5) -> (d0 * 72 + d2, d3, d4, d1 * 64 + d5)>
// CHECK: dnn.view %[[PARTIAL]] <[1, 2], [2, 7, 5], [72] : (d0, d1, d2, d3, d4, d5) -> (d1, d2, d3, d4, d0 * 72 + d5)>
// CHECK: dnn.for_each_tile [2, 2, 2] of [64, 64]
// CHECK: dnn.pipeline reduce [3, 3, 64] step 32
// CHECK-NOT: epilogue
// CHECK-LABEL: func.func @forward_sum(
// CHECK: arith.maximumf
func.func @forward(%x: memref<2x7x5x128xf16>, %w: memref<72x3x3x128xf16>, %y: memref<2x7x5x72xf16>) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      epilogue {
  ^bb0(%sum: f32):
    %zero = arith.constant 0.0 : f32
    %relu = arith.maximumf %sum, %zero : f32
    dnn.yield %relu : f32
  } : memref<2x7x5x128xf16>, memref<72x3x3x128xf16>, memref<2x7x5x72xf16>
  return
}

// -----

// Half of the channels are no two steps, so they are outside of the taps, as in a
// filter that is channels first.
// CHECK-LABEL: func.func @channels_first(
// CHECK: dnn.view %arg1 <[1, 2], [72], [32, 3, 3] : (d0, d1, d2, d3, d4, d5) -> (d0 * 72 + d2, d1 * 32 + d3, d4, d5)>
func.func @channels_first(%x: memref<2x64x7x5xf16>, %w: memref<72x64x3x3xf16>, %y: memref<2x72x7x5xf16>) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nchw, nchw, nchw)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x64x7x5xf16>, memref<72x64x3x3xf16>, memref<2x72x7x5xf16>
  return
}

// -----

// Strided backward data has its splits behind the classes of pixels.
// CHECK-LABEL: func.func @backward_data(
// CHECK: dnn.view %arg2 <[1, 2, 1, 2, 1, 2], [8, 7, 7], [2, 2, 32] : (d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11) -> (d6, d7 + d9, d8 + d10, d0 * 64 + d5 * 32 + d11)>
// CHECK: dnn.view %arg1 <[1, 2, 1, 2, 1, 2], [32], [2, 2, 32] : (d0, d1, d2, d3, d4, d5, d6, d7, d8, d9) -> (d0 * 64 + d5 * 32 + d9, d1 - d7 * 2 + 1, d3 - d8 * 2 + 1, d6)>
// CHECK: dnn.view %arg3 <[1, 2, 1, 2, 1, 2], [8, 7, 7], [32] : (d0, d1, d2, d3, d4, d5, d6, d7, d8, d9) -> (d5, d6, d7 * 2 + d1, d8 * 2 + d3, d0 * 32 + d9)>
// CHECK: dnn.for_each_tile [8, 7, 1] of [64, 64]
// CHECK-LABEL: func.func @backward_data_sum(
func.func @backward_data(%x: memref<8x14x14x32xf16>, %w: memref<64x3x3x32xf16>, %y: memref<8x7x7x64xf16>) attributes {dnn.kernel} {
  dnn.conv backward_data x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [2, 2] dilations [1, 1] groups 1
      : memref<8x14x14x32xf16>, memref<64x3x3x32xf16>, memref<8x7x7x64xf16>
  return
}

// -----

// All splits must have the same channels, in each group.
func.func @uneven(%x: memref<2x7x5x42xf16>, %w: memref<8x3x3x21xf16>, %y: memref<2x7x5x8xf16>) attributes {dnn.kernel} {
  // expected-error@+1 {{needs splits that divide a reduction of 21, but has 2}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 2
      : memref<2x7x5x42xf16>, memref<8x3x3x21xf16>, memref<2x7x5x8xf16>
  return
}
