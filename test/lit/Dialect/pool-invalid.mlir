// RUN: dnn-opt %s --split-input-file --verify-diagnostics

// dnn.pool refuses each of these, at least one for each constraint of
// docs/spec/pooling.md. Each is a valid pooling with one thing changed.

// Without a batch there is no image.
func.func @pool_c1(%x: memref<9x11x8xf16>, %y: memref<2x5x6x8xf16>, %i: memref<2x5x6x8xi8>) {
  // expected-error @below {{'dnn.pool' op needs a tensor of rank 4 or 5, but x has rank 3}}
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 3] pads [1, 1] strides [2, 2]
      : memref<9x11x8xf16>, memref<2x5x6x8xf16>, memref<2x5x6x8xi8>
  return
}

// -----

// Input and output have the same rank.
func.func @pool_c2(%x: memref<2x9x11x8xf16>, %y: memref<2x1x5x6x8xf16>, %i: memref<2x5x6x8xi8>) {
  // expected-error @below {{'dnn.pool' op needs one rank, but x has 4 and y has 5}}
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 3] pads [1, 1] strides [2, 2]
      : memref<2x9x11x8xf16>, memref<2x1x5x6x8xf16>, memref<2x5x6x8xi8>
  return
}

// -----

// Images of unknown sizes are packed.
func.func @pool_c3(%x: memref<?x9x11x8xf16, strided<[800, 88, 8, 1]>>, %y: memref<?x5x6x8xf16>, %i: memref<?x5x6x8xi8>) {
  // expected-error @below {{'dnn.pool' op needs static sizes of at least 1, or unknown ones of packed images, but x is 'memref<?x9x11x8xf16, strided<[800, 88, 8, 1]>>'}}
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 3] pads [1, 1] strides [2, 2]
      : memref<?x9x11x8xf16, strided<[800, 88, 8, 1]>>, memref<?x5x6x8xf16>, memref<?x5x6x8xi8>
  return
}

// -----

// A tensor must not be empty.
func.func @pool_c3_empty(%x: memref<2x9x11x8xf16>, %y: memref<2x5x6x0xf16>, %i: memref<2x5x6x8xi8>) {
  // expected-error @below {{'dnn.pool' op needs static sizes of at least 1, or unknown ones of packed images, but y is 'memref<2x5x6x0xf16>'}}
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 3] pads [1, 1] strides [2, 2]
      : memref<2x9x11x8xf16>, memref<2x5x6x0xf16>, memref<2x5x6x8xi8>
  return
}

// -----

// Strides must be known.
func.func @pool_c4(%x: memref<2x9x11x8xf16, strided<[?, 88, 8, 1]>>, %y: memref<2x5x6x8xf16>, %i: memref<2x5x6x8xi8>) {
  // expected-error @below {{'dnn.pool' op needs static strides of at least 1 and no offset, but x is 'memref<2x9x11x8xf16, strided<[?, 88, 8, 1]>>'}}
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 3] pads [1, 1] strides [2, 2]
      : memref<2x9x11x8xf16, strided<[?, 88, 8, 1]>>, memref<2x5x6x8xf16>, memref<2x5x6x8xi8>
  return
}

// -----

// A tensor begins at its pointer, without an offset.
func.func @pool_c4_offset(%x: memref<2x9x11x8xf16>, %y: memref<2x5x6x8xf16, strided<[240, 48, 8, 1], offset: 4>>, %i: memref<2x5x6x8xi8>) {
  // expected-error @below {{'dnn.pool' op needs static strides of at least 1 and no offset, but y is 'memref<2x5x6x8xf16, strided<[240, 48, 8, 1], offset: 4>>'}}
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 3] pads [1, 1] strides [2, 2]
      : memref<2x9x11x8xf16>, memref<2x5x6x8xf16, strided<[240, 48, 8, 1], offset: 4>>, memref<2x5x6x8xi8>
  return
}

// -----

