// RUN: dnn-opt %s --dnn-lower-points --dnn-verify-stage=stage=gpu | FileCheck %s

// TMA loads a box, which is read and written as matrices, and stores it. Maps are
// the first arguments of the kernel. The launch asks for shared memory for the
// barriers (16 bytes with padding), both buffers, each at a multiple of 1024, and
// what rounding the begin up may cost.
!plain = memref<2x16x24xbf16, #gpu.address_space<workgroup>>
!raw = memref<2x8x32xbf16, #gpu.address_space<workgroup>>
!out = memref<1x8x32xbf16, #gpu.address_space<workgroup>>
module attributes {dnn.target = "sm_90"} {
  // CHECK-LABEL: gpu.func @boxes
  // CHECK-SAME: (%[[X:.*]]: !llvm.ptr, %[[Y:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr<1> {dnn.alignment = 1 : i64, dnn.arg = "x", llvm.noalias}
  // CHECK-SAME: dnn.shared_bytes = 3584 : i64
  // CHECK-SAME: dnn.tensor_maps = ["x:bf16:tiled:64,7,9,3:128,896,8064:32,4,2,1:1,1,1,1", "y:bf16:tiled:64,7,9,3:128,896,8064:32,4,2,1:1,1,1,1"]
  func.func @boxes(%x: memref<3x9x7x64xbf16> {dnn.arg = "x"},
                   %y: memref<3x9x7x64xbf16> {dnn.arg = "y"}) attributes {dnn.kernel} {
    dnn.for_each_point [3, 32] threads 32 {
    ^bb0(%n: index, %lane: index):
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %minus = arith.constant -3 : index
      %eight = arith.constant 8 : index
      %matrix = arith.divui %lane, %eight : index
      %row = arith.remui %lane, %eight : index
      %channel = arith.muli %matrix, %eight : index
      // The thread that copies initialises a barrier for each slot before the
      // others continue.
      // CHECK: %[[FIRST:.*]] = arith.cmpi ult
      // CHECK: scf.if %[[FIRST]]
      // CHECK: nvvm.prefetch tensormap
      // CHECK-COUNT-2: nvvm.mbarrier.init
      // CHECK: nvvm.fence.mbarrier.init
      // CHECK: nvvm.barrier
      %raw = memref.alloca() : !raw
      %out = memref.alloca() : !out
      // CHECK: scf.for
      scf.for %i = %zero to %two step %one {
        // CHECK: scf.if %[[FIRST]]
        // CHECK: nvvm.mbarrier.arrive.expect_tx {{.*}}
        // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[X]], %{{.*}}, box[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}]
        dnn.box_load %x[%n, %i, %minus, %zero] box [1, 2, 4, 32] to %raw[%i] : memref<3x9x7x64xbf16> to !raw
        // CHECK: nvvm.mbarrier.try_wait.parity
        dnn.box_wait %raw[%i] round %zero : !raw
        // A box that is not read again has a cache hint.
        // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} l2_cache_hint = %{{.*}}
        dnn.box_load %x[%n, %i, %minus, %zero] box [1, 2, 4, 32] to %raw[%i] {dnn.streamed} : memref<3x9x7x64xbf16> to !raw
        // The barrier of a box that is not loaded expects no bytes.
        // CHECK: %[[BYTES:.*]] = arith.select %[[WANTED:.*]], %c512_i32{{.*}}, %c0_i32
        // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %[[BYTES]]
        // CHECK: scf.if %[[WANTED]]
        // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
        %wanted = arith.cmpi ult, %n, %two : index
        dnn.box_load %x[%n, %i, %minus, %zero] box [1, 2, 4, 32] to %raw[%i] if %wanted : memref<3x9x7x64xbf16> to !raw
        // The swizzle: two bits of the row are added to the number of the chunk of
        // 16 bytes by exclusive or.
        // CHECK: %[[LINE:.*]] = arith.shrui %[[OFFSET:.*]], %c7_i32
        // CHECK: %[[BITS:.*]] = arith.andi %[[LINE]], %c3_i32
        // CHECK: %[[PIECE:.*]] = arith.muli %[[BITS]], %c16_i32
        // CHECK: arith.xori %[[OFFSET]], %[[PIECE]]
        // CHECK: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>
        %v = dnn.load_matrices transposed %raw[%i, %row, %channel] : !raw -> vector<4x2xbf16>
        // CHECK: scf.if %[[FIRST]]
        // CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
        // CHECK: nvvm.barrier
        dnn.box_store_wait
        // CHECK: nvvm.stmatrix {{.*}}layout = #nvvm.mma_layout<row>
        dnn.store_matrices %v, %out[%zero, %row, %channel] : vector<4x2xbf16>, !out
        // CHECK: nvvm.fence.proxy
        // CHECK: nvvm.barrier
        // CHECK: scf.if %[[FIRST]]
        // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[Y]], %{{.*}}, box
        // CHECK: nvvm.cp.async.bulk.commit.group
        dnn.box_store %out to %y[%n, %i, %zero, %zero] box [1, 2, 4, 32] : !out to memref<3x9x7x64xbf16>
      }
    }
    // The workgroup does not end before its last box is stored.
    // CHECK: scf.if %[[FIRST]]
    // CHECK: nvvm.cp.async.bulk.wait_group 0
    // CHECK: gpu.return
    return
  }

  // A plain box is not swizzled, its barrier expects the bytes of the box, and reads
  // of it stay behind the wait.
  // CHECK-LABEL: gpu.func @plain
  // CHECK-SAME: dnn.tensor_maps = ["x:bf16:plain:64,7,9,3:128,896,8064:24,5,3,1:1,1,1,1"]
  func.func @plain(%x: memref<3x9x7x64xbf16> {dnn.arg = "x"},
                   %y: memref<32x8xbf16> {dnn.arg = "y"}) attributes {dnn.kernel} {
    dnn.for_each_point [3, 32] threads 32 {
    ^bb0(%n: index, %lane: index):
      %zero = arith.constant 0 : index
      %minus = arith.constant -1 : index
      %plain = memref.alloca() : !plain
      // CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c720_i32
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
      dnn.box_load %x[%n, %minus, %minus, %zero] box [1, 3, 5, 24] plain to %plain[%zero] : memref<3x9x7x64xbf16> to !plain
      // CHECK: nvvm.mbarrier.try_wait.parity
      // CHECK-NEXT: llvm.inline_asm has_side_effects {{.*}}"", "~{memory}"
      dnn.box_wait %plain[%zero] round %zero : !plain
      // CHECK: vector.load %{{.*}} : memref<2x16x24xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
      %v = vector.load %plain[%zero, %lane, %zero] : !plain, vector<8xbf16>
      dnn.point_store %v, %y[%lane, %zero] : vector<8xbf16>, memref<32x8xbf16>
    }
    return
  }
}
