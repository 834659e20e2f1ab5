// RUN: dnn-opt %S/../Dialect/tiled-gfx950.mlir --dnn-lower-tiles | FileCheck %s

// Four LDS buffers of each factor; each wave of the 256x32 tiles brings two rows
// of loads, which share one base by their immediate offset.

// CHECK: gpu.func @conv3x3
// CHECK-COUNT-8: memref<8192xf16, #gpu.address_space<workgroup>>
// CHECK-SAME: kernel
// The descriptor begins before the tensor.
// CHECK: llvm.getelementptr %{{.*}}[-3072]
// Every buffer is filled before the loop, and the first waited for.
// CHECK-COUNT-16: rocdl.raw.ptr.buffer.load.lds
// CHECK: amdgpu.memory_counter_wait load(12) ds(0)
// CHECK: rocdl.s.barrier
// CHECK: scf.for
// CHECK: scf.for
// A step: its product, the barrier once the next step has arrived, the refill.
// CHECK: amdgpu.mfma 32x32x16
// CHECK: amdgpu.memory_counter_wait load(8) ds(0)
// CHECK: rocdl.s.barrier
// CHECK: vector.load
// CHECK: rocdl.raw.ptr.buffer.load.lds
// Nothing goes through registers.
// CHECK-NOT: vector.store
// CHECK: gpu.return
