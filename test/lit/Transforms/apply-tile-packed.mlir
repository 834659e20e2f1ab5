// RUN: dnn-opt %s -split-input-file -verify-diagnostics --dnn-apply-tile="target=sm_90 tile=packed-m128n64k64-w1x1-p6-wgmma" | FileCheck %s

// A block is the pixels of a stride with their channels, 12 elements padded to 16.
// Block row i of the image holds lines 2 i and 2 i + 1, with two blocks of zeros
// before a line and one behind it. A line of the window is a run of 4 blocks, and
// windows overlap. One launch packs both tensors: the first 8 workgroups have the
// filter's 2048 pieces of 8 elements, and 3 more have the 608 blocks of the image,
// counted from the last one back.
// CHECK-LABEL: func.func @forward_pack
// CHECK-SAME:    memref<2x16x19x16xf16, strided<[4864, 304, 16, 1]>> {dnn.arg = "workspace", dnn.bytes = 52224 : i64}
// CHECK: dnn.for_each_point [11, 256] threads 256 {
// CHECK: ^bb0(%[[GROUP:.*]]: index, %{{.*}}: index):
// CHECK: arith.cmpi ult, %[[GROUP]]
// CHECK-COUNT-8: dnn.point_load %arg1
// CHECK: dnn.point_store {{.*}} vector<8xf16>
// CHECK: arith.cmpi uge, %[[GROUP]]
// CHECK: %[[BACK:.*]] = arith.muli %[[GROUP]]
// CHECK: %[[LAST:.*]] = arith.constant 10 : index
// CHECK: arith.addi %[[BACK]], %[[LAST]]
// CHECK-COUNT-12: dnn.point_load %arg0
// CHECK-COUNT-2: dnn.point_store {{.*}} vector<8xf16>
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

// A block of 4 by 4 pixels of 3 channels is 48 columns, which depend on one window of
// 5 by 5 gradients. The gradient is read without being packed. Neighbouring threads
// read neighbouring channels of the filter.
// CHECK-LABEL: func.func @data_pack
// CHECK: dnn.for_each_point [4, 4, 5, 5, 8, 3]
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

// Backward weights with odd numbers of input and output channels: both images are
// padded, the partial results are first in the workspace, and runs of 120 are copied
// as 128.
// CHECK-LABEL: func.func @weights_pack
// CHECK: dnn.point_load %arg0
// CHECK: dnn.point_store {{.*}}, %arg4
// CHECK: dnn.point_load %arg2
// CHECK: dnn.point_store {{.*}}, %arg5
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

// 70 channels would need 128 rows. Instead they are 80 columns of a tile, and the
// taps are rows: 64 of each line's run, and then the other 64. The partial results
// have the same order, with 72 channels each.
// CHECK-LABEL: func.func @swapped(
// CHECK-SAME: %[[PARTIAL:arg3]]: memref<1x2x3x64x72xf32>
// CHECK: %[[GRADIENT:.*]] = dnn.view %arg5 <[1, 1], [70], [2, 8, 8] :
// CHECK: %[[INPUT:.*]] = dnn.view %arg4 <[1, 1], [2, 3, 64], [2, 8, 8] : (d0, d1, d2, d3, d4, d5, d6, d7) -> (d5, d3 + d6 - 1, d7, d2 * 64 + d4)>
// CHECK: dnn.view %[[PARTIAL]] <[1, 1], [2, 3, 64], [70] : (d0, d1, d2, d3, d4, d5) -> (d0, d2, d3, d4, d5)>
// CHECK: dnn.tile_load %[[INPUT]]
// CHECK: dnn.tile_load %[[GRADIENT]]
// CHECK-LABEL: func.func @swapped_sum
// CHECK: dnn.for_each_point [3, 3, 37, 70]
func.func @swapped(%x: memref<2x8x8x37xf16>, %w: memref<70x3x3x37xf16>, %y: memref<2x8x8x70xf16>) attributes {dnn.kernel} {
  dnn.conv backward_weights x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x8x8x37xf16>, memref<70x3x3x37xf16>, memref<2x8x8x70xf16>
  return
}

