// RUN: dnn-opt --start-from gpu %s --target gfx942 --stop-after isa | FileCheck %s

// A chip without the erratum keeps its packed instructions, so that only the chip
// with it pays for the fix.
// CHECK: v_pk_fma_f32
module attributes {dnn.target = "gfx942"} {
  gpu.module @kernels {
    gpu.func @axpy(%x: !llvm.ptr<1>) kernel
        attributes {known_block_size = array<i32: 64, 1, 1>,
                    known_grid_size = array<i32: 1, 1, 1>} {
      %a = llvm.load %x : !llvm.ptr<1> -> vector<2xf32>
      %b = llvm.intr.fma(%a, %a, %a) : (vector<2xf32>, vector<2xf32>, vector<2xf32>) -> vector<2xf32>
      llvm.store %b, %x : vector<2xf32>, !llvm.ptr<1>
      gpu.return
    }
  }
}
