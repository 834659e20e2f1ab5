// RUN: dnn-opt %s --dnn-apply-tile="target=gfx942 tile=igemm-m128n128k32-w2x2-b2-mfma32" --dnn-expand-pipeline --dnn-lower-workgroup | FileCheck %s

// The pinned loop of the 3x3 convolution: the design (0001) depends on what the
// inner loop contains and what it must not contain.

// Each operand has two LDS buffers, pieces of one memory that is aligned to chunks, and in
// the end has results.
// CHECK-LABEL: gpu.func @conv
// CHECK-SAME: workgroup(%[[LDS:.*]] : memref<32768xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
// CHECK-SAME: kernel
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>
// CHECK-SAME: known_grid_size = array<i32: 196, 1, 1>
// CHECK: memref.view %[[LDS]][%c0][] {{.*}} to memref<4096xf16
// CHECK: %[[N0:.*]] = memref.view %[[LDS]][%c8192][] {{.*}} to memref<4096xf16
// CHECK: %[[M1:.*]] = memref.view %[[LDS]][%c16384][] {{.*}} to memref<4096xf16
// CHECK: %[[N1:.*]] = memref.view %[[LDS]][%c24576][] {{.*}} to memref<4096xf16
// CHECK: memref.view %[[LDS]][%c0{{[^]]*}}][] {{.*}} to memref<16384xf16

// The tap loop has one iteration more than taps, which drains the pipeline. It
// contains the padding checks; a tap outside the image reads out of range.
// CHECK: scf.for %[[TAP:[^ ]+]] = %c0_i32 to %c10_i32
// CHECK: arith.cmpi ult, %[[TAP]], %c9_i32
// CHECK: arith.select %{{.*}}, %{{.*}}, %c-2147483648_i32

// In the channel loop only the scalar offset changes.
// CHECK: scf.for %[[POS:[^ ]+]] =
// CHECK-NOT: arith.muli
// CHECK-NOT: arith.cmpi
// CHECK-NOT: arith.select
// CHECK: amdgpu.memory_counter_wait ds(0)
// CHECK: rocdl.sched.barrier 0
// CHECK: vector.load %[[N0]]
// CHECK: amdgpu.mfma 32x32x8
// CHECK: amdgpu.memory_counter_wait load(0)
// CHECK: vector.store %{{.*}}, %[[M1]]
// CHECK: rocdl.raw.ptr.buffer.load %{{.*}}, %{{.*}}, %[[POS]]
// CHECK: amdgpu.lds_barrier
// CHECK: vector.load %[[N1]]
// CHECK: scf.yield

// A lane owns four neighbouring output channels, and stores eight that others had.
// CHECK: llvm.store %{{.*}} : vector<2xi32>, !llvm.ptr<3>
// CHECK: amdgpu.lds_barrier
// CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<4xi32>
// CHECK: rocdl.raw.ptr.buffer.store %{{.*}} : vector<4xi32>
func.func @conv(%x: memref<64x14x14x256xf16>, %w: memref<256x3x3x256xf16>, %y: memref<64x14x14x256xf16>) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<64x14x14x256xf16>, memref<256x3x3x256xf16>, memref<64x14x14x256xf16>
  return
}