// MIOpen has no stride of 0, which would repeat a tensor.
func.func @pool_c4_broadcast(%x: memref<2x9x11x8xf16, strided<[0, 88, 8, 1]>>, %y: memref<2x5x6x8xf16>, %i: memref<2x5x6x8xi8>) {
  // expected-error @below {{'dnn.pool' op needs static strides of at least 1 and no offset, but x is 'memref<2x9x11x8xf16, strided<[0, 88, 8, 1]>>'}}
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 3] pads [1, 1] strides [2, 2]
      : memref<2x9x11x8xf16, strided<[0, 88, 8, 1]>>, memref<2x5x6x8xf16>, memref<2x5x6x8xi8>
  return
}

// -----

// Rows may not overlap.
func.func @pool_c5(%x: memref<2x9x11x8xf16>, %y: memref<2x5x6x8xf16, strided<[240, 47, 8, 1]>>, %i: memref<2x5x6x8xi8>) {
  // expected-error @below {{'dnn.pool' op needs elements that do not overlap, but y is 'memref<2x5x6x8xf16, strided<[240, 47, 8, 1]>>'}}
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 3] pads [1, 1] strides [2, 2]
      : memref<2x9x11x8xf16>, memref<2x5x6x8xf16, strided<[240, 47, 8, 1]>>, memref<2x5x6x8xi8>
  return
}

// -----

// Integers have no kernels.
func.func @pool_c6(%x: memref<2x9x11x8xi8>, %y: memref<2x5x6x8xf16>, %i: memref<2x5x6x8xi8>) {
  // expected-error @below {{'dnn.pool' op needs elements of type f16, bf16 or f32, but x has 'i8'}}
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 3] pads [1, 1] strides [2, 2]
      : memref<2x9x11x8xi8>, memref<2x5x6x8xf16>, memref<2x5x6x8xi8>
  return
}

// -----

// The pooling converts no types.
func.func @pool_c7(%x: memref<2x9x11x8xf16>, %y: memref<2x5x6x8xf32>, %i: memref<2x5x6x8xi8>) {
  // expected-error @below {{'dnn.pool' op needs one element type, but x has 'f16' and y has 'f32'}}
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 3] pads [1, 1] strides [2, 2]
      : memref<2x9x11x8xf16>, memref<2x5x6x8xf32>, memref<2x5x6x8xi8>
  return
}

// -----

// A window has the dimensions of the image.
func.func @pool_c8(%x: memref<2x9x11x8xf16>, %y: memref<2x5x6x8xf16>, %i: memref<2x5x6x8xi8>) {
  // expected-error @below {{'dnn.pool' op needs 2 entries in pads for tensors of rank 4, but has 3}}
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 3] pads [0, 1, 1] strides [2, 2]
      : memref<2x9x11x8xf16>, memref<2x5x6x8xf16>, memref<2x5x6x8xi8>
  return
}

// -----

// A window without positions has no maximum.
func.func @pool_c9(%x: memref<2x9x11x8xf16>, %y: memref<2x5x6x8xf16>, %i: memref<2x5x6x8xi8>) {
  // expected-error @below {{'dnn.pool' op needs window of at least 1, but has 0}}
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 0] pads [1, 1] strides [2, 2]
      : memref<2x9x11x8xf16>, memref<2x5x6x8xf16>, memref<2x5x6x8xi8>
  return
}

// -----

// A negative pad would crop.
func.func @pool_c10(%x: memref<2x9x11x8xf16>, %y: memref<2x5x6x8xf16>, %i: memref<2x5x6x8xi8>) {
  // expected-error @below {{'dnn.pool' op needs pads of at least 0, but has -1}}
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 3] pads [-1, 1] strides [2, 2]
      : memref<2x9x11x8xf16>, memref<2x5x6x8xf16>, memref<2x5x6x8xi8>
  return
}

// -----

// Padding after the last element is of every dimension, too.
func.func @pool_c21(%x: memref<2x9x11x8xf16>, %y: memref<2x5x6x8xf16>, %i: memref<2x5x6x8xi8>) {
  // expected-error @below {{'dnn.pool' op needs 2 entries in pads after for tensors of rank 4, but has 3}}
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 3] pads [1, 1] after [1, 1, 1] strides [2, 2]
      : memref<2x9x11x8xf16>, memref<2x5x6x8xf16>, memref<2x5x6x8xi8>
  return
}

