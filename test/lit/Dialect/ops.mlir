// RUN: dnn-opt %s | FileCheck %s
// RUN: dnn-opt %s | dnn-opt | FileCheck %s
// RUN: dnn-opt %s --mlir-print-op-generic | dnn-opt | FileCheck %s
// RUN: dnn-opt %s --emit-bytecode | dnn-opt | FileCheck %s

// The text form is read and written without loss, directly, through the generic
// form and through bytecode. Line breaks do not matter.
// CHECK-LABEL: func.func @conv_nhwc
// CHECK-SAME:    (%[[X:.*]]: memref<64x14x14x256xf16>, %[[W:.*]]: memref<256x3x3x256xf16>, %[[Y:.*]]: memref<64x14x14x256xf16>) attributes {dnn.kernel}
// CHECK:         dnn.conv forward x(%[[X]]) w(%[[W]]) y(%[[Y]]) layouts(nhwc, nhwc, nhwc) pads [1, 1] strides [1, 1] dilations [1, 1] groups 1 : memref<64x14x14x256xf16>, memref<256x3x3x256xf16>, memref<64x14x14x256xf16>
func.func @conv_nhwc(%x: memref<64x14x14x256xf16>, %w: memref<256x3x3x256xf16>,
                     %y: memref<64x14x14x256xf16>) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<64x14x14x256xf16>, memref<256x3x3x256xf16>, memref<64x14x14x256xf16>
  return
}

// Height and width differ in every attribute of the window, so that none can be
// taken for another: y is (9 + 2*2 - (1 + 3*1)) / 2 + 1 = 5 by
// (11 + 2*1 - (1 + 2*2)) / 3 + 1 = 3.
// CHECK-LABEL: func.func @conv_nchw_window
// CHECK:         dnn.conv forward x(%{{.*}}) w(%{{.*}}) y(%{{.*}}) layouts(nchw, nchw, nchw) pads [2, 1] strides [2, 3] dilations [3, 2] groups 1
func.func @conv_nchw_window(%x: memref<2x8x9x11xbf16>, %w: memref<16x8x2x3xbf16>,
                            %y: memref<2x16x5x3xbf16>) {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nchw, nchw, nchw)
      pads [2, 1] strides [2, 3] dilations [3, 2] groups 1
      : memref<2x8x9x11xbf16>, memref<16x8x2x3xbf16>, memref<2x16x5x3xbf16>
  return
}

// Padding may differ between the ends: y is 9 + 2 + 0 - 1 by 11 + 0 + 3 - 2.
// CHECK-LABEL: func.func @conv_unequal_pads
// CHECK:         layouts(nhwc, nhwc, nhwc) pads [2, 0] after [0, 3] strides [1, 1] dilations [1, 1] groups 1
func.func @conv_unequal_pads(%x: memref<2x9x11x8xf16>, %w: memref<16x2x3x8xf16>,
                             %y: memref<2x10x12x16xf16>) {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [2, 0] after [0, 3] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x2x3x8xf16>, memref<2x10x12x16xf16>
  return
}

// Each tensor has a layout of its own, and a filter holds one group's channels.
// CHECK-LABEL: func.func @conv_mixed_layouts_groups
// CHECK:         layouts(nchw, nhwc, nhwc) {{.*}} groups 4
func.func @conv_mixed_layouts_groups(%x: memref<1x8x5x6xf32>, %w: memref<12x3x3x2xf32>,
                                     %y: memref<1x3x4x12xf32>) {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nchw, nhwc, nhwc)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 4
      : memref<1x8x5x6xf32>, memref<12x3x3x2xf32>, memref<1x3x4x12xf32>
  return
}

// A filter larger than the padded input still has one output.
// CHECK-LABEL: func.func @conv_filter_larger_than_input
// CHECK:         dnn.conv
func.func @conv_filter_larger_than_input(%x: memref<1x1x2x2xf32>, %w: memref<1x1x5x5xf32>,
                                         %y: memref<1x1x1x1xf32>) {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nchw, nchw, nchw)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1
      : memref<1x1x2x2xf32>, memref<1x1x5x5xf32>, memref<1x1x1x1xf32>
  return
}

// Backward data writes x, the gradient of the input, from w and the gradient of y.
// CHECK-LABEL: func.func @conv_backward_data
// CHECK:         dnn.conv backward_data x(%{{.*}}) w(%{{.*}}) y(%{{.*}}) layouts(nhwc, nhwc, nhwc) pads [1, 1] strides [2, 2]
func.func @conv_backward_data(%dx: memref<2x9x11x8xf32>, %w: memref<16x3x3x8xf32>,
                              %dy: memref<2x5x6x16xf32>) {
  dnn.conv backward_data x(%dx) w(%w) y(%dy) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [2, 2] dilations [1, 1] groups 1
      : memref<2x9x11x8xf32>, memref<16x3x3x8xf32>, memref<2x5x6x16xf32>
  return
}

