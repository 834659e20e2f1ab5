// RUN: dnn-opt %s --split-input-file --verify-diagnostics

// dnn.conv refuses each of these, at least one for each constraint of
// docs/spec/convolution.md. Each is a valid convolution with one thing changed.

// Either all tensors have depth or none.
func.func @conv_c1(%x: memref<2x9x11x8xf16>, %w: memref<16x1x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs tensors of rank 4, or all of rank 5, but x has rank 4 and w has rank 5}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x1x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// A single spatial dimension is not supported; it is written as two, one of them 1.
func.func @conv_c1_one_dimension(%x: memref<2x9x8xf16>, %w: memref<16x3x8xf16>, %y: memref<2x9x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs tensors of rank 4, or all of rank 5, but x has rank 3 and x has rank 3}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1] strides [1] dilations [1] groups 1
      : memref<2x9x8xf16>, memref<16x3x8xf16>, memref<2x9x16xf16>
  return
}

// -----

// The sizes of a filter are known.
func.func @conv_c2(%x: memref<?x9x11x8xf16>, %w: memref<16x?x3x8xf16>, %y: memref<?x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs static sizes of at least 1, or unknown ones of packed images, but w is 'memref<16x?x3x8xf16>'}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<?x9x11x8xf16>, memref<16x?x3x8xf16>, memref<?x9x11x16xf16>
  return
}

// -----

// A tensor must not be empty.
func.func @conv_c2_empty(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<0x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs static sizes of at least 1, or unknown ones of packed images, but y is 'memref<0x9x11x16xf16>'}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<0x9x11x16xf16>
  return
}

// -----

// Strides must be known at compile time.
func.func @conv_c3(%x: memref<2x9x11x8xf16, strided<[?, 88, 8, 1]>>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs static strides of at least 1 and no offset, but x is 'memref<2x9x11x8xf16, strided<[?, 88, 8, 1]>>'}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16, strided<[?, 88, 8, 1]>>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// A stride of 0 would repeat an element.
func.func @conv_c3_broadcast(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16, strided<[24, 0, 8, 1]>>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs static strides of at least 1 and no offset, but w is 'memref<16x3x3x8xf16, strided<[24, 0, 8, 1]>>'}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16, strided<[24, 0, 8, 1]>>, memref<2x9x11x16xf16>
  return
}

// -----

// A tensor begins at its pointer, without an offset.
func.func @conv_c3_offset(%x: memref<2x9x11x8xf16, strided<[792, 88, 8, 1], offset: 4>>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs static strides of at least 1 and no offset, but x is 'memref<2x9x11x8xf16, strided<[792, 88, 8, 1], offset: 4>>'}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16, strided<[792, 88, 8, 1], offset: 4>>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// Wide integers can only be results.
func.func @conv_c4(%x: memref<2x9x11x8xi32>, %w: memref<16x3x3x8xi32>, %y: memref<2x9x11x16xi32>) {
  // expected-error @below {{'dnn.conv' op needs elements of type f16, bf16, f32, f64, i8 or a float of 8 bits, but x has 'i32'}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xi32>, memref<16x3x3x8xi32>, memref<2x9x11x16xi32>
  return
}

// -----

// The convolution converts no types.
func.func @conv_c5(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xbf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs one element type of x and w, but x has 'f16' and w has 'bf16'}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xbf16>, memref<2x9x11x16xf16>
  return
}

// -----

// Gradients of eight bits are not supported.
func.func @conv_c6(%x: memref<2x9x11x8xi8>, %w: memref<16x3x3x8xi8>, %y: memref<2x9x11x16xi8>) {
  // expected-error @below {{'dnn.conv' op needs direction forward for i8, but has backward_data}}
  dnn.conv backward_data x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xi8>, memref<16x3x3x8xi8>, memref<2x9x11x16xi8>
  return
}

// -----

// A window has two dimensions.
func.func @conv_c7(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs 2 entries in strides (height, width), but has 3}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// A window over volumes has three dimensions.
func.func @conv_c7_volume(%x: memref<2x5x9x11x8xf16>, %w: memref<16x3x3x3x8xf16>, %y: memref<2x5x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs 3 entries in pads (depth, height, width), but has 2}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1, 1] dilations [1, 1, 1] groups 1
      : memref<2x5x9x11x8xf16>, memref<16x3x3x3x8xf16>, memref<2x5x9x11x16xf16>
  return
}

// -----

// A negative pad would crop.
func.func @conv_c8(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs pads of at least 0, but has -1}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, -1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// Padding after the last element is of every dimension, too.
func.func @conv_c26(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs 2 entries in pads after (height, width), but has 1}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] after [1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// Negative padding after the last element would crop.
func.func @conv_c26_negative(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x8x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs pads after of at least 0, but has -2}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] after [1, -2] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x8x16xf16>
  return
}

