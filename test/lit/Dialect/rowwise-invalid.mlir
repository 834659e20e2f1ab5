// RUN: dnn-opt %s --split-input-file --verify-diagnostics

// dnn.row_wise refuses each of these, at least one for each constraint of
// docs/spec/row-wise.md. Each is a valid op with one thing changed.

// A space has at most five dimensions.
func.func @rowwise_c1(%x: memref<3x7xf32>, %s: memref<3x1xf32>, %y: memref<3x7xf32>) {
  // expected-error @below {{'dnn.row_wise' op needs 1 to 5 dimensions of at least 1, of which the first may be unknown if it is not reduced, but has [1, 1, 1, 1, 3, 7]}}
  dnn.row_wise [1, 1, 1, 1, 3, 7] reduced [1] ins(%x : memref<3x7xf32>) rowouts(%s : memref<3x1xf32>) outs(%y : memref<3x7xf32>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield %sum : f32
    }
    map {
    ^bb0(%e: f32, %sum: f32):
      dnn.yield %sum : f32
    }
  return
}

// -----

// The length of a row is known.
func.func @rowwise_c1_open(%x: memref<3x?xf32>, %s: memref<3x1xf32>) {
  // expected-error @below {{needs 1 to 5 dimensions of at least 1, of which the first may be unknown if it is not reduced}}
  dnn.row_wise [3, ?] reduced [1] ins(%x : memref<3x?xf32>) rowouts(%s : memref<3x1xf32>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield %sum : f32
    }
  return
}

// -----

// An empty space has no rows.
func.func @rowwise_c1_empty(%x: memref<3x7xf32>, %s: memref<3x1xf32>, %y: memref<3x7xf32>) {
  // expected-error @below {{'dnn.row_wise' op needs 1 to 5 dimensions of at least 1, of which the first may be unknown if it is not reduced, but has [3, 0]}}
  dnn.row_wise [3, 0] reduced [1] ins(%x : memref<3x7xf32>) rowouts(%s : memref<3x1xf32>) outs(%y : memref<3x7xf32>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield %sum : f32
    }
    map {
    ^bb0(%e: f32, %sum: f32):
      dnn.yield %sum : f32
    }
  return
}

// -----

// A dimension is reduced at most once.
func.func @rowwise_c2(%x: memref<3x7xf32>, %s: memref<3x1xf32>, %y: memref<3x7xf32>) {
  // expected-error @below {{'dnn.row_wise' op needs reduced dimensions in ascending order and below 2, but has [1, 1]}}
  dnn.row_wise [3, 7] reduced [1, 1] ins(%x : memref<3x7xf32>) rowouts(%s : memref<3x1xf32>) outs(%y : memref<3x7xf32>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield %sum : f32
    }
    map {
    ^bb0(%e: f32, %sum: f32):
      dnn.yield %sum : f32
    }
  return
}

// -----

// Only dimensions of the space can be reduced.
func.func @rowwise_c2_beyond(%x: memref<3x7xf32>, %s: memref<3x1xf32>, %y: memref<3x7xf32>) {
  // expected-error @below {{'dnn.row_wise' op needs reduced dimensions in ascending order and below 2, but has [2]}}
  dnn.row_wise [3, 7] reduced [2] ins(%x : memref<3x7xf32>) rowouts(%s : memref<3x1xf32>) outs(%y : memref<3x7xf32>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield %sum : f32
    }
    map {
    ^bb0(%e: f32, %sum: f32):
      dnn.yield %sum : f32
    }
  return
}

// -----

// A tensor has the dimensions of the space.
func.func @rowwise_c3(%x: memref<3xf32>, %s: memref<3x1xf32>, %y: memref<3x7xf32>) {
  // expected-error @below {{'dnn.row_wise' op needs tensors of static sizes, but for an unknown first one of the space, and rank 2, but has 'memref<3xf32>'}}
  dnn.row_wise [3, 7] reduced [1] ins(%x : memref<3xf32>) rowouts(%s : memref<3x1xf32>) outs(%y : memref<3x7xf32>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield %sum : f32
    }
    map {
    ^bb0(%e: f32, %sum: f32):
      dnn.yield %sum : f32
    }
  return
}

