// RUN: dnn-opt --start-from gpu %s --target gfx950 --stop-after llvm | FileCheck %s
// RUN: dnn-opt --start-from gpu %s --target gfx950 --stop-after isa | FileCheck %s --check-prefix=ISA

// gfx950 executes a form of v_pk_fma_f32 wrongly, so that two neighbouring
// multiply-adds must not become a packed f32 instruction there.
// CHECK: "target-cpu"="gfx950" "target-features"="-packed-fp32-ops"
// ISA-NOT: v_pk_
// ISA: v_{{fma|fmac}}_f32
module attributes {dnn.target = "gfx950"} {
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
