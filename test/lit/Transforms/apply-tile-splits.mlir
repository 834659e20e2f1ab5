// RUN: dnn-opt %s -split-input-file -verify-diagnostics --dnn-apply-tile="target=gfx942 tile=igemm-m64n64k32-w2x2-b2-mfma32-s7" | FileCheck %s

// Each of seven rows of the images is a split. The splits are one more dimension of
// the group, which is added to the row's coordinate and is the outermost dimension
// of the workspace. A second kernel adds the partial results and applies the
// epilogue.
// CHECK-LABEL: func.func @weights
// CHECK-SAME: %[[PARTIAL:[^ ]+]]: memref<7x64x3x3x8xf32> {dnn.arg = "workspace", dnn.bytes = 129024 : i64}
// CHECK: dnn.view %arg2 <[1, 7], [64], [1, 7, 64] : (d0, d1, d2, d3, d4, d5) -> (d5, d1 + d3, d4, d0 * 64 + d2)>
// CHECK: dnn.view %[[PARTIAL]] <[1, 7], [64], [3, 3, 8] : (d0, d1, d2, d3, d4, d5) -> (d1, d0 * 64 + d2, d3, d4, d5)>
// CHECK: dnn.for_each_tile [7, 1, 2] of [64, 64]
// CHECK: dnn.tile_store
// CHECK-NOT: epilogue
// CHECK-LABEL: func.func @weights_sum
// CHECK: dnn.for_each_point
// CHECK: arith.maximumf
func.func @weights(%x: memref<64x7x7x8xf16>, %w: memref<64x3x3x8xf16>, %y: memref<64x7x7x64xf16>) attributes {dnn.kernel} {
  dnn.conv backward_weights x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      epilogue {
  ^bb0(%sum: f32):
    %zero = arith.constant 0.0 : f32
    %relu = arith.maximumf %sum, %zero : f32
    dnn.yield %relu : f32
  } : memref<64x7x7x8xf16>, memref<64x3x3x8xf16>, memref<64x7x7x64xf16>
  return
}

// -----

// All splits must have the same length.
func.func @uneven(%x: memref<64x8x8x8xf16>, %w: memref<64x3x3x8xf16>, %y: memref<64x8x8x64xf16>) attributes {dnn.kernel} {
  // expected-error@+1 {{needs splits that divide a reduction of 8, but has 7}}
  dnn.conv backward_weights x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<64x8x8x8xf16>, memref<64x3x3x8xf16>, memref<64x8x8x64xf16>
  return
}

// -----

// On CDNA neighbouring lanes have neighbouring output channels, which are last
// in the workspace, so that lines are written whole. The launch that adds has
// as many neighbours of the result as it may store at once.
// CHECK-LABEL: func.func @lines
// CHECK-SAME: memref<7x3x3x256x256xf32> {dnn.arg = "workspace"
// CHECK: dnn.view %arg3 <[1, 7], [256], [3, 3, 256] : (d0, d1, d2, d3, d4, d5) -> (d1, d3, d4, d5, d0 * 256 + d2)>
// CHECK-LABEL: func.func @lines_sum
// CHECK: dnn.for_each_point [3, 3, 32, 256]
// CHECK-COUNT-56: dnn.point_load {{.*}} memref<7x3x3x256x256xf32> -> f32
// CHECK: dnn.point_store {{.*}} vector<8xf16>
func.func @lines(%x: memref<64x7x7x256xf16>, %w: memref<256x3x3x256xf16>, %y: memref<64x7x7x256xf16>) attributes {dnn.kernel} {
  dnn.conv backward_weights x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<64x7x7x256xf16>, memref<256x3x3x256xf16>, memref<64x7x7x256xf16>
  return
}

// -----

// A lane of the launch that adds so few elements would store one of them, far
// from its neighbours', which seven splits are not worth.
// CHECK-LABEL: func.func @pointwise
// CHECK-SAME: memref<7x256x64x1x1xf32> {dnn.arg = "workspace"
// CHECK-LABEL: func.func @pointwise_sum
func.func @pointwise(%x: memref<63x64x7x7xf16>, %w: memref<256x64x1x1xf16>, %y: memref<63x256x7x7xf16>) attributes {dnn.kernel} {
  dnn.conv backward_weights x(%x) w(%w) y(%y) layouts(nchw, nchw, nchw)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1
      : memref<63x64x7x7xf16>, memref<256x64x1x1xf16>, memref<63x256x7x7xf16>
  return
}