// -----

// Of f32, 16 bytes are 4 elements: 37 channels become 40, and 21 become 24. A block
// of a run is 32 of the 120 elements. The fewer channels are the columns.
// CHECK-LABEL: func.func @f32_pack
// CHECK-COUNT-4: dnn.point_load %arg0
// CHECK: dnn.point_store {{.*}}, %arg4{{.*}} : vector<4xf32>
// CHECK-LABEL: func.func @f32(
// CHECK-SAME: memref<1x4x3x32x24xf32> {dnn.arg = "workspace"
// CHECK-SAME: memref<2x8x8x120xf32, strided<[3200, 400, 40, 1], offset: 9216>>
// CHECK-SAME: memref<2x8x8x24xf32, strided<[1536, 192, 24, 1], offset: 15616>>
// CHECK: dnn.view %arg4 <[1, 1], [4, 3, 32], [2, 8, 8] : (d0, d1, d2, d3, d4, d5, d6, d7) -> (d5, d3 + d6 - 1, d7, d2 * 32 + d4)>
func.func @f32(%x: memref<2x8x8x37xf32>, %w: memref<21x3x3x37xf32>, %y: memref<2x8x8x21xf32>) attributes {dnn.kernel} {
  dnn.conv backward_weights x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x8x8x37xf32>, memref<21x3x3x37xf32>, memref<2x8x8x21xf32>
  return
}

// -----

// With channels first a warp reads 8 neighbouring columns of each channel, and writes 4
// neighbouring pieces of 4 channels of each pixel: 10 columns are 2 blocks, 10 pieces 3.
// The sum is stored as the filter lies. No launch transposes.
// CHECK-LABEL: func.func @first_pack
// CHECK: arith.constant 4 : index
// CHECK-COUNT-4: dnn.point_load %arg0{{.*}} : memref<2x37x8x8xf32> -> f32
// CHECK: dnn.point_store {{.*}}, %arg4{{.*}} : vector<4xf32>
// CHECK-COUNT-4: dnn.point_load %arg2{{.*}} : memref<2x21x8x8xf32> -> f32
// CHECK-LABEL: func.func @first(
// CHECK-SAME: memref<1x4x3x32x24xf32> {dnn.arg = "workspace"
// CHECK-LABEL: func.func @first_sum
// CHECK: dnn.for_each_point [3, 3, 37, 21]
// CHECK: dnn.point_store {{.*}} : f32, memref<21x37x3x3xf32>
// CHECK-NOT: func.func @first
func.func @first(%x: memref<2x37x8x8xf32>, %w: memref<21x37x3x3xf32>, %y: memref<2x21x8x8xf32>) attributes {dnn.kernel} {
  dnn.conv backward_weights x(%x) w(%w) y(%y) layouts(nchw, nchw, nchw)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x37x8x8xf32>, memref<21x37x3x3xf32>, memref<2x21x8x8xf32>
  return
}

// -----

// A gradient that is not packed has channels last.
func.func @kept(%x: memref<2x37x8x8xf32>, %w: memref<24x37x3x3xf32>, %y: memref<2x24x8x8xf32>) attributes {dnn.kernel} {
  // expected-error@+1 {{is no convolution of one group in f16, bf16 or f32, channels last and undilated, which 'packed' needs}}
  dnn.conv backward_weights x(%x) w(%w) y(%y) layouts(nchw, nchw, nchw)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x37x8x8xf32>, memref<24x37x3x3xf32>, memref<2x24x8x8xf32>
  return
}

// -----

// Problems that are not packed are refused, and the message names the tile.
func.func @dilated(%x: memref<2x8x8x3xf16>, %w: memref<8x3x3x3xf16>, %y: memref<2x4x4x8xf16>) attributes {dnn.kernel} {
  // expected-error@+1 {{is no convolution of one group in f16, bf16 or f32, channels last and undilated, which 'packed' needs}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [0, 0] strides [1, 1] dilations [2, 2] groups 1
      : memref<2x8x8x3xf16>, memref<8x3x3x3xf16>, memref<2x4x4x8xf16>
  return
}