// -----

// Negative padding after the last element would crop.
func.func @pool_c21_negative(%x: memref<2x9x11x8xf16>, %y: memref<2x5x6x8xf16>, %i: memref<2x5x6x8xi8>) {
  // expected-error @below {{'dnn.pool' op needs pads after of at least 0, but has -1}}
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 3] pads [1, 1] after [1, -1] strides [2, 2]
      : memref<2x9x11x8xf16>, memref<2x5x6x8xf16>, memref<2x5x6x8xi8>
  return
}

// -----

// With stride 0 the number of positions of the window is undefined.
func.func @pool_c11(%x: memref<2x9x11x8xf16>, %y: memref<2x5x6x8xf16>, %i: memref<2x5x6x8xi8>) {
  // expected-error @below {{'dnn.pool' op needs strides of at least 1, but has 0}}
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 3] pads [1, 1] strides [2, 0]
      : memref<2x9x11x8xf16>, memref<2x5x6x8xf16>, memref<2x5x6x8xi8>
  return
}

// -----

// Every image has its output.
func.func @pool_c12(%x: memref<2x9x11x8xf16>, %y: memref<3x5x6x8xf16>, %i: memref<2x5x6x8xi8>) {
  // expected-error @below {{'dnn.pool' op needs one batch size, but x has 2 images and y has 3}}
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 3] pads [1, 1] strides [2, 2]
      : memref<2x9x11x8xf16>, memref<3x5x6x8xf16>, memref<2x5x6x8xi8>
  return
}

// -----

// Every channel has its output.
func.func @pool_c13(%x: memref<2x9x11x8xf16>, %y: memref<2x5x6x4xf16>, %i: memref<2x5x6x8xi8>) {
  // expected-error @below {{'dnn.pool' op needs one number of channels, but x has 8 and y has 4}}
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 3] pads [1, 1] strides [2, 2]
      : memref<2x9x11x8xf16>, memref<2x5x6x4xf16>, memref<2x5x6x8xi8>
  return
}

// -----

// The window fixes the output's size; here a layout is taken for another.
func.func @pool_c14(%x: memref<2x9x11x8xf16>, %y: memref<2x8x6x8xf16>, %i: memref<2x5x6x8xi8>) {
  // expected-error @below {{'dnn.pool' op needs an output of 5x6 for this window, but y has 6x8}}
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nchw)
      window [3, 3] pads [1, 1] strides [2, 2]
      : memref<2x9x11x8xf16>, memref<2x8x6x8xf16>, memref<2x5x6x8xi8>
  return
}

// -----

// An average has no index.
func.func @pool_c15(%x: memref<2x9x11x8xf16>, %y: memref<2x5x6x8xf16>, %i: memref<2x5x6x8xi8>) {
  // expected-error @below {{'dnn.pool' op needs mode max or max_nan for indices, but has average}}
  dnn.pool forward average x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 3] pads [1, 1] strides [2, 2]
      : memref<2x9x11x8xf16>, memref<2x5x6x8xf16>, memref<2x5x6x8xi8>
  return
}

// -----

// Backward needs the indices, because it has no x to find the maxima in.
func.func @pool_c16(%x: memref<2x9x11x8xf16>, %y: memref<2x5x6x8xf16>) {
  // expected-error @below {{'dnn.pool' op needs the indices of the maxima to go backward}}
  dnn.pool backward max x(%x) y(%y) layouts(nhwc, nhwc)
      window [3, 3] pads [1, 1] strides [2, 2]
      : memref<2x9x11x8xf16>, memref<2x5x6x8xf16>
  return
}

// -----

// The index mode and the indices belong together. Only the generic form can have one
// without the other.
func.func @pool_c17(%x: memref<1x1x2x2xf32>, %y: memref<1x1x1x1xf32>) {
  // expected-error @below {{'dnn.pool' op needs an index mode with indices, and only then}}
  "dnn.pool"(%x, %y) <{direction = #dnn.pool_direction<forward>, mode = #dnn.pool_mode<max>,
      indexMode = #dnn.index_mode<mask>, xLayout = #dnn.layout<nchw>, yLayout = #dnn.layout<nchw>,
      window = array<i64: 2, 2>, pads = array<i64: 0, 0>, strides = array<i64: 1, 1>}>
      : (memref<1x1x2x2xf32>, memref<1x1x1x1xf32>) -> ()
  return
}

