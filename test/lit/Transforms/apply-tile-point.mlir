// RUN: dnn-opt %s --dnn-apply-tile="target=gfx942 tile=general-b4r1t256s1" | FileCheck %s --check-prefix=DATA
// RUN: dnn-opt %s --dnn-apply-tile="target=gfx942 tile=depthwise-g2p1q2t64s1" | FileCheck %s --check-prefix=DEPTHWISE
// RUN: dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q2t64s1n3" | FileCheck %s --check-prefix=PASSES
// RUN: dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q2t32s1l" | FileCheck %s --check-prefix=SHARED
// RUN: not dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q2t128s1l" 2>&1 | FileCheck %s --check-prefix=PARTIAL
// RUN: not dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q2t64s1r2" 2>&1 | FileCheck %s --check-prefix=SUMMED
// RUN: dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q2t64s1u2" | FileCheck %s --check-prefix=RESIDENT
// RUN: not dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q2t64s1o" 2>&1 | FileCheck %s --check-prefix=STREAMED
// RUN: not dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q2t64s1n1" 2>&1 | FileCheck %s --check-prefix=ONE-PASS
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=general-b3r1t256s1" 2>&1 | FileCheck %s --check-prefix=BLOCK
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=general-b4" 2>&1 | FileCheck %s --check-prefix=GENERAL
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=depthwise-g3p1q2t64s1" 2>&1 | FileCheck %s --check-prefix=GROUPS
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=depthwise-g8" 2>&1 | FileCheck %s --check-prefix=WORD

// RUN: dnn-opt --problem conv-fwd-f32-nhwc,nhwc,nhwc-n2c64h8w6-k64y3x3-p1x1-s1x1-d1x1-g8 --target gfx942 --tile general-b8r1t256s1 --stop-after tiled | FileCheck %s --check-prefix=WHOLE
// RUN: dnn-opt --problem conv-fwd-f32-nhwc,nhwc,nhwc-n2c64h8w6-k64y3x3-p1x1-s1x1-d1x1-g4 --target gfx942 --tile general-b8r1t256s1 --stop-after tiled | FileCheck %s --check-prefix=PARTS

// Threads that own all channels of a group have neighbours with the same filter,
// at other pixels.
// WHOLE: dnn.for_each_point [2, 8, 1, 8, 6] threads 256
// PARTS: dnn.for_each_point [2, 8, 6, 4, 2] threads 256

// BLOCK: does not fit tile 'general-b3r1t256s1': its blocks must divide the channels of a group
// GENERAL: 'general-b4' is not a tile, which looks like 'general-b4r1t256s1'
// GROUPS: does not fit tile 'depthwise-g3p1q2t64s1'
// ONE-PASS: 'depthwise-g2p1q2t64s1n1' is not a tile, which looks like
// PARTIAL: does not fit tile 'depthwise-g2p1q2t128s1l'
// STREAMED: does not fit tile 'depthwise-g2p1q2t64s1o'
// SUMMED: does not fit tile 'depthwise-g2p1q2t64s1r2'
// WORD: 'depthwise-g8' is not a tile, which looks like 'depthwise-g8p2q4t256s1'

// Backward data with a stride by the general algorithm: a thread computes a pixel
// and its four channels of a group, and skips a tap that no output pixel has. By the
// depthwise algorithm a thread computes two pixels of two groups without a loop.
// DATA-LABEL: func.func @strided
// DATA: dnn.for_each_point [2, 8, 6, 8, 1] threads 256
// DATA: %[[SUM:.*]] = scf.for
// DATA: arith.remsi
// DATA: scf.if
// DATA: dnn.point_load %arg2
// DATA: math.fma
// DATA: dnn.point_store %{{.*}}, %arg0{{.*}} : vector<4xf16>

// DEPTHWISE-LABEL: func.func @strided
// DEPTHWISE-SAME: memref<288xf16> {dnn.arg = "w"}
// DEPTHWISE: dnn.for_each_point [2, 8, 3, 4] threads 64
// DEPTHWISE-NOT: scf.for
// DEPTHWISE: dnn.point_load %arg1{{.*}} : memref<288xf16> -> vector<8xf16>
// DEPTHWISE: dnn.point_store %{{.*}}, %arg0{{.*}} : vector<8xf16>

// A thread computes three rows, one below the other, and loads the filter once.
// PASSES-LABEL: func.func @strided
// PASSES: dnn.for_each_point [2, 3, 3, 4] threads 64
// PASSES: dnn.point_load %arg1
// PASSES: scf.for %{{.*}} = %c0{{.*}} to %c3
// PASSES-NOT: dnn.point_load %arg1
// PASSES: dnn.point_store

// Registers are limited so that a compute unit holds two workgroups.
// RESIDENT-LABEL: func.func @strided
// RESIDENT: dnn.for_each_point [2, 8, 3, 4] threads 64 attributes {dnn.resident = 2 : i64}

// A workgroup of 32 threads covers its 4 blocks of groups eight times. Together they
// load the filters, 8 elements at a time, and each thread reads its own from LDS.
// SHARED-LABEL: func.func @strided
// SHARED: dnn.for_each_point [2, 8, 3, 4] threads 32
// SHARED: %[[LDS:.*]] = memref.alloca() : memref<2304xf16, #gpu.address_space<workgroup>>
// SHARED-COUNT-9: dnn.point_load %arg1{{.*}} : memref<288xf16> -> vector<8xf16>
// SHARED: gpu.barrier
// SHARED: vector.load %[[LDS]]
// SHARED-NOT: dnn.point_load %arg1
// SHARED: dnn.point_store
func.func @strided(%x: memref<2x8x6x32xf16> {dnn.arg = "x"}, %w: memref<8x3x3x4xf16> {dnn.arg = "w"},
                   %y: memref<2x8x3x8xf16> {dnn.arg = "y"}) attributes {dnn.kernel} {
  dnn.conv backward_data x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 2] dilations [1, 1] groups 8
      : memref<2x8x6x32xf16>, memref<8x3x3x4xf16>, memref<2x8x3x8xf16>
  return
}