// -----

// A size is unknown only where the space has an unknown one.
func.func @rowwise_c3_dynamic(%x: memref<?x7xf32>, %s: memref<3x1xf32>, %y: memref<3x7xf32>) {
  // expected-error @below {{'dnn.row_wise' op needs tensors of static sizes, but for an unknown first one of the space, and rank 2, but has 'memref<?x7xf32>'}}
  dnn.row_wise [3, 7] reduced [1] ins(%x : memref<?x7xf32>) rowouts(%s : memref<3x1xf32>) outs(%y : memref<3x7xf32>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield %sum : f32
    }
    map {
    ^bb0(%e: f32, %sum: f32):
      dnn.yield %sum : f32
    }
  return
}

// -----

// An input's length along a dimension is that of the space, or 1 if it is broadcast.
func.func @rowwise_c4(%x: memref<3x6xf32>, %s: memref<3x1xf32>, %y: memref<3x7xf32>) {
  // expected-error @below {{'dnn.row_wise' op needs inputs of size 1 or the size of the space [3, 7], but has 'memref<3x6xf32>'}}
  dnn.row_wise [3, 7] reduced [1] ins(%x : memref<3x6xf32>) rowouts(%s : memref<3x1xf32>) outs(%y : memref<3x7xf32>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield %sum : f32
    }
    map {
    ^bb0(%e: f32, %sum: f32):
      dnn.yield %sum : f32
    }
  return
}

// -----

// A row output has one element for each row.
func.func @rowwise_c5(%x: memref<3x7xf32>, %s: memref<3x7xf32>, %y: memref<3x7xf32>) {
  // expected-error @below {{'dnn.row_wise' op needs row outputs of size 1 where the space is reduced and else the size of the space [3, 7], but has 'memref<3x7xf32>'}}
  dnn.row_wise [3, 7] reduced [1] ins(%x : memref<3x7xf32>) rowouts(%s : memref<3x7xf32>) outs(%y : memref<3x7xf32>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield %sum : f32
    }
    map {
    ^bb0(%e: f32, %sum: f32):
      dnn.yield %sum : f32
    }
  return
}

// -----

// A row output has an element for every row.
func.func @rowwise_c5_rows(%x: memref<3x7xf32>, %s: memref<1x1xf32>, %y: memref<3x7xf32>) {
  // expected-error @below {{'dnn.row_wise' op needs row outputs of size 1 where the space is reduced and else the size of the space [3, 7], but has 'memref<1x1xf32>'}}
  dnn.row_wise [3, 7] reduced [1] ins(%x : memref<3x7xf32>) rowouts(%s : memref<1x1xf32>) outs(%y : memref<3x7xf32>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield %sum : f32
    }
    map {
    ^bb0(%e: f32, %sum: f32):
      dnn.yield %sum : f32
    }
  return
}

// -----

// An output has an element for every element of the space.
func.func @rowwise_c6(%x: memref<3x7xf32>, %s: memref<3x1xf32>, %y: memref<3x1xf32>) {
  // expected-error @below {{'dnn.row_wise' op needs outputs of the sizes of the space [3, 7], but has 'memref<3x1xf32>'}}
  dnn.row_wise [3, 7] reduced [1] ins(%x : memref<3x7xf32>) rowouts(%s : memref<3x1xf32>) outs(%y : memref<3x1xf32>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield %sum : f32
    }
    map {
    ^bb0(%e: f32, %sum: f32):
      dnn.yield %sum : f32
    }
  return
}

// -----

