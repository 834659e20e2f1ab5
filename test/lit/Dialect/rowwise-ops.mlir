// RUN: dnn-opt %s | FileCheck %s
// RUN: dnn-opt %s | dnn-opt | FileCheck %s
// RUN: dnn-opt --mlir-print-op-generic %s | dnn-opt | FileCheck %s

// The text of dnn.row_wise is read and printed without loss, and so is its generic form.

// There are two reductions, of which the second uses the first one's result, and an
// input that only the map uses.
// CHECK-LABEL: func @softmax
func.func @softmax(%x: memref<64x1000x49xf16>, %y: memref<64x1000x49xf16>, %s: f32) {
  // CHECK:      dnn.row_wise [64, 1000, 49] reduced [1] ins(%{{.*}} : memref<64x1000x49xf16>) outs(%{{.*}} : memref<64x1000x49xf16>) scalars(%{{.*}} : f32)
  // CHECK-NEXT:   reduce max {
  // CHECK-NEXT:   ^bb0(%[[E:.*]]: f32, %{{.*}}: f32):
  // CHECK-NEXT:     dnn.yield %[[E]] : f32
  // CHECK:        reduce sum {
  // CHECK-NEXT:   ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32):
  // CHECK:        row {
  // CHECK-NEXT:   ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32):
  // CHECK:        map {
  // CHECK-NEXT:   ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32):
  dnn.row_wise [64, 1000, 49] reduced [1] ins(%x : memref<64x1000x49xf16>) outs(%y : memref<64x1000x49xf16>) scalars(%s : f32)
    reduce max {
    ^bb0(%e: f32, %a: f32):
      dnn.yield %e : f32
    }
    reduce sum {
    ^bb0(%e: f32, %a: f32, %max: f32):
      %d = arith.subf %e, %max : f32
      %exp = math.exp %d : f32
      dnn.yield %exp : f32
    }
    row {
    ^bb0(%a: f32, %max: f32, %sum: f32):
      %f = arith.divf %a, %sum : f32
      dnn.yield %f : f32
    }
    map {
    ^bb0(%e: f32, %a: f32, %max: f32, %sum: f32, %f: f32):
      %d = arith.subf %e, %max : f32
      %exp = math.exp %d : f32
      %r = arith.mulf %exp, %f : f32
      dnn.yield %r : f32
    }
  return
}

// Some kinds have two results, rows have results, and elements have numbers.
// CHECK-LABEL: func @kinds
func.func @kinds(%x: memref<3x7xf64>, %b: memref<3x1xi8>, %v: memref<3x1xf64>, %i: memref<3x1xi64>) {
  // CHECK:      dnn.row_wise [3, 7] reduced [1] ins(%{{.*}}, %{{.*}} : memref<3x7xf64>, memref<3x1xi8>) rowouts(%{{.*}}, %{{.*}} : memref<3x1xf64>, memref<3x1xi64>)
  // CHECK-NEXT:   reduce moments, argmax, sum {
  // CHECK:          dnn.row_index : i32
  // CHECK:        row {
  // CHECK-NEXT:   ^bb0(%{{.*}}: i32, %{{.*}}: f64, %{{.*}}: f64, %{{.*}}: f64, %{{.*}}: i32, %{{.*}}: i32):
  dnn.row_wise [3, 7] reduced [1] ins(%x, %b : memref<3x7xf64>, memref<3x1xi8>) rowouts(%v, %i : memref<3x1xf64>, memref<3x1xi64>)
    reduce moments, argmax, sum {
    ^bb0(%e: f64, %k: i32):
      // EXAMPLE: dnn.row_index
      %n = dnn.row_index : i32
      // EXAMPLE-END
      dnn.yield %e, %e, %n : f64, f64, i32
    }
    row {
    ^bb0(%k: i32, %mean: f64, %m2: f64, %max: f64, %at: i32, %sum: i32):
      %index = arith.extsi %at : i32 to i64
      dnn.yield %m2, %index : f64, i64
    }
  return
}

// What row yields is first what the rows' results get, then what map takes.
// CHECK-LABEL: func @normalize
// CHECK:      dnn.row_wise [64, 1000] reduced [1] ins(%{{.*}} : memref<64x1000xf16>) rowouts(%{{.*}} : memref<64x1xf32>) outs(
func.func @normalize(%x: memref<64x1000xf16>, %s: memref<64x1xf32>, %y: memref<64x1000xf16>) {
  // EXAMPLE: dnn.row_wise
  dnn.row_wise [64, 1000] reduced [1] ins(%x : memref<64x1000xf16>)
      rowouts(%s : memref<64x1xf32>) outs(%y : memref<64x1000xf16>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      %one = arith.constant 1.0 : f32
      %scale = arith.divf %one, %sum : f32
      dnn.yield %sum, %scale : f32, f32
    }
    map {
    ^bb0(%e: f32, %sum: f32, %scale: f32):
      %r = arith.mulf %e, %scale : f32
      dnn.yield %r : f32
    }
  // EXAMPLE-END
  return
}

// Nothing is reduced: the op maps elements, and one input is broadcast.
// CHECK-LABEL: func @map
func.func @map(%x: memref<4x8xbf16>, %b: memref<1x8xf32>, %y: memref<4x8xbf16>) {
  // CHECK:      dnn.row_wise [4, 8] ins(%{{.*}}, %{{.*}} : memref<4x8xbf16>, memref<1x8xf32>) outs(%{{.*}} : memref<4x8xbf16>)
  // CHECK-NEXT:   map {
  // CHECK:          dnn.element_index : i64
  // CHECK:        } {note = "kept"}
  dnn.row_wise [4, 8] ins(%x, %b : memref<4x8xbf16>, memref<1x8xf32>) outs(%y : memref<4x8xbf16>)
    map {
    ^bb0(%e: f32, %bias: f32):
      // EXAMPLE: dnn.element_index
      %i = dnn.element_index : i64
      // EXAMPLE-END
      %f = arith.sitofp %i : i64 to f32
      %s = arith.addf %e, %bias : f32
      %r = arith.mulf %s, %f : f32
      dnn.yield %r : f32
    } {note = "kept"}
  return
}
