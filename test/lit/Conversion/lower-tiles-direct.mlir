// RUN: dnn-opt %S/../Dialect/tiled-gfx950.mlir --dnn-expand-pipeline --dnn-lower-workgroup | FileCheck %s

// Each operand has four LDS buffers. Each wave of the 256x32 tiles issues two rows of
// loads, which share one base address and differ in their immediate offset.

// CHECK: gpu.func @conv3x3
// CHECK-COUNT-8: memref<8192xf16, #gpu.address_space<workgroup>>
// CHECK-SAME: kernel
// The descriptor begins before the tensor.
// CHECK: llvm.getelementptr %{{.*}}[-3072]
// Every buffer is filled before the loop, which begins once the first has arrived.
// CHECK-COUNT-16: rocdl.raw.ptr.buffer.load.lds
// CHECK: amdgpu.memory_counter_wait load(12) ds(0)
// CHECK: rocdl.s.barrier
// CHECK: scf.for
// CHECK: scf.for
// A step multiplies, passes the barrier once the next step has arrived, and refills
// its buffer.
// CHECK: amdgpu.mfma 32x32x16
// CHECK: amdgpu.memory_counter_wait load(8) ds(0)
// CHECK: rocdl.s.barrier
// CHECK: vector.load
// CHECK: rocdl.raw.ptr.buffer.load.lds
// No tile is copied through registers.
// CHECK-NOT: vector.store
// CHECK: gpu.return
