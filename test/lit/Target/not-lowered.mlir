// RUN: not dnn-opt --start-from gpu %s --target gfx90a 2>&1 | FileCheck %s

// An instruction that the chip lacks is named, with its line, instead of the
// cast that upstream's conversion leaves behind.
// CHECK: dnn-opt: error: stage llvm: {{.*}}line [[#@LINE+8]]: 'amdgpu.gather_to_lds' op has no lowering for gfx90a
module attributes {dnn.target = "gfx90a"} {
  gpu.module @kernels {
    gpu.func @copy(%x: memref<64xf16, #gpu.address_space<global>>)
        workgroup(%lds: memref<64xf16, #gpu.address_space<workgroup>>)
        kernel attributes {known_block_size = array<i32: 64, 1, 1>,
                           known_grid_size = array<i32: 1, 1, 1>} {
      %0 = arith.constant 0 : index
      amdgpu.gather_to_lds %x[%0], %lds[%0] : vector<8xf16>, memref<64xf16, #gpu.address_space<global>>, memref<64xf16, #gpu.address_space<workgroup>>
      gpu.return
    }
  }
}