// -----

// With stride 0 the number of positions of the window is undefined.
func.func @conv_c9(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs strides of at least 1, but has 0}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [0, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// With dilation 0 all taps would be the same.
func.func @conv_c10(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs dilations of at least 1, but has 0}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 0] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// Without a group there is nothing to compute.
func.func @conv_c11(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs at least 1 group, but has 0}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 0
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// Groups divide the input channels evenly.
func.func @conv_c12(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs groups that divide the input channels, but 8 channels are in 3 groups}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 3
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// Groups divide the output channels evenly.
func.func @conv_c13(%x: memref<2x9x11x8xf16>, %w: memref<18x3x3x2xf16>, %y: memref<2x9x11x18xf16>) {
  // expected-error @below {{'dnn.conv' op needs groups that divide the output channels, but 18 channels are in 4 groups}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 4
      : memref<2x9x11x8xf16>, memref<18x3x3x2xf16>, memref<2x9x11x18xf16>
  return
}

// -----

// A filter holds the channels of its own group only.
func.func @conv_c14(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs a filter with the 4 input channels of one group, but w has 8}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 2
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// Every image has its output.
func.func @conv_c15(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<3x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs one batch size, but x has 2 images and y has 3}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<3x9x11x16xf16>
  return
}

// -----

// Every filter has its output channel.
func.func @conv_c16(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x15xf16>) {
  // expected-error @below {{'dnn.conv' op needs one output channel for each filter, but w has 16 and y has 15}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x15xf16>
  return
}

// -----

// The window fixes the output's height and width; here a layout is taken for another.
func.func @conv_c17(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x16x11x9xf16>) {
  // expected-error @below {{'dnn.conv' op needs an output of 9x11 for this window, but y has 11x9}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nchw)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x16x11x9xf16>
  return
}

// -----

// The window also fixes the output's depth.
func.func @conv_c17_volume(%x: memref<2x5x9x11x8xf16>, %w: memref<16x3x3x3x8xf16>, %y: memref<2x4x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs an output of 5x9x11 for this window, but y has 4x9x11}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1, 1] strides [1, 1, 1] dilations [1, 1, 1] groups 1
      : memref<2x5x9x11x8xf16>, memref<16x3x3x3x8xf16>, memref<2x4x9x11x16xf16>
  return
}

// -----

// Rows of 11 x 16 elements at a distance of 100 would be written twice.
func.func @conv_c18(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16, strided<[1000, 100, 16, 1]>>) {
  // expected-error @below {{'dnn.conv' op needs a result whose elements do not overlap, but writes 'memref<2x9x11x16xf16, strided<[1000, 100, 16, 1]>>'}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16, strided<[1000, 100, 16, 1]>>
  return
}

// -----

// The direction decides which tensor is written.
func.func @conv_c18_backward_data(%x: memref<2x9x11x8xf16, strided<[792, 88, 8, 8]>>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs a result whose elements do not overlap, but writes 'memref<2x9x11x8xf16, strided<[792, 88, 8, 8]>>'}}
  dnn.conv backward_data x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16, strided<[792, 88, 8, 8]>>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// A result of another width would be rounded twice or not at all.
func.func @conv_c19(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf32>) {
  // expected-error @below {{'dnn.conv' op needs y of type of x and w, but x has 'f16' and y has 'f32'}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf32>
  return
}

// -----

// The result of backward data is x; f32 is not rounded for it.
func.func @conv_c19_data(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf32>, %y: memref<2x9x11x16xf32>) {
  // expected-error @below {{'dnn.conv' op needs x of type of w and y, but w has 'f32' and x has 'f16'}}
  dnn.conv backward_data x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf32>, memref<2x9x11x16xf32>
  return
}

// -----

// Sums of eight-bit products may be kept, or rounded to floats or bytes.
func.func @conv_c19_i8(%x: memref<2x9x11x8xi8>, %w: memref<16x3x3x8xi8>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs y of type i32, f32 or i8, but x has 'i8' and y has 'f16'}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xi8>, memref<16x3x3x8xi8>, memref<2x9x11x16xf16>
  return
}

// -----

// Results of 8-bit floats have their type or a wider one.
func.func @conv_c19_f8(%x: memref<2x9x11x8xf8E4M3FN>, %w: memref<16x3x3x8xf8E4M3FN>, %y: memref<2x9x11x16xf8E5M2>) {
  // expected-error @below {{'dnn.conv' op needs y of type of x and w, f16, bf16 or f32, but x has 'f8E4M3FN' and y has 'f8E5M2'}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf8E4M3FN>, memref<16x3x3x8xf8E4M3FN>, memref<2x9x11x16xf8E5M2>
  return
}

