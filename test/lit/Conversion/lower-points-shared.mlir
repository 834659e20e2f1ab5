// RUN: sed s/CHIP/gfx942/ %s | dnn-opt --dnn-lower-points --dnn-verify-stage=stage=gpu | FileCheck %s --check-prefixes=CHECK,AMD
// RUN: sed s/CHIP/sm_103/ %s | dnn-opt --dnn-lower-points --dnn-verify-stage=stage=gpu | FileCheck %s --check-prefixes=CHECK,NVIDIA,KEEP
// RUN: sed s/CHIP/sm_90/ %s | dnn-opt --dnn-lower-points --dnn-verify-stage=stage=gpu | FileCheck %s --check-prefixes=CHECK,NVIDIA

// Threads add what others loaded: the memory is in LDS and aligned for vectors, and
// a barrier of the chip is between the store and the load.
module attributes {dnn.target = "CHIP"} {
  // CHECK-LABEL: gpu.func @neighbours
  // CHECK-SAME: workgroup(%[[LDS:.*]] : memref<64x2xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
  // ptxas is asked for one workgroup at a time, because more of them would spill.
  // KEEP-SAME: nvvm.minctasm = 1 : i32
  func.func @neighbours(%x: memref<256xf32>, %y: memref<256xf32>) attributes {dnn.kernel} {
    dnn.for_each_point [2, 64] threads 64 {
    ^bb0(%block: index, %thread: index):
      %two = arith.constant 2 : index
      %size = arith.constant 128 : index
      %last = arith.constant 63 : index
      %zero = arith.constant 0 : index
      %first = arith.muli %block, %size : index
      %offset = arith.muli %thread, %two : index
      %at = arith.addi %first, %offset : index
      // CHECK-NOT: memref.alloca
      %shared = memref.alloca() : memref<64x2xf32, #gpu.address_space<workgroup>>
      // Loads that caches need not keep do not allocate in L1 where the chip can
      // say so.
      // AMD: rocdl.raw.ptr.buffer.load
      // NVIDIA: "ld.global.nc.L1::no_allocate.v2.b32 {$0, $1}, [$2];", "=&r,=&r,l"
      %v, %ok = dnn.point_load %x[%at] {dnn.streamed} : memref<256xf32> -> vector<2xf32>
      // CHECK: vector.store %{{.*}}, %[[LDS]]
      vector.store %v, %shared[%thread, %zero] : memref<64x2xf32, #gpu.address_space<workgroup>>, vector<2xf32>
      // AMD-NEXT: amdgpu.lds_barrier
      // NVIDIA-NEXT: nvvm.barrier
      gpu.barrier
      %other = arith.subi %last, %thread : index
      // CHECK: vector.load %[[LDS]]
      %w = vector.load %shared[%other, %zero] : memref<64x2xf32, #gpu.address_space<workgroup>>, vector<2xf32>
      %sum = arith.addf %v, %w : vector<2xf32>
      dnn.point_store %sum, %y[%at] : vector<2xf32>, memref<256xf32>
    }
    return
  }
}
