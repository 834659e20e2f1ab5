// RUN: dnn-opt %s -split-input-file --dnn-lower-points --dnn-verify-stage=stage=gpu | FileCheck %s

// A window sum has only the checks that can fail, and its offset is added up from
// the outermost loop inwards.
// CHECK-LABEL: gpu.func @window
// CHECK-SAME: (%[[X:.*]]: !llvm.ptr<1> {dnn.alignment = 4 : i64, llvm.noalias}, %[[ALPHA:.*]]: f32 {dnn.arg = "alpha"}, %[[Y:.*]]: !llvm.ptr<1> {dnn.alignment = 4 : i64, llvm.noalias}) kernel
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 3, 1, 1>
module attributes {dnn.target = "gfx942"} {
  // EXAMPLE: dnn-lower-points
  func.func @window(%x: memref<2x9x7x16xf16>, %alpha: f32 {dnn.arg = "alpha"},
                    %y: memref<2x9x4x16xf16>) attributes {dnn.kernel} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %three = arith.constant 3 : index
    %eight = arith.constant 8 : index
    // CHECK-DAG: %[[RX:.*]] = rocdl.make.buffer.rsrc %[[X]], %{{.*}}, %c4032_i64
    // CHECK-DAG: %[[RY:.*]] = rocdl.make.buffer.rsrc %[[Y]], %{{.*}}, %c2304_i64
    // CHECK: %[[GUARD:.*]] = arith.cmpi ult, %{{.*}}, %c144_i32
    // CHECK: scf.if %[[GUARD]]
    dnn.for_each_point [2, 9, 4, 2] threads 64 {
    ^bb0(%n: index, %h: index, %q: index, %block: index):
      %c = arith.muli %block, %eight : index
      %w0 = arith.muli %q, %two : index
      %none = arith.constant dense<0.0> : vector<8xf16>
      // CHECK: scf.for %[[S:.*]] = %c0 to %c3
      %sum = scf.for %s = %zero to %three step %one iter_args(%acc = %none) -> vector<8xf16> {
        %ws = arith.addi %w0, %s : index
        %w = arith.subi %ws, %one : index
        // Only the column can be outside.
        // CHECK: %[[W:.*]] = arith.index_cast %{{.*}} : index to i32
        // CHECK-NEXT: %[[OK:.*]] = arith.cmpi ult, %[[W]], %c7_i32
        // CHECK-NOT: arith.cmpi
        // CHECK: %[[S32:.*]] = arith.index_cast %[[S]] : index to i32
        // CHECK-NEXT: %[[STEP:.*]] = arith.muli %[[S32]], %c32_i32
        // CHECK-NEXT: %[[SUM:.*]] = arith.addi %{{.*}}, %[[STEP]]
        // CHECK-NEXT: %[[AT:.*]] = arith.addi %[[SUM]], %c-32_i32
        // CHECK-NEXT: %[[OFFSET:.*]] = arith.select %[[OK]], %[[AT]], %c-2147483648_i32
        // CHECK-NEXT: rocdl.raw.ptr.buffer.load %[[RX]], %[[OFFSET]], %c0_i32, %c0_i32 : vector<4xi32>
        %v, %ok = dnn.point_load %x[%n, %h, %w, %c] : memref<2x9x7x16xf16> -> vector<8xf16>
        %next = arith.addf %acc, %v : vector<8xf16>
        scf.yield %next : vector<8xf16>
      }
      // CHECK: arith.truncf %[[ALPHA]]
      %alpha16 = arith.truncf %alpha : f32 to f16
      %scale = vector.broadcast %alpha16 : f16 to vector<8xf16>
      %r = arith.mulf %sum, %scale : vector<8xf16>
      // CHECK: rocdl.raw.ptr.buffer.store %{{.*}}, %[[RY]]{{.*}} : vector<4xi32>
      dnn.point_store %r, %y[%n, %h, %q, %c] : vector<8xf16>, memref<2x9x4x16xf16>
    }
    return
  }
  // EXAMPLE-AFTER: gpu.func
  // EXAMPLE-AFTER: workitem.id.x
  // EXAMPLE-AFTER: scf.if
  // EXAMPLE-AFTER: scf.for
  // EXAMPLE-AFTER: arith.cmpi ult
  // EXAMPLE-AFTER: arith.select
  // EXAMPLE-AFTER: buffer.load
  // EXAMPLE-AFTER: scf.yield
  // EXAMPLE-AFTER: buffer.store
  // EXAMPLE-END
}

// -----