// -----

// A bias has a value for each channel of the result.
func.func @conv_c20(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>, %e: memref<8xf16>) {
  // expected-error @below {{'dnn.conv' op needs the shape of the result, or one value for each of its 16 channels, in operand 0 of the epilogue, but has 'memref<8xf16>'}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      epilogue ins(%e : memref<8xf16>) {
  ^bb0(%sum: f32, %v: f32):
    dnn.yield %sum : f32
  }
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// A residual has the dimensions of the result, in their order.
func.func @conv_c20_shape(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>, %e: memref<2x16x9x11xf16>) {
  // expected-error @below {{'dnn.conv' op needs the shape of the result, or one value for each of its 16 channels, in operand 0 of the epilogue, but has 'memref<2x16x9x11xf16>'}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      epilogue ins(%e : memref<2x16x9x11xf16>) {
  ^bb0(%sum: f32, %v: f32):
    dnn.yield %sum : f32
  }
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// An f64 does not fit the f32 of the epilogue.
func.func @conv_c21(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>, %e: memref<16xf64>) {
  // expected-error @below {{'dnn.conv' op needs floats of at most the width of 'f32' in operand 0 of the epilogue, but has 'memref<16xf64>'}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      epilogue ins(%e : memref<16xf64>) {
  ^bb0(%sum: f32, %v: f32):
    dnn.yield %sum : f32
  }
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// The block has one argument for each operand.
func.func @conv_c22(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>, %e: memref<16xf16>) {
  // expected-error @below {{'dnn.conv' op needs an epilogue from 'f32' for the sum and each of its operands to one 'f32'}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      epilogue ins(%e : memref<16xf16>) {
  ^bb0(%sum: f32):
    dnn.yield %sum : f32
  }
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// The accumulator is f32, whatever the type of the tensors.
func.func @conv_c22_type(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs an epilogue from 'f32' for the sum and each of its operands to one 'f32'}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      epilogue {
  ^bb0(%sum: f16):
    dnn.yield %sum : f16
  }
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// The block yields the value that is stored.
func.func @conv_c22_result(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs an epilogue from 'f32' for the sum and each of its operands to one 'f32'}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      epilogue {
  ^bb0(%sum: f32):
    dnn.yield
  }
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// An integer result has no epilogue.
func.func @conv_c23(%x: memref<2x9x11x8xi8>, %w: memref<16x3x3x8xi8>, %y: memref<2x9x11x16xi32>) {
  // expected-error @below {{'dnn.conv' op needs a result of floats to have an epilogue}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      epilogue {
  ^bb0(%sum: f32):
    dnn.yield %sum : f32
  }
      : memref<2x9x11x8xi8>, memref<16x3x3x8xi8>, memref<2x9x11x16xi32>
  return
}

// -----

// Operands of f16 are never computed as tf32.
func.func @conv_c25(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs elements of f32 to allow tf32, but has 'f16'}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1 tf32
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// An epilogue runs in no particular order, so that it may not write memory.
func.func @conv_c24(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>, %e: memref<1xf32>) {
  // expected-error @below {{'dnn.conv' op needs an epilogue without side effects, but it has memref.store}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      epilogue {
  ^bb0(%sum: f32):
    %i = arith.constant 0 : index
    memref.store %sum, %e[%i] : memref<1xf32>
    dnn.yield %sum : f32
  }
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// Integers have no statistics.
func.func @conv_c27(%y: memref<2x9x11x16xi32>, %m: memref<16xf32>, %v: memref<16xf32>) {
  // expected-error @below {{'dnn.statistics' op needs a tensor of rank 4 or 5 with elements of f16, bf16 or f32, but has 'memref<2x9x11x16xi32>'}}
  dnn.statistics %y layout nhwc mean(%m) variance(%v)
      : memref<2x9x11x16xi32>, memref<16xf32>, memref<16xf32>
  return
}

// -----

// One number in f32 for each channel, which the layout says.
func.func @conv_c28(%y: memref<2x9x11x16xf16>, %m: memref<16xf32>, %v: memref<9xf32>) {
  // expected-error @below {{'dnn.statistics' op needs results of type 'memref<16xf32>', but has 'memref<9xf32>'}}
  dnn.statistics %y layout nhwc mean(%m) variance(%v)
      : memref<2x9x11x16xf16>, memref<16xf32>, memref<9xf32>
  return
}

// -----

