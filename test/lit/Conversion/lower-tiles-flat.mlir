// RUN: dnn-opt %s --dnn-apply-tile="target=gfx1030 tile=igemm-m64n32k32-w2x2-b2-fma" --dnn-lower-tiles | FileCheck %s
// RUN: dnn-opt %s --dnn-apply-tile="target=gfx1030 tile=igemm-m64n32k32-w2x2-b2-fma" \
// RUN:   | sed 's/schedule pinned/schedule natural/' | dnn-opt --dnn-lower-tiles \
// RUN:   | FileCheck %s --check-prefix=NATURAL

// Three channels: no step divides them, so one loop walks the whole reduction
// and each element finds its tap by division. The general path computes with
// fused multiply-adds. A reduction of 27 would fill one turn; two keep it a
// loop.

// CHECK-LABEL: gpu.func @stem
// CHECK: scf.for %[[POS:[^ ]+]] = %c128_i32 to %c384_i32 step %c128_i32
// CHECK: arith.remui
// CHECK: rocdl.raw.ptr.buffer.load %{{.*}} : i16
// CHECK: math.fma
// CHECK-NOT: scf.for

// With schedule natural, order and waits are LLVM's.
// NATURAL-NOT: amdgpu.memory_counter_wait
// NATURAL-NOT: rocdl.sched.barrier
// NATURAL: math.fma
func.func @stem(%x: memref<1x9x9x3xf16>, %w: memref<8x3x3x3xf16>, %y: memref<1x7x7x8xf16>) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1
      : memref<1x9x9x3xf16>, memref<8x3x3x3xf16>, memref<1x7x7x8xf16>
  return
}
