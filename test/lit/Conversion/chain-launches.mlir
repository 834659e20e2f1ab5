// RUN: dnn-opt %s -split-input-file --dnn-chain-launches | FileCheck %s
// RUN: sed s/sm_90/sm_80/ %s | dnn-opt -split-input-file --dnn-chain-launches | FileCheck %s --check-prefix=OTHER
// RUN: sed s/sm_90/gfx942/ %s | dnn-opt -split-input-file --dnn-chain-launches | FileCheck %s --check-prefix=OTHER

// On chips without dependent launches nothing changes.
// OTHER-NOT: {{griddepcontrol|dnn.dependent|shared_bytes = 2}}

module attributes {dnn.target = "sm_90"} {
gpu.module @kernels {
  // The first kernel takes what it loads for constant, which nothing may still
  // write: it is launched in the usual way.
  // CHECK-LABEL: gpu.func @pack
  // CHECK-NOT: griddepcontrol
  // CHECK-NOT: dnn.dependent
  gpu.func @pack(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 3220, 1, 1>} {
    %0 = llvm.load %x invariant : !llvm.ptr<1> -> i32
    llvm.store %0, %y : i32, !llvm.ptr<1>
    gpu.return
  }
  // The second kernel needs so much shared memory that its workgroups are placed
  // where they fit. It allows those of the third kernel after its own wait.
  // CHECK-LABEL: gpu.func @product
  // CHECK-SAME: dnn.dependent, dnn.shared_bytes = 165104 : i64
  // CHECK: nvvm.griddepcontrol wait
  // CHECK-NEXT: nvvm.griddepcontrol launch_dependents
  // CHECK-NEXT: gpu.return
  gpu.func @product() kernel attributes {dnn.shared_bytes = 165104 : i64, known_block_size = array<i32: 384, 1, 1>, known_grid_size = array<i32: 132, 1, 1>} {
    gpu.return
  }
  // 144 workgroups on 132 multiprocessors: two must fit on each, so that a
  // workgroup asks for half of 228 KiB, less what the multiprocessor reserves.
  // CHECK-LABEL: gpu.func @sum
  // CHECK-SAME: dnn.dependent, dnn.shared_bytes = 115712 : i64
  // CHECK: nvvm.griddepcontrol wait
  // CHECK-NEXT: nvvm.griddepcontrol launch_dependents
  // CHECK-NEXT: gpu.return
  // EXAMPLE: dnn-chain-launches
  gpu.func @sum() kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 144, 1, 1>} {
    gpu.return
  }
  // EXAMPLE-END
  // The static shared memory of a workgroup counts as part of its share.
  // CHECK-LABEL: gpu.func @shares
  // CHECK-SAME: dnn.dependent, dnn.shared_bytes = 231424 : i64
  // CHECK: nvvm.griddepcontrol wait
  // CHECK-NEXT: gpu.return
  gpu.func @shares() workgroup(%buffer: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 108, 1, 1>} {
    gpu.return
  }
  // 9 workgroups of 256 threads do not fit on a multiprocessor at once: shared
  // memory need not limit them, and no workgroup is placed early.
  // CHECK-LABEL: gpu.func @many
  // CHECK-SAME: attributes {dnn.dependent, known_block_size
  // CHECK: nvvm.griddepcontrol wait
  // CHECK-NEXT: gpu.return
  gpu.func @many() kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1100, 1, 1>} {
    gpu.return
  }
}
}

// -----

// A kernel that prepares its shared memory first waits behind that. It leaves
// multiprocessors free, so that the next call's first kernel may come.
module attributes {dnn.target = "sm_90"} {
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @alone
  // CHECK-SAME: dnn.dependent, dnn.shared_bytes = 232448 : i64
  // CHECK: nvvm.mbarrier.init
  // CHECK: nvvm.barrier
  // CHECK-NEXT: nvvm.griddepcontrol wait
  // CHECK-NEXT: nvvm.griddepcontrol launch_dependents
  // CHECK-NEXT: llvm.load
  gpu.func @alone(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %barrier: !llvm.ptr<3>, %first: i1) kernel attributes {dnn.shared_bytes = 66560 : i64, known_block_size = array<i32: 384, 1, 1>, known_grid_size = array<i32: 98, 1, 1>} {
    %one = arith.constant 1 : i32
    scf.if %first {
      nvvm.mbarrier.init %barrier, %one : !llvm.ptr<3>, i32
    }
    nvvm.barrier
    %0 = llvm.load %x : !llvm.ptr<1> -> i32
    llvm.store %0, %y : i32, !llvm.ptr<1>
    gpu.return
  }
}
}

// -----

module attributes {dnn.target = "sm_90"} {
gpu.module @kernels {
  // What only asks L2 for memory is in front of the wait.
  // CHECK-LABEL: gpu.func @asks
  // CHECK: scf.for
  // CHECK: nvvm.cp.async.bulk.tensor.prefetch
  // CHECK: nvvm.griddepcontrol wait
  // CHECK-NEXT: nvvm.griddepcontrol launch_dependents
  // CHECK-NEXT: llvm.load
  gpu.func @asks(%map: !llvm.ptr, %x: !llvm.ptr<1>, %n: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      nvvm.cp.async.bulk.tensor.prefetch %map, box [%i, %c0] : !llvm.ptr
    }
    nvvm.prefetch level = L2, %x : !llvm.ptr<1>
    %0 = llvm.load %x : !llvm.ptr<1> -> i32
    llvm.store %0, %x : i32, !llvm.ptr<1>
    gpu.return
  }
}
}
