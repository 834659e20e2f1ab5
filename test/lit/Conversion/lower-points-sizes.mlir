// RUN: dnn-opt %s --dnn-lower-points --dnn-verify-stage=stage=gpu | FileCheck %s

// What is made of unknown sizes is an argument: the bytes of a tensor, a stride,
// a number of points; and of a divisor its multiplier and its shift.
// CHECK-LABEL: gpu.func @subsample
// CHECK-SAME: i64 {dnn.arg = "divisor=yd2"}
// CHECK-SAME: i64 {dnn.arg = "size=yd2"}
// CHECK-SAME: i64 {dnn.arg = "size=2.xd0.*.xd1.*.xd2.*.8.*"}
// CHECK-SAME: dnn.workgroups = "yd0.yd1.*.yd2.*.2.*.64.^"
// CHECK-NOT: known_grid_size
module attributes {dnn.target = "gfx942"} {
  func.func @subsample(%x: memref<?x?x?x8xf16> {dnn.arg = "x"},
                       %y: memref<?x?x?x8xf16> {dnn.arg = "y"}) attributes {dnn.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %n = memref.dim %y, %c0 : memref<?x?x?x8xf16>
    %h = memref.dim %y, %c1 : memref<?x?x?x8xf16>
    %w = memref.dim %y, %c2 : memref<?x?x?x8xf16>
    // The quotient of a position and the width.
    // CHECK: %[[TWICE:.*]] = arith.shli
    // CHECK: %{{.*}}, %[[HIGH:.*]] = arith.mului_extended %[[TWICE]], %{{.*}} : i32
    // CHECK: arith.shrui %[[HIGH]], %{{.*}} : i32
    // CHECK: scf.if
    // CHECK-NOT: memref.dim
    // CHECK-NOT: arith.divui {{.*}} index
    dnn.for_each_point [%n, %h, %w, 2] threads 64 {
    ^bb0(%at: index, %p: index, %q: index, %block: index):
      %four = arith.constant 4 : index
      %c = arith.muli %block, %four : index
      %row = arith.muli %p, %c2 : index
      %column = arith.muli %q, %c2 : index
      // CHECK: rocdl.raw.ptr.buffer.load
      %v, %ok = dnn.point_load %x[%at, %row, %column, %c] : memref<?x?x?x8xf16> -> vector<4xf16>
      // CHECK: rocdl.raw.ptr.buffer.store
      dnn.point_store %v, %y[%at, %p, %q, %c] : vector<4xf16>, memref<?x?x?x8xf16>
    }
    return
  }

  // The sizes of a copy in the workspace are what its attribute says, and the
  // kernel keeps what the launch needs to find it.
  // CHECK-LABEL: gpu.func @transposed
  // CHECK-SAME: {dnn.alignment = {{[0-9]+}} : i64, dnn.arg = "workspace", dnn.bytes = "xd0.512.*.256.+", dnn.offset = "256"
  // CHECK-SAME: i64 {dnn.arg = "size=xd2.xd3.*"}
  // CHECK-SAME: dnn.workgroups = "xd0.xd2.xd3.*.*.8.*.64.^"
  func.func @transposed(%x: memref<?x8x?xf16> {dnn.arg = "x", dnn.sizes = ["xd0", "8", "xd2.xd3.*"]},
                        %copy: memref<?x?x8xf16> {dnn.arg = "workspace", dnn.bytes = "xd0.512.*.256.+", dnn.offset = "256", dnn.sizes = ["xd0", "xd2.xd3.*", "8"]})
      attributes {dnn.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %copy, %c0 : memref<?x?x8xf16>
    %pixels = memref.dim %copy, %c1 : memref<?x?x8xf16>
    dnn.for_each_point [%n, %pixels, 8] threads 64 {
    ^bb0(%at: index, %pixel: index, %c: index):
      %v, %ok = dnn.point_load %x[%at, %c, %pixel] : memref<?x8x?xf16> -> f16
      dnn.point_store %v, %copy[%at, %pixel, %c] : f16, memref<?x?x8xf16>
    }
    return
  }
}
