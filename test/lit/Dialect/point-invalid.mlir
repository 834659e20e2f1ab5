// RUN: dnn-opt %s -split-input-file -verify-diagnostics

// A space without points has no kernel.
func.func @sizes() {
  // expected-error@+1 {{needs sizes from 1 to 1073741823}}
  dnn.for_each_point [4, 0] threads 64 {
  ^bb0(%i: index, %j: index):
  }
  return
}

// -----

func.func @threads() {
  // expected-error@+1 {{needs 1 to 1024 threads, but has 2048}}
  dnn.for_each_point [4] threads 2048 {
  ^bb0(%i: index):
  }
  return
}

// -----

func.func @coordinates() {
  // expected-error@+1 {{needs one index argument for each size}}
  dnn.for_each_point [4, 4] threads 64 {
  ^bb0(%i: index):
  }
  return
}

// -----

func.func @rank(%x: memref<8x8xf16>, %i: index) {
  // expected-error@+1 {{has 1 coordinates, but its tensor is 'memref<8x8xf16>'}}
  %v, %ok = dnn.point_load %x[%i] : memref<8x8xf16> -> f16
  return
}

// -----

func.func @element(%x: memref<8xf16>, %v: f32, %i: index) {
  // expected-error@+1 {{has a value of 'f32', but its tensor is 'memref<8xf16>'}}
  dnn.point_store %v, %x[%i] : f32, memref<8xf16>
  return
}

// -----

func.func @inside(%x: memref<8xf16>, %i: index) {
  // expected-error@+1 {{has no dimension 1 to be inside}}
  %v, %ok = dnn.point_load %x[%i] inside [1] : memref<8xf16> -> f16
  return
}

// -----

func.func @dynamic(%x: memref<8xf16, strided<[?]>>, %i: index) {
  // expected-error@+1 {{needs a memref of known strides and offset}}
  %v, %ok = dnn.point_load %x[%i] : memref<8xf16, strided<[?]>> -> f16
  return
}

// -----

func.func @backwards(%x: memref<8xf16, strided<[-1]>>, %i: index) {
  // expected-error@+1 {{needs strides and an offset of at least 0}}
  %v, %ok = dnn.point_load %x[%i] : memref<8xf16, strided<[-1]>> -> f16
  return
}

// -----

func.func @empty(%x: memref<8x0xf16>, %i: index) {
  // expected-error@+1 {{needs sizes from 1 to 1073741823, but has 'memref<8x0xf16>'}}
  %v, %ok = dnn.point_load %x[%i, %i] : memref<8x0xf16> -> f16
  return
}

// -----

func.func @length(%x: memref<9xf16>, %i: index) {
  // expected-error@+1 {{needs a vector whose length is a power of two}}
  %v, %ok = dnn.point_load %x[%i] : memref<9xf16> -> vector<3xf16>
  return
}

// -----

// The elements of a vector must be contiguous.
func.func @neighbours(%x: memref<8xf16, strided<[2]>>, %i: index) {
  // expected-error@+1 {{needs a dimension of stride 1 to be a vector}}
  %v, %ok = dnn.point_load %x[%i] : memref<8xf16, strided<[2]>> -> vector<2xf16>
  return
}

// -----

// The last vector would reach out of the tensor, or into the next row.
func.func @tail(%x: memref<4x6xf16>, %i: index) {
  // expected-error@+1 {{needs a length that divides dimension 1}}
  %v, %ok = dnn.point_load %x[%i, %i] : memref<4x6xf16> -> vector<4xf16>
  return
}

// -----

// The second row's vectors would not be aligned.
func.func @alignment(%x: memref<4x8xf16, strided<[10, 1]>>, %i: index) {
  // expected-error@+1 {{needs strides that the length of its vector divides}}
  %v, %ok = dnn.point_load %x[%i, %i] : memref<4x8xf16, strided<[10, 1]>> -> vector<8xf16>
  return
}

// -----

// A vector along an unknown size could reach into the next row.
func.func @open_vector(%x: memref<4x?xf16>, %i: index) {
  // expected-error@+1 {{needs dimension 1, along which the elements of its vector are, to have a known size}}
  %v, %ok = dnn.point_load %x[%i, %i] : memref<4x?xf16> -> vector<2xf16>
  return
}

// -----

// A stride of an unknown number of rows of six elements is no multiple of four.
func.func @open_stride(%x: memref<8x?x6xf16>, %i: index) {
  // expected-error@+1 {{needs a length that divides dimension 2}}
  %v, %ok = dnn.point_load %x[%i, %i, %i] : memref<8x?x6xf16> -> vector<4xf16>
  return
}

// -----

func.func @open_sizes(%n: index) {
  // expected-error@+1 {{needs sizes from 1 to 1073741823}}
  dnn.for_each_point [%n, 0] threads 64 {
  ^bb0(%i: index, %j: index):
  }
  return
}
