// RUN: dnn-opt %s --dnn-chain-launches | FileCheck %s
// RUN: sed s/sm_90/sm_80/ %s | dnn-opt --dnn-chain-launches | FileCheck %s --check-prefix=OTHER
// RUN: sed s/sm_90/gfx942/ %s | dnn-opt --dnn-chain-launches | FileCheck %s --check-prefix=OTHER

// Chips whose launches wait for the one in front are left as they are.
// OTHER-NOT: {{griddepcontrol|dnn.dependent|shared_bytes = 2}}

module attributes {dnn.target = "sm_90"} {
gpu.module @kernels {
  // The first waits for nothing: it is launched as ever.
  // CHECK-LABEL: gpu.func @pack
  // CHECK-NOT: griddepcontrol
  // CHECK-NOT: dnn.dependent
  gpu.func @pack() kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 3220, 1, 1>} {
    gpu.return
  }
  // The second has its own use for shared memory, so its workgroups come when
  // they fit. It lets those of the third come, but waits first.
  // CHECK-LABEL: gpu.func @product
  // CHECK-SAME: dnn.dependent, dnn.shared_bytes = 165104 : i64
  // CHECK: nvvm.griddepcontrol wait
  // CHECK-NEXT: nvvm.griddepcontrol launch_dependents
  // CHECK-NEXT: gpu.return
  gpu.func @product() kernel attributes {dnn.shared_bytes = 165104 : i64, known_block_size = array<i32: 384, 1, 1>, known_grid_size = array<i32: 132, 1, 1>} {
    gpu.return
  }
  // 144 workgroups on 132 multiprocessors: each has room for two of them, which
  // is half of 228 KiB without what it takes for itself.
  // CHECK-LABEL: gpu.func @sum
  // CHECK-SAME: dnn.dependent, dnn.shared_bytes = 115712 : i64
  // CHECK: nvvm.griddepcontrol wait
  // CHECK-NEXT: nvvm.griddepcontrol launch_dependents
  // CHECK-NEXT: gpu.return
  gpu.func @sum() kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 144, 1, 1>} {
    gpu.return
  }
  // What a workgroup shares anyway is a part of its share.
  // CHECK-LABEL: gpu.func @shares
  // CHECK-SAME: dnn.dependent, dnn.shared_bytes = 231936 : i64
  // CHECK: nvvm.griddepcontrol wait
  // CHECK-NEXT: gpu.return
  gpu.func @shares() workgroup(%buffer: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 108, 1, 1>} {
    gpu.return
  }
  // 9 times 256 threads are not at once on a multiprocessor: there is nothing to
  // share out, and nothing to come early.
  // CHECK-LABEL: gpu.func @many
  // CHECK-SAME: attributes {dnn.dependent, known_block_size
  // CHECK: nvvm.griddepcontrol wait
  // CHECK-NEXT: gpu.return
  gpu.func @many() kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1100, 1, 1>} {
    gpu.return
  }
}
}
