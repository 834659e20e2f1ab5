// RUN: dnn-opt %s | dnn-opt | FileCheck %s
// RUN: dnn-opt %s --mlir-print-op-generic | dnn-opt | FileCheck %s

// A point program is printed and parsed without loss, with scalars and vectors,
// strided memory, and accesses with and without checks.
// CHECK-LABEL: func.func @pass
// CHECK-SAME: %[[X:[^:]*]]: memref<2x9x7x16xf16, strided<[1024, 112, 16, 1]>>
// CHECK-SAME: {dnn.arg = "alpha"}
// CHECK:      dnn.for_each_point [2, 9, 7, 2] threads 64 {
// CHECK-NEXT: ^bb0(%[[N:.*]]: index, %[[H:.*]]: index, %[[W:.*]]: index, %[[C:.*]]: index):
// CHECK-NEXT:   %[[V:.*]], %{{.*}} = dnn.point_load %[[X]][%[[N]], %[[H]], %[[W]], %[[C]]] inside [0, 3] : memref<{{.*}}> -> vector<8xf16>
// CHECK-NEXT:   dnn.point_store %[[V]], %{{.*}}[%[[N]], %[[H]], %[[W]], %[[C]]] : vector<8xf16>, memref<2x9x7x16xf16>
// CHECK-NEXT:   %{{.*}}, %[[OK:.*]] = dnn.point_load %{{.*}}[] : memref<i64> -> i64
func.func @pass(%x: memref<2x9x7x16xf16, strided<[1024, 112, 16, 1]>>,
                %y: memref<2x9x7x16xf16>, %s: memref<i64>,
                %alpha: f32 {dnn.arg = "alpha"}) attributes {dnn.kernel} {
  dnn.for_each_point [2, 9, 7, 2] threads 64 {
  ^bb0(%n: index, %h: index, %w: index, %c: index):
    %v, %0 = dnn.point_load %x[%n, %h, %w, %c] inside [0, 3]
        : memref<2x9x7x16xf16, strided<[1024, 112, 16, 1]>> -> vector<8xf16>
    dnn.point_store %v, %y[%n, %h, %w, %c] : vector<8xf16>, memref<2x9x7x16xf16>
    %t, %ok = dnn.point_load %s[] : memref<i64> -> i64
  }
  return
}

// Eight channels of every second pixel.
// CHECK-LABEL: func.func @subsample
// CHECK:      dnn.for_each_point [64, 28, 28, 8] threads 256 {
// EXAMPLE: dnn.for_each_point
func.func @subsample(%x: memref<64x56x56x64xf16>, %y: memref<64x28x28x64xf16>)
    attributes {dnn.kernel} {
  %two = arith.constant 2 : index
  %eight = arith.constant 8 : index
  dnn.for_each_point [64, 28, 28, 8] threads 256 {
  ^bb0(%n: index, %p: index, %q: index, %block: index):
    %h = arith.muli %p, %two : index
    %w = arith.muli %q, %two : index
    %c = arith.muli %block, %eight : index
    %v, %inside = dnn.point_load %x[%n, %h, %w, %c] : memref<64x56x56x64xf16> -> vector<8xf16>
    dnn.point_store %v, %y[%n, %p, %q, %c] : vector<8xf16>, memref<64x28x28x64xf16>
  }
  return
}
// EXAMPLE-END

// An access says which of its coordinates cannot be outside.
// CHECK-LABEL: func.func @inside
func.func @inside(%x: memref<64x56x56x64xf16>, %y: memref<64x28x28x64xf16>)
    attributes {dnn.kernel} {
  dnn.for_each_point [64, 28, 28, 64] threads 256 {
  ^bb0(%n: index, %p: index, %q: index, %c: index):
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %h = arith.muli %p, %two : index
    %w = arith.muli %q, %two : index
    %above = arith.subi %h, %one : index
    // CHECK: dnn.point_load %{{.*}}[{{.*}}] inside [0, 3] : memref<64x56x56x64xf16> -> vector<8xf16>
    // EXAMPLE: dnn.point_load
    %v, %ok = dnn.point_load %x[%n, %above, %w, %c] inside [0, 3]
        : memref<64x56x56x64xf16> -> vector<8xf16>
    // EXAMPLE-END
    %r = arith.addf %v, %v : vector<8xf16>
    // CHECK: dnn.point_store %{{.*}} inside [0, 1, 2, 3] : vector<8xf16>, memref<64x28x28x64xf16>
    // EXAMPLE: dnn.point_store
    dnn.point_store %r, %y[%n, %p, %q, %c] inside [0, 1, 2, 3]
        : vector<8xf16>, memref<64x28x28x64xf16>
    // EXAMPLE-END
  }
  return
}