// Volumes have depth before height, with channels first and last.
// CHECK-LABEL: func.func @conv_volume
// CHECK:         dnn.conv backward_weights {{.*}} layouts(nchw, nhwc, nhwc) pads [0, 1, 2] strides [2, 1, 3] dilations [1, 2, 1] groups 1 : memref<2x8x7x9x11xf64>, memref<16x3x2x4x8xf64>, memref<2x3x9x4x16xf64>
func.func @conv_volume(%x: memref<2x8x7x9x11xf64>, %dw: memref<16x3x2x4x8xf64>,
                       %dy: memref<2x3x9x4x16xf64>) {
  dnn.conv backward_weights x(%x) w(%dw) y(%dy) layouts(nchw, nhwc, nhwc)
      pads [0, 1, 2] strides [2, 1, 3] dilations [1, 2, 1] groups 1
      : memref<2x8x7x9x11xf64>, memref<16x3x2x4x8xf64>, memref<2x3x9x4x16xf64>
  return
}

// Tensors may have any strides: every second row of an image, and a filter whose
// elements overlap, which is allowed because it is only read.
// CHECK-LABEL: func.func @conv_strided
// CHECK:         memref<2x8x9x11xf16, strided<[1584, 198, 22, 1]>>, memref<16x8x3x3xf16, strided<[1, 1, 1, 1]>>, memref<2x16x7x9xf16>
func.func @conv_strided(%x: memref<2x8x9x11xf16, strided<[1584, 198, 22, 1]>>,
                        %w: memref<16x8x3x3xf16, strided<[1, 1, 1, 1]>>,
                        %y: memref<2x16x7x9xf16>) {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nchw, nchw, nchw)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x8x9x11xf16, strided<[1584, 198, 22, 1]>>,
        memref<16x8x3x3xf16, strided<[1, 1, 1, 1]>>, memref<2x16x7x9xf16>
  return
}

// Products of 8-bit floats are accumulated in f32, and the result may be wider.
// CHECK-LABEL: func.func @conv_f8
// CHECK:         memref<1x4x4x8xf8E5M2FNUZ>, memref<4x1x1x8xbf16>, memref<1x4x4x4xf8E5M2FNUZ>
func.func @conv_f8(%x: memref<1x4x4x8xf8E5M2FNUZ>, %w: memref<4x1x1x8xbf16>, %y: memref<1x4x4x4xf8E5M2FNUZ>) {
  dnn.conv backward_weights x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1
      : memref<1x4x4x8xf8E5M2FNUZ>, memref<4x1x1x8xbf16>, memref<1x4x4x4xf8E5M2FNUZ>
  return
}

// Products of i8 are accumulated in i32.
// CHECK-LABEL: func.func @conv_i8
// CHECK:         memref<1x4x4x8xi8>, memref<4x1x1x8xi8>, memref<1x4x4x4xi32>
func.func @conv_i8(%x: memref<1x4x4x8xi8>, %w: memref<4x1x1x8xi8>, %y: memref<1x4x4x4xi32>) {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1
      : memref<1x4x4x8xi8>, memref<4x1x1x8xi8>, memref<1x4x4x4xi32>
  return
}

// An epilogue takes a scalar of the function, a bias and the old result.
// CHECK-LABEL: func.func @conv_epilogue
// CHECK:         groups 1 epilogue ins(%{{.*}}, %{{.*}} : memref<16xf16>, memref<1x4x4x16xf16>) {
// CHECK-NEXT:    ^bb0(%[[SUM:.*]]: f32, %[[BIAS:.*]]: f32, %[[OLD:.*]]: f32):
// CHECK:           dnn.yield %{{.*}} : f32
// CHECK-NEXT:    } : memref<1x4x4x8xf16>, memref<16x1x1x8xf16>, memref<1x4x4x16xf16>
func.func @conv_epilogue(%x: memref<1x4x4x8xf16>, %w: memref<16x1x1x8xf16>,
                         %y: memref<1x4x4x16xf16>, %bias: memref<16xf16>, %beta: f32) {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1
      epilogue ins(%bias, %y : memref<16xf16>, memref<1x4x4x16xf16>) {
  ^bb0(%sum: f32, %b: f32, %old: f32):
    %scaled = arith.mulf %old, %beta : f32
    %added = arith.addf %sum, %scaled : f32
    %biased = arith.addf %added, %b : f32
    dnn.yield %biased : f32
  } : memref<1x4x4x8xf16>, memref<16x1x1x8xf16>, memref<1x4x4x16xf16>
  return
}

// The example of a whole function: every argument says what it is.
// CHECK-LABEL: func.func @conv(
// CHECK-SAME:    memref<1x8x8x4xf16> {dnn.arg = "x"}
// EXAMPLE: dnn
func.func @conv(%x: memref<1x8x8x4xf16> {dnn.arg = "x"},
                %w: memref<16x3x3x4xf16> {dnn.arg = "w"},
                %y: memref<1x6x6x16xf16> {dnn.arg = "y"})
    attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1
      : memref<1x8x8x4xf16>, memref<16x3x3x4xf16>, memref<1x6x6x16xf16>
  return
}
// EXAMPLE-END