// A positive constant is added after the select, where it becomes the immediate
// offset of the instruction. What all lanes read is a scalar load. f64 is moved as
// words, and 32 bytes in two pieces.
// CHECK-LABEL: gpu.func @pieces
// CHECK-SAME: known_grid_size = array<i32: 32, 1, 1>
module attributes {dnn.target = "gfx1100"} {
  func.func @pieces(%x: memref<4x8x256xf64>, %k: memref<4xf32>, %y: memref<4x8x64xf64>)
      attributes {dnn.kernel} {
    %one = arith.constant 1 : index
    %four = arith.constant 4 : index
    // CHECK-NOT: scf.if
    dnn.for_each_point [4, 8, 64] threads 64 {
    ^bb0(%a: index, %b: index, %i: index):
      // CHECK: %[[SUM:.*]] = arith.select %{{.*}}, %{{.*}}, %c-2147483648_i32
      // CHECK: %[[AT:.*]] = arith.addi %[[SUM]], %c2048_i32
      // CHECK-NEXT: %[[LOW:.*]] = rocdl.raw.ptr.buffer.load %{{.*}}, %[[AT]], {{.*}} : vector<4xi32>
      // CHECK: %[[HIGH:.*]] = rocdl.raw.ptr.buffer.load {{.*}} : vector<4xi32>
      // CHECK: vector.shuffle %[[LOW]], %[[HIGH]] [0, 1, 2, 3, 4, 5, 6, 7]
      %below = arith.addi %b, %one : index
      %j = arith.muli %i, %four : index
      %v, %ok = dnn.point_load %x[%a, %below, %j] : memref<4x8x256xf64> -> vector<4xf64>
      // CHECK: %[[P:.*]] = llvm.getelementptr
      // CHECK-NEXT: llvm.load %[[P]] invariant {alignment = 4 : i64} : !llvm.ptr<1> -> f32
      %s, %sok = dnn.point_load %k[%a] : memref<4xf32> -> f32
      %wide = arith.extf %s : f32 to f64
      %first = vector.extract %v[0] : f64 from vector<4xf64>
      %r = arith.mulf %first, %wide : f64
      // CHECK: rocdl.raw.ptr.buffer.store {{.*}} : vector<2xi32>
      dnn.point_store %r, %y[%a, %b, %i] : f64, memref<4x8x64xf64>
    }
    return
  }
}

// -----

// A tensor of more than 2 GiB has addresses of 64 bits, and a branch instead of a
// select. With more than 2^31 points the outermost dimension is a loop.
// CHECK-LABEL: gpu.func @large
// CHECK-SAME: known_grid_size = array<i32: 4194304, 1, 1>
module attributes {dnn.target = "gfx942"} {
  func.func @large(%x: memref<8x1048576x1024xi8>, %y: memref<8x1048576x1024xi8>)
      attributes {dnn.kernel} {
    %one = arith.constant 1 : index
    // CHECK: scf.for %[[A:.*]] = %c0 to %c8 step %c1
    dnn.for_each_point [8, 1048576, 1024] threads 256 {
    ^bb0(%a: index, %b: index, %i: index):
      // CHECK: %[[OK:.*]] = arith.cmpi ult, %{{.*}}, %c1048576_i32
      // CHECK: %[[A32:.*]] = arith.index_cast %[[A]] : index to i32
      // CHECK: %[[A64:.*]] = arith.extsi %[[A32]] : i32 to i64
      // CHECK: arith.muli %[[A64]], %c1073741824_i64
      // CHECK: scf.if %[[OK]] -> (i8)
      // CHECK: llvm.load %{{.*}} invariant
      %below = arith.addi %b, %one : index
      %v, %ok = dnn.point_load %x[%a, %below, %i] : memref<8x1048576x1024xi8> -> i8
      // CHECK-NOT: scf.if
      // CHECK: llvm.store
      dnn.point_store %v, %y[%a, %b, %i] : i8, memref<8x1048576x1024xi8>
    }
    return
  }
}

// -----

// Kernels keep their order, no matter which pass lowers them.
// CHECK-LABEL: gpu.module @kernels
// CHECK: gpu.func @first
// CHECK: gpu.func @second
module attributes {dnn.target = "gfx942"} {
  func.func @first(%x: memref<64xf32>) attributes {dnn.kernel} {
    %zero = arith.constant 0.0 : f32
    dnn.for_each_point [64] threads 64 {
    ^bb0(%i: index):
      dnn.point_store %zero, %x[%i] : f32, memref<64xf32>
    }
    return
  }
  func.func @second(%x: memref<64xf32>) attributes {dnn.kernel} {
    dnn.for_each_point [64] threads 64 {
    ^bb0(%i: index):
    }
    return
  }
}
