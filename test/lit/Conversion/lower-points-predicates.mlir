// RUN: dnn-opt %s -split-input-file --dnn-lower-points --dnn-verify-stage=stage=gpu | FileCheck %s

// On a chip with predication, an access that may be outside is predicated by the
// check of its coordinates, and other accesses have no check. The common part of a
// thread's addresses is computed once, and the rest is a constant offset.
// CHECK-LABEL: gpu.func @window
module attributes {dnn.target = "sm_90"} {
  func.func @window(%x: memref<2x9x8x16xf16>, %y: memref<2x9x3x16xf16>)
      attributes {dnn.kernel} {
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %eight = arith.constant 8 : index
    // CHECK-DAG: %[[GUARD:.*]] = arith.cmpi ult, %{{.*}}, %c72_i32
    dnn.for_each_point [2, 9, 2, 2] threads 64 {
    ^bb0(%n: index, %h: index, %pair: index, %block: index):
      %c = arith.muli %block, %eight : index
      %q = arith.muli %pair, %two : index
      %after = arith.addi %q, %one : index
      // CHECK: %[[AT:.*]] = llvm.getelementptr %arg0[%{{.*}}] : {{.*}}, i64
      // CHECK: llvm.load %[[AT]] invariant {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
      %v, %ok = dnn.point_load %x[%n, %h, %q, %c] : memref<2x9x8x16xf16> -> vector<8xf16>
      // CHECK: %[[COMMON:.*]] = llvm.getelementptr %arg0[%{{.*}}] : {{.*}}, i64
      // CHECK: %[[NEXT:.*]] = llvm.getelementptr %[[COMMON]][32] : {{.*}}, i8
      // CHECK: llvm.load %[[NEXT]] invariant
      %w, %wok = dnn.point_load %x[%n, %h, %after, %c] : memref<2x9x8x16xf16> -> vector<8xf16>
      %sum = arith.addf %v, %w : vector<8xf16>
      // CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %c3_i32
      // CHECK: llvm.inline_asm {{.*}}"@$0 st.global.v4.b32 [$1], {$2, $3, $4, $5};", "b,l,r,r,r,r,~{memory}" %[[INSIDE]]
      dnn.point_store %sum, %y[%n, %h, %after, %c] : vector<8xf16>, memref<2x9x3x16xf16>
    }
    return
  }
}

// -----

// The lowest number instead of elements outside costs nothing, because the load
// sets it. If not all lanes choose the same number, the load sets zeros.
// CHECK-LABEL: gpu.func @fill
module attributes {dnn.target = "sm_90"} {
  func.func @fill(%x: memref<64x64xf16>, %y: memref<64x64xf16>, %z: memref<64x64xf32>)
      attributes {dnn.kernel} {
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %lowest = arith.constant -6.550400e+04 : f16
    %lowestWide = arith.constant -6.550400e+04 : f32
    dnn.for_each_point [64, 64] threads 64 {
    ^bb0(%i: index, %j: index):
      %below = arith.addi %i, %one : index
      %last = arith.addi %i, %two : index
      // CHECK: "mov.b16 $0, 64511; @$1 ld.global.nc.b16 $0, [$2];"
      %v, %ok = dnn.point_load %x[%below, %j] : memref<64x64xf16> -> f16
      %pixel = arith.select %ok, %v, %lowest : f16
      // CHECK: "mov.b16 $0, 64511; @$1 ld.global.nc.b16 $0, [$2];"
      %u, %uok = dnn.point_load %x[%last, %j] : memref<64x64xf16> -> f16
      %wide = arith.extf %u : f16 to f32
      %widePixel = arith.select %uok, %wide, %lowestWide : f32
      // CHECK: "mov.b16 $0, 0; @$1 ld.global.nc.b16 $0, [$2];"
      %w, %wok = dnn.point_load %x[%j, %last] : memref<64x64xf16> -> f16
      %other = arith.select %wok, %w, %lowest : f16
      %twice = arith.addf %w, %other : f16
      // CHECK: arith.maximumf %{{.*}}, %{{.*}} : f16
      %max = arith.maximumf %pixel, %twice : f16
      dnn.point_store %max, %y[%i, %j] : f16, memref<64x64xf16>
      dnn.point_store %widePixel, %z[%i, %j] : f32, memref<64x64xf32>
    }
    return
  }
}