// Strides must be known.
func.func @rowwise_c7(%x: memref<3x7xf32, strided<[?, 1]>>, %s: memref<3x1xf32>, %y: memref<3x7xf32>) {
  // expected-error @below {{'dnn.row_wise' op needs static strides of at least 1 and no offset, but has 'memref<3x7xf32, strided<[?, 1]>>'}}
  dnn.row_wise [3, 7] reduced [1] ins(%x : memref<3x7xf32, strided<[?, 1]>>) rowouts(%s : memref<3x1xf32>) outs(%y : memref<3x7xf32>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield %sum : f32
    }
    map {
    ^bb0(%e: f32, %sum: f32):
      dnn.yield %sum : f32
    }
  return
}

// -----

// Two elements cannot be written to the same address.
func.func @rowwise_c8(%x: memref<3x7xf32>, %s: memref<3x1xf32>, %y: memref<3x7xf32, strided<[6, 1]>>) {
  // expected-error @below {{'dnn.row_wise' op needs results whose elements do not overlap, but has 'memref<3x7xf32, strided<[6, 1]>>'}}
  dnn.row_wise [3, 7] reduced [1] ins(%x : memref<3x7xf32>) rowouts(%s : memref<3x1xf32>) outs(%y : memref<3x7xf32, strided<[6, 1]>>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield %sum : f32
    }
    map {
    ^bb0(%e: f32, %sum: f32):
      dnn.yield %sum : f32
    }
  return
}

// -----

// Other element types are not supported.
func.func @rowwise_c9(%x: memref<3x7xi16>, %s: memref<3x1xf32>, %y: memref<3x7xf32>) {
  // expected-error @below {{'dnn.row_wise' op needs elements of type f16, bf16, f32, f64, i8, i32 or i64, but has 'i16'}}
  dnn.row_wise [3, 7] reduced [1] ins(%x : memref<3x7xi16>) rowouts(%s : memref<3x1xf32>) outs(%y : memref<3x7xf32>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield %sum : f32
    }
    map {
    ^bb0(%e: f32, %sum: f32):
      dnn.yield %sum : f32
    }
  return
}

// -----

// The op must have an output.
func.func @rowwise_c10(%x: memref<3x7xf32>, %s: memref<3x1xf32>, %y: memref<3x7xf32>) {
  // expected-error @below {{'dnn.row_wise' op needs a row output or an output}}
  dnn.row_wise [3, 7] reduced [1] ins(%x : memref<3x7xf32>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
  return
}

// -----

// Scalars have the type of the arithmetic.
func.func @rowwise_c11(%x: memref<3x7xf32>, %s: memref<3x1xf32>, %y: memref<3x7xf32>, %a: f64) {
  // expected-error @below {{'dnn.row_wise' op needs scalars of 'f32', but has 'f64'}}
  dnn.row_wise [3, 7] reduced [1] ins(%x : memref<3x7xf32>) rowouts(%s : memref<3x1xf32>) outs(%y : memref<3x7xf32>) scalars(%a : f64)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield %sum : f32
    }
    map {
    ^bb0(%e: f32, %sum: f32):
      dnn.yield %sum : f32
    }
  return
}

// -----

// A reduction without a kind reduces nothing.
func.func @rowwise_c12(%x: memref<3x7xf32>, %s: memref<3x1xf32>) {
  // expected-error @below {{'dnn.row_wise' op needs one kind or more for each reduction}}
  "dnn.row_wise"(%x, %s) <{kinds = [[]], lengths = array<i64: 3, 7>, operandSegmentSizes = array<i32: 1, 1, 0, 0>, reduced = array<i64: 1>}> ({
  ^bb0(%sum: f32):
    "dnn.yield"(%sum) : (f32) -> ()
  }, {
  }, {
  ^bb0(%e: f32):
    "dnn.yield"(%e) : (f32) -> ()
  }) : (memref<3x7xf32>, memref<3x1xf32>) -> ()
  return
}

// -----

