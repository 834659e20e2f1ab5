// RUN: dnn-opt %s --dnn-apply-tile="target=gfx942 tile=igemm-m128n64k32-w2x2-b2-mfma32" -split-input-file | FileCheck %s

// Padding is a negative constant, stride and dilation are factors, and taps are the
// outer dimensions of the reduction. With an NHWC output a lane holds neighbouring
// output channels.
// CHECK: module attributes {dnn.target = "gfx942"}
// CHECK-LABEL: func.func @window
// CHECK: dnn.view %arg0 <[1], [2, 8, 6], [3, 2, 64] : (d0, d1, d2, d3, d4, d5, d6) -> (d1, d2 * 2 + d4 * 3 - 2, d3 + d5 - 1, d0 * 64 + d6)>
// CHECK: dnn.view %arg1 <[1], [96], [3, 2, 64] : (d0, d1, d2, d3, d4) -> (d0 * 96 + d1, d2, d3, d4)>
// CHECK: dnn.view %arg2 <[1], [2, 8, 6], [96] : (d0, d1, d2, d3, d4) -> (d1, d2, d3, d0 * 96 + d4)>
// CHECK: dnn.for_each_tile [1, 1, 2] of [128, 64]
// CHECK: dnn.pipeline reduce [3, 2, 64] step 32 buffers 2 copy registers sync barrier schedule pinned
// CHECK: using "mfma32" waves [2, 2] lanes n
// CHECK-NOT: dnn.conv
// EXAMPLE: dnn-apply-tile
func.func @window(%x: memref<2x18x5x64xf16>, %w: memref<96x3x2x64xf16>, %y: memref<2x8x6x96xf16>) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [2, 1] strides [2, 1] dilations [3, 1] groups 1
      : memref<2x18x5x64xf16>, memref<96x3x2x64xf16>, memref<2x8x6x96xf16>
  return
}
// EXAMPLE-END

// -----

// A group is an offset of the channel coordinates. With few channels in NCHW the
// reduction has the order of the filter in memory, with channels as the outer
// dimension. With an NCHW output a lane holds neighbouring pixels.
// CHECK-LABEL: func.func @groups
// CHECK: dnn.view %arg0 <[3], [1, 6, 6], [5, 2, 2] : (d0, d1, d2, d3, d4, d5, d6) -> (d1, d0 * 5 + d4, d2 + d5, d3 + d6)>
// CHECK: dnn.view %arg1 <[3], [4], [5, 2, 2] : (d0, d1, d2, d3, d4) -> (d0 * 4 + d1, d2, d3, d4)>
// CHECK: dnn.for_each_tile [3, 1, 1] of [128, 64]
// CHECK: lanes m
func.func @groups(%x: memref<1x15x7x7xf16>, %w: memref<12x5x2x2xf16>, %y: memref<1x12x6x6xf16>) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nchw, nchw, nchw)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 3
      : memref<1x15x7x7xf16>, memref<12x5x2x2xf16>, memref<1x12x6x6xf16>
  return
}
