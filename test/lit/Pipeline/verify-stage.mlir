// RUN: dnn-opt %s -split-input-file --dnn-verify-stage=stage=gpu | FileCheck %s

// A module that is at its stage passes unchanged.
// CHECK: module attributes {dnn.target = "gfx942"}
// CHECK:   gpu.func @kernel
module attributes {dnn.target = "gfx942"} {
  gpu.module @kernels {
    gpu.func @kernel(%x: !llvm.ptr<1>) kernel
        attributes {known_block_size = array<i32: 64, 1, 1>,
                    known_grid_size = array<i32: 1, 1, 1>} {
      %0 = arith.constant 1.0 : f32
      llvm.store %0, %x : f32, !llvm.ptr<1>
      gpu.return
    }
  }
}