// A reduction may use the results of those before it, and nothing else.
func.func @rowwise_c13(%x: memref<3x7xf32>, %s: memref<3x1xf32>, %y: memref<3x7xf32>) {
  // expected-error @below {{'dnn.row_wise' op needs a region reduce that takes ('f32')}}
  dnn.row_wise [3, 7] reduced [1] ins(%x : memref<3x7xf32>) rowouts(%s : memref<3x1xf32>) outs(%y : memref<3x7xf32>)
    reduce sum {
    ^bb0(%e: f32, %f: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield %sum : f32
    }
    map {
    ^bb0(%e: f32, %sum: f32):
      dnn.yield %sum : f32
    }
  return
}

// -----

// The row region cannot use a single element.
func.func @rowwise_c13_row(%x: memref<3x7xf32>, %s: memref<3x1xf32>, %y: memref<3x7xf32>) {
  // expected-error @below {{'dnn.row_wise' op needs a region row that takes ('f32')}}
  dnn.row_wise [3, 7] reduced [1] ins(%x : memref<3x7xf32>) rowouts(%s : memref<3x1xf32>) outs(%y : memref<3x7xf32>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%e: f32, %sum: f32):
      dnn.yield %sum : f32
    }
    map {
    ^bb0(%e: f32, %sum: f32):
      dnn.yield %sum : f32
    }
  return
}

// -----

// Outputs need a map region that yields their elements.
func.func @rowwise_c13_none(%x: memref<3x7xf32>, %s: memref<3x1xf32>, %y: memref<3x7xf32>) {
  // expected-error @below {{'dnn.row_wise' op needs a region map that takes ('f32', 'f32')}}
  dnn.row_wise [3, 7] reduced [1] ins(%x : memref<3x7xf32>) rowouts(%s : memref<3x1xf32>) outs(%y : memref<3x7xf32>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield %sum : f32
    }
  return
}

// -----

// A reduction yields one value for each of its kinds.
func.func @rowwise_c14(%x: memref<3x7xf32>, %s: memref<3x1xf32>, %y: memref<3x7xf32>) {
  // expected-error @below {{'dnn.row_wise' op needs a reduction that yields a value for each of its 2 kinds, but it yields 1}}
  dnn.row_wise [3, 7] reduced [1] ins(%x : memref<3x7xf32>) rowouts(%s : memref<3x1xf32>) outs(%y : memref<3x7xf32>)
    reduce sum, max {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield %sum : f32
    }
    map {
    ^bb0(%e: f32, %sum: f32):
      dnn.yield %sum : f32
    }
  return
}

// -----

// Integers have no mean.
func.func @rowwise_c14_moments(%x: memref<3x7xf32>, %s: memref<3x1xf32>, %y: memref<3x7xf32>) {
  // expected-error @below {{'dnn.row_wise' op needs a reduction that yields 'f32' for moments, but it yields 'i32'}}
  dnn.row_wise [3, 7] reduced [1] ins(%x : memref<3x7xf32>) rowouts(%s : memref<3x1xf32>) outs(%y : memref<3x7xf32>)
    reduce moments {
    ^bb0(%e: f32):
      %i = dnn.row_index : i32
      dnn.yield %i : i32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield %sum : f32
    }
    map {
    ^bb0(%e: f32, %sum: f32):
      dnn.yield %sum : f32
    }
  return
}

// -----

// The row region yields values of the arithmetic's type, which are rounded once.
func.func @rowwise_c15(%x: memref<3x7xf32>, %s: memref<3x1xf16>, %y: memref<3x7xf32>) {
  // expected-error @below {{'dnn.row_wise' op needs a region row that yields 'f32' for 'memref<3x1xf16>', but it yields 'f16'}}
  dnn.row_wise [3, 7] reduced [1] ins(%x : memref<3x7xf32>) rowouts(%s : memref<3x1xf16>) outs(%y : memref<3x7xf32>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      %r = arith.truncf %sum : f32 to f16
      dnn.yield %r : f16
    }
    map {
    ^bb0(%e: f32, %sum: f32):
      dnn.yield %sum : f32
    }
  return
}

// -----

