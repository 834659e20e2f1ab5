// RUN: dnn-opt %s | FileCheck %s
// RUN: dnn-opt %s | dnn-opt | FileCheck %s
// RUN: dnn-opt %s --mlir-print-op-generic | dnn-opt | FileCheck %s
// RUN: dnn-opt %s --emit-bytecode | dnn-opt | FileCheck %s

// The text form survives being read and written, directly, through the generic
// form and through bytecode. Line breaks are the reader's choice.
// CHECK-LABEL: func.func @conv_nhwc
// CHECK-SAME:    (%[[X:.*]]: memref<64x14x14x256xf16>, %[[W:.*]]: memref<256x3x3x256xf16>, %[[Y:.*]]: memref<64x14x14x256xf16>) attributes {dnn.kernel}
// CHECK:         dnn.conv forward ins(%[[X]], %[[W]]) outs(%[[Y]]) layouts(nhwc, nhwc, nhwc) pads [1, 1] strides [1, 1] dilations [1, 1] groups 1 : memref<64x14x14x256xf16>, memref<256x3x3x256xf16>, memref<64x14x14x256xf16>
func.func @conv_nhwc(%x: memref<64x14x14x256xf16>, %w: memref<256x3x3x256xf16>,
                     %y: memref<64x14x14x256xf16>) attributes {dnn.kernel} {
  dnn.conv forward ins(%x, %w) outs(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<64x14x14x256xf16>, memref<256x3x3x256xf16>, memref<64x14x14x256xf16>
  return
}

// Height and width differ in every part of the window, so that no two are
// mixed up: y is (9 + 2*2 - (1 + 3*1)) / 2 + 1 = 5 by
// (11 + 2*1 - (1 + 2*2)) / 3 + 1 = 3.
// CHECK-LABEL: func.func @conv_nchw_window
// CHECK:         dnn.conv forward ins(%{{.*}}, %{{.*}}) outs(%{{.*}}) layouts(nchw, nchw, nchw) pads [2, 1] strides [2, 3] dilations [3, 2] groups 1
func.func @conv_nchw_window(%x: memref<2x8x9x11xbf16>, %w: memref<16x8x2x3xbf16>,
                            %y: memref<2x16x5x3xbf16>) {
  dnn.conv forward ins(%x, %w) outs(%y) layouts(nchw, nchw, nchw)
      pads [2, 1] strides [2, 3] dilations [3, 2] groups 1
      : memref<2x8x9x11xbf16>, memref<16x8x2x3xbf16>, memref<2x16x5x3xbf16>
  return
}

// Each tensor has a layout of its own, and a filter holds one group's channels.
// CHECK-LABEL: func.func @conv_mixed_layouts_groups
// CHECK:         layouts(nchw, nhwc, nhwc) {{.*}} groups 4
func.func @conv_mixed_layouts_groups(%x: memref<1x8x5x6xf32>, %w: memref<12x3x3x2xf32>,
                                     %y: memref<1x3x4x12xf32>) {
  dnn.conv forward ins(%x, %w) outs(%y) layouts(nchw, nhwc, nhwc)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 4
      : memref<1x8x5x6xf32>, memref<12x3x3x2xf32>, memref<1x3x4x12xf32>
  return
}

// A filter larger than the padded input still has one output.
// CHECK-LABEL: func.func @conv_filter_larger_than_input
// CHECK:         dnn.conv
func.func @conv_filter_larger_than_input(%x: memref<1x1x2x2xf32>, %w: memref<1x1x5x5xf32>,
                                         %y: memref<1x1x1x1xf32>) {
  dnn.conv forward ins(%x, %w) outs(%y) layouts(nchw, nchw, nchw)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1
      : memref<1x1x2x2xf32>, memref<1x1x5x5xf32>, memref<1x1x1x1xf32>
  return
}

// Attributes and other discardable attributes have a text form of their own.
// CHECK-LABEL: func.func private @attributes
// CHECK-SAME:    direction = #dnn.conv_direction<backward_weights>
// CHECK-SAME:    layout = #dnn.layout<nhwc>
func.func private @attributes() attributes {
  direction = #dnn.conv_direction<backward_weights>, layout = #dnn.layout<nhwc>}
