// RUN: dnn-opt %s --dnn-apply-tile="target=gfx1030 tile=igemm-m64n32k32-w2x2-b2-fma" --dnn-expand-pipeline --dnn-lower-workgroup | FileCheck %s
// RUN: dnn-opt %s --dnn-apply-tile="target=gfx1030 tile=igemm-m64n32k32-w2x2-b2-fma" \
// RUN:   | sed 's/schedule pinned/schedule natural/' | dnn-opt --dnn-expand-pipeline --dnn-lower-workgroup \
// RUN:   | FileCheck %s --check-prefix=NATURAL

// No step divides three channels, so that one loop walks the whole reduction and
// each element finds its tap by division. Products are fused multiply-adds. A
// reduction of 27 would fit in one iteration; there are two so that it stays a
// loop.

// CHECK-LABEL: gpu.func @stem
// CHECK: scf.for %[[POS:[^ ]+]] = %c128_i32 to %c384_i32 step %c128_i32
// CHECK: arith.remui
// CHECK: rocdl.raw.ptr.buffer.load %{{.*}} : i16
// CHECK: math.fma
// CHECK-NOT: scf.for

// With schedule natural, LLVM decides the order and the waits.
// NATURAL-NOT: amdgpu.memory_counter_wait
// NATURAL-NOT: rocdl.sched.barrier
// NATURAL: math.fma
func.func @stem(%x: memref<1x9x9x3xf16>, %w: memref<8x3x3x3xf16>, %y: memref<1x7x7x8xf16>) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1
      : memref<1x9x9x3xf16>, memref<8x3x3x3xf16>, memref<1x7x7x8xf16>
  return
}
