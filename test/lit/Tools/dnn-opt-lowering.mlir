// RUN: dnn-opt %s --dnn-lower-to-llvm=target=gfx90a | FileCheck %s

// The lowering that has no stage of its own can be printed: pointers stay bare, and
// indices have 32 bits.
// CHECK: llvm.func @kernel(%[[X:.*]]: !llvm.ptr<1>)
// CHECK: rocdl.workitem.id.x
// CHECK: llvm.mul %{{.*}}, %{{.*}} : i32
module {
  gpu.module @kernels {
    gpu.func @kernel(%x: !llvm.ptr<1>) kernel {
      %lane = gpu.thread_id x
      %square = arith.muli %lane, %lane : index
      %value = arith.index_cast %square : index to i32
      llvm.store %value, %x : i32, !llvm.ptr<1>
      gpu.return
    }
  }
}