// A gradient is not normalised.
func.func @conv_c29(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>, %m: memref<8xf32>, %v: memref<8xf32>) {
  dnn.conv backward_data x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  // expected-error @below {{'dnn.statistics' op needs a forward dnn.conv right before it, whose result and layout it names}}
  dnn.statistics %x layout nhwc mean(%m) variance(%v)
      : memref<2x9x11x8xf16>, memref<8xf32>, memref<8xf32>
  return
}

// -----

// Sums are in f32.
func.func @conv_c30(%x: memref<2x9x11x8xf64>, %w: memref<16x3x3x8xf64>, %y: memref<2x9x11x16xf64>, %z: memref<2x9x11x8xf64>, %c: memref<8xf32>) {
  dnn.conv backward_data x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf64>, memref<16x3x3x8xf64>, memref<2x9x11x16xf64>
  // expected-error @below {{'dnn.norm_gradient' op needs a gradient of rank 4 or 5 with elements of f16, bf16 or f32, but has 'memref<2x9x11x8xf64>'}}
  dnn.norm_gradient %x layout nhwc of %z by(%c, %c) sums(%c, %c)
      : memref<2x9x11x8xf64>, memref<2x9x11x8xf64>, memref<8xf32>, memref<8xf32>, memref<8xf32>, memref<8xf32>
  return
}

// -----

// The normalisation's input is as its gradient.
func.func @conv_c31(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>, %z: memref<2x9x11x8xf32>, %c: memref<8xf32>) {
  dnn.conv backward_data x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  // expected-error @below {{'dnn.norm_gradient' op needs an input and a mask of type 'memref<2x9x11x8xf16>', but has 'memref<2x9x11x8xf32>'}}
  dnn.norm_gradient %x layout nhwc of %z by(%c, %c) sums(%c, %c)
      : memref<2x9x11x8xf16>, memref<2x9x11x8xf32>, memref<8xf32>, memref<8xf32>, memref<8xf32>, memref<8xf32>
  return
}

// -----

// One number in f32 for each channel, which the layout says.
func.func @conv_c32(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>, %z: memref<2x9x11x8xf16>, %c: memref<9xf32>) {
  dnn.conv backward_data x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  // expected-error @below {{'dnn.norm_gradient' op needs numbers of channels of type 'memref<8xf32>', but has 'memref<9xf32>'}}
  dnn.norm_gradient %x layout nhwc of %z by(%c, %c) sums(%c, %c)
      : memref<2x9x11x8xf16>, memref<2x9x11x8xf16>, memref<9xf32>, memref<9xf32>, memref<9xf32>, memref<9xf32>
  return
}

// -----

// A result is no gradient.
func.func @conv_c33(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>, %z: memref<2x9x11x8xf16>, %c: memref<8xf32>) {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  // expected-error @below {{'dnn.norm_gradient' op needs a dnn.conv backward_data right before it, whose result and layout it names}}
  dnn.norm_gradient %x layout nhwc of %z by(%c, %c) sums(%c, %c)
      : memref<2x9x11x8xf16>, memref<2x9x11x8xf16>, memref<8xf32>, memref<8xf32>, memref<8xf32>, memref<8xf32>
  return
}

// -----

// One activation has one mask.
func.func @conv_c34(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>, %z: memref<2x9x11x8xf16>, %c: memref<8xf32>) {
  dnn.conv backward_data x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  // expected-error @below {{'dnn.norm_gradient' op has a scale and a bias, a mask, or none of them}}
  dnn.norm_gradient %x layout nhwc of %z by(%c, %c) relu(%c : memref<8xf32>, %c : memref<8xf32>)
      mask(%z : memref<2x9x11x8xf16>) sums(%c, %c)
      : memref<2x9x11x8xf16>, memref<2x9x11x8xf16>, memref<8xf32>, memref<8xf32>, memref<8xf32>, memref<8xf32>
  return
}

// -----

// The message about a word that is no layout lists the layouts.
func.func @unknown_layout(%x: memref<1x1x1x1xf16>, %w: memref<1x1x1x1xf16>, %y: memref<1x1x1x1xf16>) {
  // expected-error @below {{expected one of [nchw, nhwc] for a layout, got: chwn}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(chwn, nhwc, nhwc)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1
      : memref<1x1x1x1xf16>, memref<1x1x1x1xf16>, memref<1x1x1x1xf16>
  return
}

// -----

// What is unknown of x is unknown of y.
func.func @conv_c17_open(%x: memref<?x?x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<?x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs an output of ?x11 for this window, but y has 9x11}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<?x?x11x8xf16>, memref<16x3x3x8xf16>, memref<?x9x11x16xf16>
  return
}
