// RUN: dnn-opt %s --dnn-lower-to-llvm="target=gfx942" | FileCheck %s
// RUN: dnn-opt --problem "convfp16 -n 4 -c 64 -H 14 -W 14 -k 64 -y 1 -x 1 -I NHWC -f NHWC -O NHWC -F 1" --target gfx942 --tile igemm-m64n64k32-w2x2-b2-mfma32 --stop-after gpu | FileCheck %s --check-prefix=WAVES
// RUN: dnn-opt --problem "activfp16 -n 4 -F 1" --target gfx942 --stop-after gpu | FileCheck %s --check-prefix=POINTS

// What all waves share is written without anything to simplify, and marked;
// programs of points are not.
// WAVES:      gpu.func @{{.*}}{dnn.simplified
// POINTS-NOT: dnn.simplified
// POINTS:     gpu.return

module attributes {dnn.target = "gfx942"} {
  gpu.module @kernels {
    // Without the mark a kernel is rewritten before it is converted: constants
    // are folded, and what nobody uses is dropped.
    // CHECK-LABEL: llvm.func @rewritten
    // CHECK-NOT:     llvm.add
    // CHECK:         llvm.return
    gpu.func @rewritten(%x: !llvm.ptr<1>) kernel
        attributes {known_block_size = array<i32: 64, 1, 1>,
                    known_grid_size = array<i32: 1, 1, 1>} {
      %one = arith.constant 1 : i32
      %two = arith.addi %one, %one : i32
      %unused = arith.addi %two, %one : i32
      llvm.store %two, %x : i32, !llvm.ptr<1>
      gpu.return
    }
  }

  gpu.module @marked {
    // CHECK-LABEL: llvm.func @marked
    // CHECK-COUNT-2: llvm.add
    gpu.func @marked(%x: !llvm.ptr<1>, %n: i32) kernel
        attributes {dnn.simplified, known_block_size = array<i32: 64, 1, 1>,
                    known_grid_size = array<i32: 1, 1, 1>} {
      %two = arith.addi %n, %n : i32
      %unused = arith.addi %two, %n : i32
      llvm.store %two, %x : i32, !llvm.ptr<1>
      gpu.return
    }
  }
}
