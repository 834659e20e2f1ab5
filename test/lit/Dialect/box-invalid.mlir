// RUN: dnn-opt %s -split-input-file -verify-diagnostics

func.func @rank(%x: memref<9x64xbf16>, %b: memref<2x8x32xbf16>, %i: index) {
  // expected-error@+1 {{needs a coordinate and an extent for each of 1 to 5 dimensions, but its tensor is 'memref<9x64xbf16>'}}
  dnn.box_load %x[%i] box [8, 32] to %b[%i] : memref<9x64xbf16> to memref<2x8x32xbf16>
  return
}

// -----

func.func @extent(%x: memref<999x64xbf16>, %b: memref<2x264x32xbf16>, %i: index) {
  // expected-error@+1 {{needs extents from 1 to 256}}
  dnn.box_load %x[%i, %i] box [264, 32] to %b[%i] : memref<999x64xbf16> to memref<2x264x32xbf16>
  return
}

// -----

func.func @type(%x: memref<9x64xi8>, %b: memref<2x8x32xi8>, %i: index) {
  // expected-error@+1 {{needs elements of f16, bf16 or f32, but has 'memref<9x64xi8>'}}
  dnn.box_load %x[%i, %i] box [8, 32] to %b[%i] : memref<9x64xi8> to memref<2x8x32xi8>
  return
}

// -----

func.func @stride(%x: memref<9x64xbf16, strided<[128, 2]>>, %b: memref<2x8x32xbf16>, %i: index) {
  // expected-error@+1 {{needs a dimension of stride 1}}
  dnn.box_load %x[%i, %i] box [8, 32] to %b[%i] : memref<9x64xbf16, strided<[128, 2]>> to memref<2x8x32xbf16>
  return
}

// -----

func.func @buffer(%x: memref<9x64xbf16>, %b: memref<2x8x16xbf16>, %i: index) {
  // expected-error@+1 {{needs a buffer of slots, of 8 rows of 32 elements of its tensor, but has 'memref<2x8x16xbf16>'}}
  dnn.box_load %x[%i, %i] box [8, 32] to %b[%i] : memref<9x64xbf16> to memref<2x8x16xbf16>
  return
}

// -----

func.func @rows(%x: memref<9x64xbf16>, %b: memref<2x4x32xbf16>, %i: index) {
  // expected-error@+1 {{needs boxes of whole 8 rows, but has 4}}
  dnn.box_load %x[%i, %i] box [4, 32] to %b[%i] : memref<9x64xbf16> to memref<2x4x32xbf16>
  return
}

// -----

func.func @bytes(%x: memref<9x64xbf16>, %b: memref<2x8x24xbf16>, %i: index) {
  // expected-error@+1 {{needs rows of 16, 32, 64 or 128 bytes, but they have 48}}
  dnn.box_load %x[%i, %i] box [8, 24] to %b[%i] : memref<9x64xbf16> to memref<2x8x24xbf16>
  return
}

// -----

// expected-note@+1 {{prior use here}}
func.func @condition(%x: memref<9x64xbf16>, %b: memref<2x8x32xbf16>, %i: index) {
  // expected-error@+1 {{expects different type than prior uses: 'i1' vs 'index'}}
  dnn.box_load %x[%i, %i] box [8, 32] to %b[%i] if %i : memref<9x64xbf16> to memref<2x8x32xbf16>
  return
}

// -----

func.func @slots(%y: memref<9x64xbf16>, %b: memref<2x8x32xbf16>, %i: index) {
  // expected-error@+1 {{needs a buffer of one slot, but has 'memref<2x8x32xbf16>'}}
  dnn.box_store %b to %y[%i, %i] box [8, 32] : memref<2x8x32xbf16> to memref<9x64xbf16>
  return
}

// -----

func.func @matrices(%b: memref<8x32xbf16>, %i: index) {
  // expected-error@+1 {{needs four matrices, of each a pair, but has 'vector<2x2xbf16>'}}
  %v = dnn.load_matrices %b[%i, %i] : memref<8x32xbf16> -> vector<2x2xbf16>
  return
}

// -----

func.func @element(%b: memref<8x32xf16>, %v: vector<4x2xbf16>, %i: index) {
  // expected-error@+1 {{needs the element type of its buffer}}
  dnn.store_matrices %v, %b[%i, %i] : vector<4x2xbf16>, memref<8x32xf16>
  return
}

// -----

func.func @indices(%b: memref<8x32xbf16>, %i: index) {
  // expected-error@+1 {{has 1 coordinates, but its buffer is 'memref<8x32xbf16>'}}
  %v = dnn.load_matrices %b[%i] : memref<8x32xbf16> -> vector<4x2xbf16>
  return
}

// -----

func.func @plain_row(%x: memref<9x60xbf16>, %b: memref<2x8x12xbf16>, %i: index) {
  // expected-error@+1 {{needs rows of whole 16 bytes, but they have 24}}
  dnn.box_load %x[%i, %i] box [8, 12] plain to %b[%i] : memref<9x60xbf16> to memref<2x8x12xbf16>
  return
}

// -----

func.func @plain_slot(%x: memref<9x64xbf16>, %b: memref<2x9x24xbf16>, %i: index) {
  // expected-error@+1 {{needs slots of whole 128 bytes, but they have 432}}
  dnn.box_load %x[%i, %i] box [9, 24] plain to %b[%i] : memref<9x64xbf16> to memref<2x9x24xbf16>
  return
}

// -----

func.func @plain_few(%x: memref<9x64xbf16>, %b: memref<2x8x32xbf16>, %i: index) {
  // expected-error@+1 {{needs a buffer of slots, of 9 rows of 32 elements of its tensor}}
  dnn.box_load %x[%i, %i] box [9, 32] plain to %b[%i] : memref<9x64xbf16> to memref<2x8x32xbf16>
  return
}
