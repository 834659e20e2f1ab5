// RUN: dnn-opt %s --dnn-apply-tile="target=sm_80 tile=igemm-m64n64k32-w1x2-b2-mma16" --dnn-lower-tiles | FileCheck %s

// The main loop by mma.sync: a warp of 64 x 32 reads whole chunks, four of
// neighbouring pairs of rows of the filter and two of rows eight apart of each
// 16 pixels, and multiplies 4 x 4 instructions for each half of the chunks.

// CHECK-LABEL: gpu.func @conv
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>

// Four lanes share a row; of the filter each pair of them begins eight rows.
// CHECK: %[[LANE:.*]] = arith.andi %{{.*}}, %c31_i32
// CHECK: %[[G8:.*]] = arith.divui %[[LANE]], %c8_i32
// CHECK: arith.muli %[[G8]], %c8_i32
// CHECK: %[[G:.*]] = arith.divui %[[LANE]], %c4_i32
// CHECK: arith.remui %[[G]], %c2_i32
// CHECK: arith.remui %[[LANE]], %c4_i32

// The loop over channels, of two steps.
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-64: nvvm.mma.sync {{.*}}m = 16, n = 8, k = 16{{.*}}(vector<2xf16>, vector<2xf16>, f32)
// CHECK: scf.yield

// A lane stores eight neighbouring channels of a pixel.
// CHECK: llvm.inline_asm {{.*}}st.global.v4.b32
func.func @conv(%x: memref<64x14x14x256xf16>, %w: memref<256x3x3x256xf16>, %y: memref<64x14x14x256xf16>) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<64x14x14x256xf16>, memref<256x3x3x256xf16>, memref<64x14x14x256xf16>
  return
}

// Bytes are multiplied 32 at a time, and sums wrap around as everywhere else.
// CHECK-LABEL: gpu.func @bytes
// CHECK: nvvm.mma.sync {{.*}}intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>{{.*}}k = 32{{.*}}(i32, i32, i32)
// CHECK-NOT: idp4a
func.func @bytes(%x: memref<8x14x14x256xi8>, %w: memref<64x1x1x256xi8>, %y: memref<8x14x14x64xi32>) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1
      : memref<8x14x14x256xi8>, memref<64x1x1x256xi8>, memref<8x14x14x64xi32>
  return
}