// -----

// A tensor of more than 2 GiB has offsets of 64 bits, but its accesses need no
// branch.
// CHECK-LABEL: gpu.func @large
module attributes {dnn.target = "sm_90"} {
  func.func @large(%x: memref<8x1048576x1024xi8>, %y: memref<8x1048576x1024xi8>)
      attributes {dnn.kernel} {
    %one = arith.constant 1 : index
    dnn.for_each_point [8, 1048576, 1024] threads 256 {
    ^bb0(%a: index, %b: index, %i: index):
      %below = arith.addi %b, %one : index
      // CHECK: arith.extsi
      // CHECK-NOT: scf.if
      // CHECK: llvm.getelementptr %{{.*}}[1024]
      // CHECK: "mov.b16 $0, 0; @$1 ld.global.nc.b8 $0, [$2];"
      %v, %ok = dnn.point_load %x[%a, %below, %i] : memref<8x1048576x1024xi8> -> i8
      // CHECK-NOT: scf.if
      // CHECK: llvm.store
      dnn.point_store %v, %y[%a, %b, %i] : i8, memref<8x1048576x1024xi8>
    }
    return
  }
}

// -----

// The row below is outside for the last thread. The offset is not negative in
// either case, so that the neighbouring pixel is a constant offset away. Loads that
// caches need not keep do not allocate in L1.
// CHECK-LABEL: gpu.func @streamed
module attributes {dnn.target = "sm_90"} {
  func.func @streamed(%x: memref<8x9xf32>, %y: memref<8x8xf32>) attributes {dnn.kernel} {
    %one = arith.constant 1 : index
    %last = arith.constant 7 : index
    %outside = arith.constant 8 : index
    dnn.for_each_point [8, 8] threads 64 {
    ^bb0(%i: index, %j: index):
      %isLast = arith.cmpi eq, %i, %last : index
      %next = arith.addi %i, %one : index
      %row = arith.select %isLast, %outside, %next : index
      %beside = arith.addi %j, %one : index
      // CHECK: %[[COMMON:.*]] = llvm.getelementptr %arg0[%{{.*}}] : {{.*}}, i64
      // CHECK: %[[BESIDE:.*]] = llvm.getelementptr %[[COMMON]][4] : {{.*}}, i8
      // CHECK: "mov.b32 $0, 0; @$1 ld.global.nc.L1::no_allocate.b32 $0, [$2];", "=&r,b,l" %{{.*}}, %[[BESIDE]]
      %v, %ok = dnn.point_load %x[%row, %beside] {dnn.streamed} : memref<8x9xf32> -> f32
      dnn.point_store %v, %y[%i, %j] : f32, memref<8x8xf32>
    }
    return
  }
}

// -----

// A constant is kept separate as long as llvm.getelementptr can hold it, which is up
// to 2^28 - 1; beyond that it is added to the offset.
// CHECK-LABEL: gpu.func @far
module attributes {dnn.target = "sm_90"} {
  func.func @far(%x: memref<4x134217727xf16>, %y: memref<4x134217728xf16>)
      attributes {dnn.kernel} {
    %one = arith.constant 1 : index
    dnn.for_each_point [3, 64] threads 64 {
    ^bb0(%i: index, %j: index):
      %below = arith.addi %i, %one : index
      // CHECK: llvm.getelementptr %{{.*}}[268435454] : {{.*}}, i8
      %v, %ok = dnn.point_load %x[%below, %j] : memref<4x134217727xf16> -> f16
      // CHECK: %[[FAR:.*]] = arith.addi %{{.*}}, %c268435456_i32 : i32
      // CHECK: %[[WIDE:.*]] = arith.extui %[[FAR]] : i32 to i64
      // CHECK: llvm.getelementptr %arg1[%[[WIDE]]] : {{.*}}, i8
      dnn.point_store %v, %y[%below, %j] : f16, memref<4x134217728xf16>
    }
    return
  }
}