// -----

// Indices are whole numbers of one to eight bytes.
func.func @pool_c18(%x: memref<2x9x11x8xf16>, %y: memref<2x5x6x8xf16>, %i: memref<2x5x6x8xi24>) {
  // expected-error @below {{'dnn.pool' op needs indices of type i8, i16, i32 or i64, but has 'i24'}}
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 3] pads [1, 1] strides [2, 2]
      : memref<2x9x11x8xf16>, memref<2x5x6x8xf16>, memref<2x5x6x8xi24>
  return
}

// -----

// One index for each element of y.
func.func @pool_c19(%x: memref<2x9x11x8xf16>, %y: memref<2x5x6x8xf16>, %i: memref<2x9x11x8xi8>) {
  // expected-error @below {{'dnn.pool' op needs packed indices of y's shape, but y is 'memref<2x5x6x8xf16>' and indices are 'memref<2x9x11x8xi8>'}}
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 3] pads [1, 1] strides [2, 2]
      : memref<2x9x11x8xf16>, memref<2x5x6x8xf16>, memref<2x9x11x8xi8>
  return
}

// -----

// Indices have no gaps, even where y has.
func.func @pool_c19_strided(%x: memref<2x9x11x8xf16>, %y: memref<2x5x6x8xf16, strided<[300, 60, 10, 1]>>, %i: memref<2x5x6x8xi8, strided<[300, 60, 10, 1]>>) {
  // expected-error @below {{'dnn.pool' op needs packed indices of y's shape, but y is 'memref<2x5x6x8xf16, strided<[300, 60, 10, 1]>>' and indices are 'memref<2x5x6x8xi8, strided<[300, 60, 10, 1]>>'}}
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 3] pads [1, 1] strides [2, 2]
      : memref<2x9x11x8xf16>, memref<2x5x6x8xf16, strided<[300, 60, 10, 1]>>, memref<2x5x6x8xi8, strided<[300, 60, 10, 1]>>
  return
}

// -----

// By MIOpen's rule the index type needs one number more than there are positions.
func.func @pool_c20(%x: memref<2x15x17x8xf16>, %y: memref<2x1x1x8xf16>, %i: memref<2x1x1x8xi8>) {
  // expected-error @below {{'dnn.pool' op needs an index type whose largest number is greater than the 255 positions of the window, but 8 bits end at 255}}
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [15, 17] pads [0, 0] strides [2, 2]
      : memref<2x15x17x8xf16>, memref<2x1x1x8xf16>, memref<2x1x1x8xi8>
  return
}

// -----

// For indices in the image its size counts, not that of the window.
func.func @pool_c20_image(%x: memref<1x256x256x8xf16>, %y: memref<1x128x128x8xf16>, %i: memref<1x128x128x8xi16>) {
  // expected-error @below {{'dnn.pool' op needs an index type whose largest number is greater than the 65536 pixels of x, but 16 bits end at 65535}}
  dnn.pool forward max x(%x) y(%y) indices(%i image) layouts(nhwc, nhwc)
      window [3, 3] pads [1, 1] strides [2, 2]
      : memref<1x256x256x8xf16>, memref<1x128x128x8xf16>, memref<1x128x128x8xi16>
  return
}

// -----

// The message about a word that is no mode lists the modes.
func.func @unknown_mode(%x: memref<1x1x1x1xf16>, %y: memref<1x1x1x1xf16>) {
  // expected-error @below {{expected one of [max, average, average_inclusive, max_nan] for a pooling mode, got: min}}
  dnn.pool forward min x(%x) y(%y) layouts(nchw, nchw)
      window [1, 1] pads [0, 0] strides [1, 1] : memref<1x1x1x1xf16>, memref<1x1x1x1xf16>
  return
}