// A bias of the channels, and an activation.
// CHECK-LABEL: func.func @conv_bias_relu
// CHECK:         epilogue ins(%{{.*}} : memref<256xf16>) {
// CHECK-NEXT:    ^bb0(%{{.*}}: f32, %{{.*}}: f32):
func.func @conv_bias_relu(%x: memref<64x14x14x256xf16>, %w: memref<256x3x3x256xf16>,
                          %y: memref<64x14x14x256xf16>, %bias: memref<256xf16>) {
  // EXAMPLE: dnn.conv
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      epilogue ins(%bias : memref<256xf16>) {
  ^bb0(%sum: f32, %b: f32):
    %zero = arith.constant 0.0 : f32
    %biased = arith.addf %sum, %b : f32
    %relu = arith.maximumf %biased, %zero : f32
    dnn.yield %relu : f32
  } : memref<64x14x14x256xf16>, memref<256x3x3x256xf16>, memref<64x14x14x256xf16>
  // EXAMPLE-END
  return
}

// The example of docs/spec/convolution.md.
// CHECK-LABEL: func.func @conv_of_ones(
// EXAMPLE: docs/spec/convolution.md
func.func @conv_of_ones(%x: memref<1x3x3x2xf32> {dnn.arg = "x"},
                        %w: memref<1x2x2x2xf32> {dnn.arg = "w"},
                        %y: memref<1x2x2x1xf32> {dnn.arg = "y"}) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1
      : memref<1x3x3x2xf32>, memref<1x2x2x2xf32>, memref<1x2x2x1xf32>
  return
}
// EXAMPLE-END

// Behind a forward convolution, the statistics of its result.
// CHECK-LABEL: func.func @statistics
// CHECK:         dnn.statistics %[[Y:.*]] layout nhwc mean(%[[M:.*]]) variance(%[[V:.*]]) : memref<1x4x4x16xf16>, memref<16xf32>, memref<16xf32>
func.func @statistics(%x: memref<1x4x4x8xf16>, %w: memref<16x1x1x8xf16>, %y: memref<1x4x4x16xf16>,
                      %mean: memref<16xf32>, %variance: memref<16xf32>) {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1
      : memref<1x4x4x8xf16>, memref<16x1x1x8xf16>, memref<1x4x4x16xf16>
  // EXAMPLE: dnn.statistics
  dnn.statistics %y layout nhwc mean(%mean) variance(%variance)
      : memref<1x4x4x16xf16>, memref<16xf32>, memref<16xf32>
  // EXAMPLE-END
  return
}

// Behind backward data, the sums of a normalisation's gradient.
// CHECK-LABEL: func.func @norm_gradient
// CHECK:         dnn.norm_gradient %[[X:.*]] layout nhwc of %[[Z:.*]] by(%[[M:.*]], %[[I:.*]]) relu(%[[S:.*]] : memref<8xf32>, %[[B:.*]] : memref<8xf32>) sums(%{{.*}}, %{{.*}}) :
func.func @norm_gradient(%x: memref<1x4x4x8xf16>, %w: memref<16x1x1x8xf16>, %y: memref<1x4x4x16xf16>,
                         %z: memref<1x4x4x8xf16>, %mean: memref<8xf32>, %inverse: memref<8xf32>,
                         %sum: memref<8xf32>, %dot: memref<8xf32>, %scale: memref<8xf32>, %bias: memref<8xf32>) {
  dnn.conv backward_data x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1
      : memref<1x4x4x8xf16>, memref<16x1x1x8xf16>, memref<1x4x4x16xf16>
  // EXAMPLE: dnn.norm_gradient
  dnn.norm_gradient %x layout nhwc of %z by(%mean, %inverse)
      relu(%scale : memref<8xf32>, %bias : memref<8xf32>) sums(%sum, %dot)
      : memref<1x4x4x8xf16>, memref<1x4x4x8xf16>, memref<8xf32>, memref<8xf32>,
        memref<8xf32>, memref<8xf32>
  // EXAMPLE-END
  return
}

// An epilogue may take nothing but the accumulator.
// CHECK-LABEL: func.func @conv_epilogue_without_operands
// CHECK:         groups 1 epilogue {
// CHECK-NEXT:    ^bb0(%{{.*}}: f32):
func.func @conv_epilogue_without_operands(%x: memref<1x4x4x8xf16>, %w: memref<16x1x1x8xf16>,
                                          %y: memref<1x4x4x16xf16>) {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1 epilogue {
  ^bb0(%sum: f32):
    %positive = math.absf %sum : f32
    dnn.yield %positive : f32
  } : memref<1x4x4x8xf16>, memref<16x1x1x8xf16>, memref<1x4x4x16xf16>
  return
}

// Attributes that can stand alone, here as discardable attributes, have a text form.
// CHECK-LABEL: func.func private @attributes
// CHECK-SAME:    direction = #dnn.conv_direction<backward_weights>
// CHECK-SAME:    layout = #dnn.layout<nhwc>
func.func private @attributes() attributes {
  direction = #dnn.conv_direction<backward_weights>, layout = #dnn.layout<nhwc>}
