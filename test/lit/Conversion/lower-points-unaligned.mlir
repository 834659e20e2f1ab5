// RUN: dnn-opt %s -split-input-file --dnn-lower-points --dnn-verify-stage=stage=gpu | FileCheck %s

// Where tensors may begin at any element, a block is moved element by element with
// its check, but a workspace is still aligned. An attribute says which multiple each
// address must be.
// CHECK-LABEL: gpu.func @predicates
// CHECK-SAME: dnn.alignment = 2 : i64
// CHECK-SAME: dnn.alignment = 4 : i64
// CHECK-SAME: dnn.alignment = 16 : i64, dnn.arg = "workspace"
module attributes {dnn.target = "sm_90", dnn.unaligned} {
  func.func @predicates(%x: memref<64x4xf16>, %y: memref<63x4xf32>,
                        %w: memref<64x4xf32> {dnn.arg = "workspace", dnn.bytes = 1024 : i64})
      attributes {dnn.kernel} {
    %zero = arith.constant 0 : index
    dnn.for_each_point [64] threads 64 {
    ^bb0(%i: index):
      // CHECK-COUNT-4: llvm.load %{{.*}} invariant {alignment = 2 : i64} : !llvm.ptr<1> -> i16
      // CHECK: vector.bitcast %{{.*}} : vector<4xi16> to vector<4xf16>
      %v, %ok = dnn.point_load %x[%i, %zero] : memref<64x4xf16> -> vector<4xf16>
      %wide = arith.extf %v : vector<4xf16> to vector<4xf32>
      // CHECK-COUNT-4: "@$0 st.global.b32 [$1], $2;"
      // CHECK-NOT: st.global
      dnn.point_store %wide, %y[%i, %zero] : vector<4xf32>, memref<63x4xf32>
      // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>
      dnn.point_store %wide, %w[%i, %zero] : vector<4xf32>, memref<64x4xf32>
    }
    return
  }
}

// -----

// The same with the buffer descriptors of an AMD chip.
// CHECK-LABEL: gpu.func @descriptors
// CHECK-SAME: dnn.alignment = 1 : i64
// CHECK-SAME: dnn.alignment = 4 : i64
module attributes {dnn.target = "gfx942", dnn.unaligned} {
  func.func @descriptors(%x: memref<64x2xi8>, %y: memref<64x2xf64>)
      attributes {dnn.kernel} {
    %zero = arith.constant 0 : index
    dnn.for_each_point [64] threads 64 {
    ^bb0(%i: index):
      // CHECK-COUNT-2: rocdl.raw.ptr.buffer.load {{.*}} : i8
      %v, %ok = dnn.point_load %x[%i, %zero] : memref<64x2xi8> -> vector<2xi8>
      %wide = arith.sitofp %v : vector<2xi8> to vector<2xf64>
      // CHECK-COUNT-2: rocdl.raw.ptr.buffer.store {{.*}} : vector<2xi32>
      dnn.point_store %wide, %y[%i, %zero] : vector<2xf64>, memref<64x2xf64>
    }
    return
  }
}
