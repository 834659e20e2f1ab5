// RUN: dnn-opt %s --dnn-apply-tile="target=gfx942 tile=general-b4r1t256s1" | FileCheck %s --check-prefix=DATA
// RUN: dnn-opt %s --dnn-apply-tile="target=gfx942 tile=depthwise-g2p1q2t64s1" | FileCheck %s --check-prefix=DEPTHWISE
// RUN: dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q2t64s1n3" | FileCheck %s --check-prefix=TURNS
// RUN: dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q2t32s1l" | FileCheck %s --check-prefix=SHARED
// RUN: not dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q2t128s1l" 2>&1 | FileCheck %s --check-prefix=PARTIAL
// RUN: not dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q2t64s1r2" 2>&1 | FileCheck %s --check-prefix=SUMMED
// RUN: dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q2t64s1u2" | FileCheck %s --check-prefix=RESIDENT
// RUN: not dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q2t64s1o" 2>&1 | FileCheck %s --check-prefix=STREAMED
// RUN: not dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q2t64s1n1" 2>&1 | FileCheck %s --check-prefix=ONE-TURN
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=general-b3r1t256s1" 2>&1 | FileCheck %s --check-prefix=BLOCK
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=general-b4" 2>&1 | FileCheck %s --check-prefix=GENERAL
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=depthwise-g3p1q2t64s1" 2>&1 | FileCheck %s --check-prefix=GROUPS
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=depthwise-g8" 2>&1 | FileCheck %s --check-prefix=WORD

// BLOCK: does not fit tile 'general-b3r1t256s1': its blocks must divide the channels of a group
// GENERAL: 'general-b4' is not a tile, which looks like 'general-b4r1t256s1'
// GROUPS: does not fit tile 'depthwise-g3p1q2t64s1'
// ONE-TURN: 'depthwise-g2p1q2t64s1n1' is not a tile, which looks like
// PARTIAL: does not fit tile 'depthwise-g2p1q2t128s1l'
// STREAMED: does not fit tile 'depthwise-g2p1q2t64s1o'
// SUMMED: does not fit tile 'depthwise-g2p1q2t64s1r2'
// WORD: 'depthwise-g8' is not a tile, which looks like 'depthwise-g8p2q4t256s1'

// General, backward data with a stride: one thread a pixel and its four
// channels of a group; a tap that no output pixel meets is skipped. Depthwise:
// two pixels of two groups, and no loop.
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

// Three rows, one below the other: the filter is loaded once for them.
// TURNS-LABEL: func.func @strided
// TURNS: dnn.for_each_point [2, 3, 3, 4] threads 64
// TURNS: dnn.point_load %arg1
// TURNS: scf.for %{{.*}} = %c0{{.*}} to %c3
// TURNS-NOT: dnn.point_load %arg1
// TURNS: dnn.point_store

// Registers for two workgroups of a compute unit.
// RESIDENT-LABEL: func.func @strided
// RESIDENT: dnn.for_each_point [2, 8, 3, 4] threads 64 attributes {dnn.resident = 2 : i64}

// A workgroup of 32 threads loads the filters of its 4 blocks of groups eight
// times over, 8 elements a time; each thread reads its own.
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