// The row region yields one value for each row output.
func.func @rowwise_c15_few(%x: memref<3x7xf32>, %s: memref<3x1xf32>, %y: memref<3x7xf32>) {
  // expected-error @below {{'dnn.row_wise' op needs a region row that yields a value for each of 1 tensors, but it yields 0}}
  dnn.row_wise [3, 7] reduced [1] ins(%x : memref<3x7xf32>) rowouts(%s : memref<3x1xf32>) outs(%y : memref<3x7xf32>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield
    }
    map {
    ^bb0(%e: f32, %sum: f32):
      dnn.yield %sum : f32
    }
  return
}

// -----

// The map region yields values of the arithmetic's type, which are rounded once.
func.func @rowwise_c16(%x: memref<3x7xf32>, %s: memref<3x1xf32>, %y: memref<3x7xi64>) {
  // expected-error @below {{'dnn.row_wise' op needs a region map that yields 'i64' for 'memref<3x7xi64>', but it yields 'f32'}}
  dnn.row_wise [3, 7] reduced [1] ins(%x : memref<3x7xf32>) rowouts(%s : memref<3x1xf32>) outs(%y : memref<3x7xi64>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield %sum : f32
    }
    map {
    ^bb0(%e: f32, %sum: f32):
      dnn.yield %sum : f32
    }
  return
}

// -----

// The map region yields one value for each output.
func.func @rowwise_c16_many(%x: memref<3x7xf32>, %s: memref<3x1xf32>, %y: memref<3x7xf32>) {
  // expected-error @below {{'dnn.row_wise' op needs a region map that yields a value for each of 1 tensors, but it yields 2}}
  dnn.row_wise [3, 7] reduced [1] ins(%x : memref<3x7xf32>) rowouts(%s : memref<3x1xf32>) outs(%y : memref<3x7xf32>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield %sum : f32
    }
    map {
    ^bb0(%e: f32, %sum: f32):
      dnn.yield %sum, %e : f32, f32
    }
  return
}

// -----

// Only regions that compute elements have the number of an element.
func.func @rowwise_c17(%x: memref<3x7xf32>, %s: memref<3x1xf32>) {
  dnn.row_wise [3, 7] reduced [1] ins(%x : memref<3x7xf32>) rowouts(%s : memref<3x1xf32>)
    row {
      // expected-error @below {{'dnn.row_index' op needs an element, but region row has none}}
      %i = dnn.row_index : i32
      %f = arith.sitofp %i : i32 to f32
      dnn.yield %f : f32
    }
  return
}

// -----

// The number of an element in its row has 31 bits.
func.func @rowwise_c18(%x: memref<3x7xf32>, %s: memref<3x1xf32>, %y: memref<3x7xf32>) {
  // expected-error @below {{'dnn.row_wise' op needs rows of at most 2147483647 elements, but has 2147483648}}
  dnn.row_wise [65536, 32768] reduced [0, 1] ins(%x : memref<3x7xf32>) rowouts(%s : memref<3x1xf32>) outs(%y : memref<3x7xf32>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield %sum : f32
    }
    map {
    ^bb0(%e: f32, %sum: f32):
      dnn.yield %sum : f32
    }
  return
}

// -----

// The state of the next step has another number of elements than the result.
func.func @rowwise_c19(%h: memref<1x2x1x8xf16>, %w: memref<1x1x4x8xf16>, %y: memref<5x2x4x1xf16>) {
  // expected-error @below {{'dnn.row_wise' op needs a space of steps, sequences, units and elements, of which the last are reduced, no map, and in 'dnn.steps' arrays of an input and of the row outputs that it is in the next step}}
  dnn.row_wise [5, 2, 4, 8] reduced [3] ins(%h, %w : memref<1x2x1x8xf16>, memref<1x1x4x8xf16>) rowouts(%y : memref<5x2x4x1xf16>)
    reduce sum {
    ^bb0(%e: f32, %f: f32):
      %p = arith.mulf %e, %f : f32
      dnn.yield %p : f32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield %sum : f32
    }
    {dnn.steps = [array<i64: 0, 0>]}
  return
}
