// RUN: dnn-opt %s --dnn-lower-points --dnn-verify-stage=stage=gpu | FileCheck %s

// Products of a warp become mma.sync, of bf16 in words and of f16 in pairs. The
// launch asks for 64 KiB of LDS. A barrier may be in a loop that all threads run
// equally often. ptxas is told how many workgroups share a multiprocessor.
module attributes {dnn.target = "sm_90"} {
  // CHECK-LABEL: gpu.func @products
  // CHECK-NOT: workgroup(
  // CHECK-SAME: dnn.shared_bytes = 65536 : i64
  // CHECK-SAME: nvvm.minctasm = 2 : i32
  func.func @products(%x: memref<64x4xf32>) attributes {dnn.kernel} {
    dnn.for_each_point [2, 32] threads 32 attributes {dnn.resident = 2 : i64} {
    ^bb0(%block: index, %thread: index):
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      // CHECK: %[[MEMORY:.*]] = gpu.dynamic_shared_memory
      // CHECK: %[[WORDS:.*]] = memref.view %[[MEMORY]]{{.*}} to memref<16384xvector<2xbf16>, #gpu.address_space<workgroup>>
      %shared = memref.alloca() : memref<16384xvector<2xbf16>, #gpu.address_space<workgroup>>
      %zero = arith.constant dense<0.0> : vector<2x2xf32>
      %none = arith.constant dense<0.0> : vector<2x2xf16>
      %noneB = arith.constant dense<0.0> : vector<1x2xf16>
      // CHECK: scf.for
      scf.for %i = %c0 to %c2 step %c1 {
        // CHECK: nvvm.barrier
        gpu.barrier
      }
      // CHECK: memref.load %[[WORDS]]
      %w = memref.load %shared[%thread] : memref<16384xvector<2xbf16>, #gpu.address_space<workgroup>>
      %a = vector.broadcast %w : vector<2xbf16> to vector<4x2xbf16>
      %b = vector.broadcast %w : vector<2xbf16> to vector<2x2xbf16>
      // CHECK: nvvm.mma.sync A[{{.*}}, {{.*}}, {{.*}}, {{.*}}] B[{{.*}}, {{.*}}] C[{{.*}} shape = #nvvm.shape<m = 16, n = 8, k = 16>
      %d = nvgpu.mma.sync(%a, %b, %zero) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
      // CHECK: nvvm.mma.sync A[{{.*}}, {{.*}}] B[{{.*}}] C[{{.*}} shape = #nvvm.shape<m = 16, n = 8, k = 8>
      %e = nvgpu.mma.sync(%none, %noneB, %d) {mmaShape = [16, 8, 8]} : (vector<2x2xf16>, vector<1x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      %row = vector.extract %e[0] : vector<2xf32> from vector<2x2xf32>
      dnn.point_store %row, %x[%thread, %c0] : vector<2xf32>, memref<64x4xf32>
    }
    return
  }
}
