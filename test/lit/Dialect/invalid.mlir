// RUN: dnn-opt %s --split-input-file --verify-diagnostics

// What dnn.conv refuses, one function a constraint of docs/spec/convolution.md.
// Each is a valid convolution with a single thing changed.

// A tensor of rank 5 is a 3-D problem.
func.func @conv_c1(%x: memref<2x9x11x8xf16>, %w: memref<16x1x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs a tensor of rank 4, but w has rank 5}}
  dnn.conv forward ins(%x, %w) outs(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x1x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// Sizes must be known.
func.func @conv_c2(%x: memref<?x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs static sizes of at least 1, but x is 'memref<?x9x11x8xf16>'}}
  dnn.conv forward ins(%x, %w) outs(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<?x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// An empty tensor is as little a problem as an unknown one.
func.func @conv_c2_empty(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<0x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs static sizes of at least 1, but y is 'memref<0x9x11x16xf16>'}}
  dnn.conv forward ins(%x, %w) outs(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<0x9x11x16xf16>
  return
}

// -----

// Rows with a gap after them are not packed.
func.func @conv_c3(%x: memref<2x9x11x8xf16, strided<[800, 88, 8, 1]>>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs packed tensors, but x is 'memref<2x9x11x8xf16, strided<[800, 88, 8, 1]>>'}}
  dnn.conv forward ins(%x, %w) outs(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16, strided<[800, 88, 8, 1]>>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// Integers have no kernels.
func.func @conv_c4(%x: memref<2x9x11x8xi8>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs elements of type f16, bf16 or f32, but x has 'i8'}}
  dnn.conv forward ins(%x, %w) outs(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xi8>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// No conversion is hidden in the convolution.
func.func @conv_c5(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf32>) {
  // expected-error @below {{'dnn.conv' op needs one element type, but x has 'f16' and y has 'f32'}}
  dnn.conv forward ins(%x, %w) outs(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf32>
  return
}

// -----

// The op knows the other directions' names but not yet their rules.
func.func @conv_c6(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs direction forward, but has backward_data}}
  dnn.conv backward_data ins(%x, %w) outs(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// A window has two dimensions.
func.func @conv_c7(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs two entries in strides (height, width), but has 3}}
  dnn.conv forward ins(%x, %w) outs(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// A negative pad would crop.
func.func @conv_c8(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs pads of at least 0, but has -1}}
  dnn.conv forward ins(%x, %w) outs(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, -1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// A window that stands still has no number of positions.
func.func @conv_c9(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs strides of at least 1, but has 0}}
  dnn.conv forward ins(%x, %w) outs(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [0, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// Taps may not fall on one another.
func.func @conv_c10(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs dilations of at least 1, but has 0}}
  dnn.conv forward ins(%x, %w) outs(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 0] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// Without a group there is nothing to compute.
func.func @conv_c11(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs at least 1 group, but has 0}}
  dnn.conv forward ins(%x, %w) outs(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 0
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// Input channels are shared out evenly.
func.func @conv_c12(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs groups that divide the input channels, but 8 channels are in 3 groups}}
  dnn.conv forward ins(%x, %w) outs(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 3
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// Output channels are shared out evenly.
func.func @conv_c13(%x: memref<2x9x11x8xf16>, %w: memref<18x3x3x2xf16>, %y: memref<2x9x11x18xf16>) {
  // expected-error @below {{'dnn.conv' op needs groups that divide the output channels, but 18 channels are in 4 groups}}
  dnn.conv forward ins(%x, %w) outs(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 4
      : memref<2x9x11x8xf16>, memref<18x3x3x2xf16>, memref<2x9x11x18xf16>
  return
}

// -----

// A filter holds the channels of its own group only.
func.func @conv_c14(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs a filter with the 4 input channels of one group, but w has 8}}
  dnn.conv forward ins(%x, %w) outs(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 2
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x16xf16>
  return
}

// -----

// Every image has its output.
func.func @conv_c15(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<3x9x11x16xf16>) {
  // expected-error @below {{'dnn.conv' op needs one batch size, but x has 2 images and y has 3}}
  dnn.conv forward ins(%x, %w) outs(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<3x9x11x16xf16>
  return
}

// -----

// Every filter has its output channel.
func.func @conv_c16(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x9x11x15xf16>) {
  // expected-error @below {{'dnn.conv' op needs one output channel for each filter, but w has 16 and y has 15}}
  dnn.conv forward ins(%x, %w) outs(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x9x11x15xf16>
  return
}

// -----

// The window fixes the output's height and width; here a layout is taken for another.
func.func @conv_c17(%x: memref<2x9x11x8xf16>, %w: memref<16x3x3x8xf16>, %y: memref<2x16x11x9xf16>) {
  // expected-error @below {{'dnn.conv' op needs an output of 9x11 for this window, but y has 11x9}}
  dnn.conv forward ins(%x, %w) outs(%y) layouts(nhwc, nhwc, nchw)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x9x11x8xf16>, memref<16x3x3x8xf16>, memref<2x16x11x9xf16>
  return
}

// -----

// A word that is no layout is named with the choices.
func.func @unknown_layout(%x: memref<1x1x1x1xf16>, %w: memref<1x1x1x1xf16>, %y: memref<1x1x1x1xf16>) {
  // expected-error @below {{expected one of [nchw, nhwc] for a layout, got: chwn}}
  dnn.conv forward ins(%x, %w) outs(%y) layouts(chwn, nhwc, nhwc)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1
      : memref<1x1x1x1xf16>, memref<1x1x1x1xf16>, memref<1x1x1x1xf16>
  return
}
