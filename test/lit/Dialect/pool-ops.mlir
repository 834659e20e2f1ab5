// RUN: dnn-opt %s | FileCheck %s
// RUN: dnn-opt %s | dnn-opt | FileCheck %s
// RUN: dnn-opt %s --mlir-print-op-generic | dnn-opt | FileCheck %s
// RUN: dnn-opt %s --emit-bytecode | dnn-opt | FileCheck %s

// The text form is read and written without loss, directly, through the generic form
// and through bytecode.
// CHECK-LABEL: func.func @max_with_indices
// CHECK-SAME:    (%[[X:.*]]: memref<64x112x112x64xf16>, %[[Y:.*]]: memref<64x56x56x64xf16>, %[[I:.*]]: memref<64x56x56x64xi8>) attributes {dnn.kernel}
// CHECK:         dnn.pool forward max x(%[[X]]) y(%[[Y]]) indices(%[[I]] mask) layouts(nhwc, nhwc) window [3, 3] pads [1, 1] strides [2, 2] : memref<64x112x112x64xf16>, memref<64x56x56x64xf16>, memref<64x56x56x64xi8>
func.func @max_with_indices(%x: memref<64x112x112x64xf16>, %y: memref<64x56x56x64xf16>,
                            %i: memref<64x56x56x64xi8>) attributes {dnn.kernel} {
  // EXAMPLE: dnn.pool
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 3] pads [1, 1] strides [2, 2]
      : memref<64x112x112x64xf16>, memref<64x56x56x64xf16>, memref<64x56x56x64xi8>
  // EXAMPLE-END
  return
}

// Forward needs no indices. Height and width differ in every attribute.
// CHECK-LABEL: func.func @max_without_indices
// CHECK:         dnn.pool forward max x(%{{.*}}) y(%{{.*}}) layouts(nchw, nhwc) window [2, 3] pads [0, 1] strides [3, 2] : memref<2x8x9x11xbf16>, memref<2x3x6x8xbf16>
func.func @max_without_indices(%x: memref<2x8x9x11xbf16>, %y: memref<2x3x6x8xbf16>) {
  dnn.pool forward max x(%x) y(%y) layouts(nchw, nhwc)
      window [2, 3] pads [0, 1] strides [3, 2]
      : memref<2x8x9x11xbf16>, memref<2x3x6x8xbf16>
  return
}

// Padding may differ between the ends: y is (9 + 0 + 1 - 2) / 2 + 1 by 11 + 2 - 3 + 1.
// CHECK-LABEL: func.func @average_unequal_pads
// CHECK:         window [2, 3] pads [0, 2] after [1, 0] strides [2, 1]
func.func @average_unequal_pads(%x: memref<2x9x11x8xf32>, %y: memref<2x5x11x8xf32>) {
  dnn.pool forward average x(%x) y(%y) layouts(nhwc, nhwc)
      window [2, 3] pads [0, 2] after [1, 0] strides [2, 1]
      : memref<2x9x11x8xf32>, memref<2x5x11x8xf32>
  return
}

// There may be three spatial dimensions and tensors with gaps between the rows;
// indices are packed.
// CHECK-LABEL: func.func @backward_3d
// CHECK:         dnn.pool backward max {{.*}} indices(%{{.*}} image) layouts(nchw, nchw) window [2, 2, 2] pads [1, 0, 0] strides [2, 2, 1]
func.func @backward_3d(%x: memref<1x2x4x6x5xf32, strided<[400, 200, 48, 8, 1]>>,
                       %y: memref<1x2x3x3x4xf32, strided<[120, 60, 20, 5, 1]>>,
                       %i: memref<1x2x3x3x4xi32>) {
  dnn.pool backward max x(%x) y(%y) indices(%i image) layouts(nchw, nchw)
      window [2, 2, 2] pads [1, 0, 0] strides [2, 2, 1]
      : memref<1x2x4x6x5xf32, strided<[400, 200, 48, 8, 1]>>,
        memref<1x2x3x3x4xf32, strided<[120, 60, 20, 5, 1]>>, memref<1x2x3x3x4xi32>
  return
}

// The example of docs/spec/pooling.md.
// CHECK-LABEL: func.func @pool(
// EXAMPLE: docs/spec/pooling.md
func.func @pool(%x: memref<1x4x4x1xf32>, %y: memref<1x3x3x1xf32>,
                %i: memref<1x3x3x1xi8>) attributes {dnn.kernel} {
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [2, 2] pads [1, 1] strides [2, 2]
      : memref<1x4x4x1xf32>, memref<1x3x3x1xf32>, memref<1x3x3x1xi8>
  return
}
// EXAMPLE-END

// A maximum in which a NaN wins has indices like the other one.
// CHECK-LABEL: func.func @max_nan
// CHECK:         dnn.pool forward max_nan x
// CHECK:         dnn.pool backward max_nan x
func.func @max_nan(%x: memref<1x1x4x4xf32>, %y: memref<1x1x2x2xf32>, %i: memref<1x1x2x2xi8>) {
  dnn.pool forward max_nan x(%x) y(%y) layouts(nchw, nchw)
      window [2, 2] pads [0, 0] strides [2, 2] : memref<1x1x4x4xf32>, memref<1x1x2x2xf32>
  dnn.pool backward max_nan x(%x) y(%y) indices(%i mask) layouts(nchw, nchw)
      window [2, 2] pads [0, 0] strides [2, 2]
      : memref<1x1x4x4xf32>, memref<1x1x2x2xf32>, memref<1x1x2x2xi8>
  return
}

// Averages have no indices in either direction. If the window is larger than the
// padded input there is still one output. A window that covers only padding is
// empty.
// CHECK-LABEL: func.func @averages
// CHECK:         dnn.pool backward average x
// CHECK:         dnn.pool forward average_inclusive x
func.func @averages(%x: memref<1x1x2x2xf32>, %y: memref<1x1x1x1xf32>, %z: memref<1x1x5x5xf32>) {
  dnn.pool backward average x(%x) y(%y) layouts(nchw, nchw)
      window [5, 5] pads [0, 0] strides [1, 1] : memref<1x1x2x2xf32>, memref<1x1x1x1xf32>
  dnn.pool forward average_inclusive x(%x) y(%z) layouts(nchw, nchw)
      window [2, 2] pads [2, 2] strides [1, 1] : memref<1x1x2x2xf32>, memref<1x1x5x5xf32>
  return
}

// 8 bits are enough for 254 positions of a window; the index of a pixel needs more.
// CHECK-LABEL: func.func @widest_window_of_8_bits
// CHECK:         dnn.pool
func.func @widest_window_of_8_bits(%x: memref<1x1x2x127xf32>, %y: memref<1x1x1x1xf32>,
                                   %i: memref<1x1x1x1xi8>) {
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nchw, nchw)
      window [2, 127] pads [0, 0] strides [1, 1]
      : memref<1x1x2x127xf32>, memref<1x1x1x1xf32>, memref<1x1x1x1xi8>
  return
}

// Modes can stand alone as attributes.
// CHECK-LABEL: func.func private @attributes
// CHECK-SAME:    direction = #dnn.pool_direction<backward>
// CHECK-SAME:    indexMode = #dnn.index_mode<image>
// CHECK-SAME:    mode = #dnn.pool_mode<average_inclusive>
func.func private @attributes() attributes {
  direction = #dnn.pool_direction<backward>, indexMode = #dnn.index_mode<image>,
  mode = #dnn.pool_mode<average_inclusive>}
