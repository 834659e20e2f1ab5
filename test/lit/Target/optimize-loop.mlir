// RUN: dnn-opt --start-from gpu %s --target gfx942 --stop-after isa | FileCheck %s

// The list of LLVM passes must achieve this: the condition of the loop is at its end
// without copies of values, address arithmetic is hoisted out of it, a row of four
// f32 whose address is a multiple of 16 is one LDS access, and the kernel has no
// hidden arguments.
// CHECK-LABEL: sum:
// CHECK:       [[LOOP:.LBB.*]]:
// CHECK-NEXT:    ds_read_b128
// CHECK-NOT:     v_{{mov|lshl|mul|mad|and|or}}
// CHECK:         s_cbranch_scc1 [[LOOP]]
// CHECK:       .args:
// CHECK-NOT:   hidden_
// CHECK:       .group_segment_fixed_size
module attributes {dnn.target = "gfx942"} {
  gpu.module @kernels {
    gpu.func @sum(%x: !llvm.ptr<1>, %n: i32)
        workgroup(%lds: memref<4096xf32, #gpu.address_space<workgroup>>)
        kernel attributes {known_block_size = array<i32: 64, 1, 1>,
                           known_grid_size = array<i32: 1, 1, 1>} {
      %zero = arith.constant dense<0.0> : vector<4xf32>
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c256 = arith.constant 256 : index
      %lane = gpu.thread_id x
      %count = arith.index_cast %n : i32 to index
      %sum = scf.for %i = %c0 to %count step %c1 iter_args(%acc = %zero) -> vector<4xf32> {
        // This value is the same in each iteration.
        %own = arith.muli %lane, %c4 : index
        %row = arith.muli %i, %c256 : index
        %at = arith.addi %row, %own : index
        %v = vector.load %lds[%at] : memref<4096xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        %next = arith.addf %acc, %v : vector<4xf32>
        scf.yield %next : vector<4xf32>
      }
      llvm.store %sum, %x : vector<4xf32>, !llvm.ptr<1>
      gpu.return
    }
  }
}
