// RUN: dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q4t32s8n4" | FileCheck %s --check-prefix=STRIPS
// RUN: dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q4t32s8n4r4a" | FileCheck %s --check-prefix=SUMMED
// RUN: dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g1p1q1t64s128k2" | FileCheck %s --check-prefix=SPLIT
// RUN: dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q4t32s8n4r4u3ao" | FileCheck %s --check-prefix=HINTS
// RUN: not dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q4t32s8n4u0" 2>&1 | FileCheck %s --check-prefix=NO-UNIT
// RUN: not dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q4t32s8k4" 2>&1 | FileCheck %s --check-prefix=TAPS
// RUN: not dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q4t48s8n4r4" 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q4t32s2r4" 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: not dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q4t32s8l" 2>&1 | FileCheck %s --check-prefix=FILTER
// RUN: dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q2t32s16r4b2u1o" | FileCheck %s --check-prefix=BOXES
// RUN: not dnn-opt %s --dnn-apply-tile="target=sm_80 tile=depthwise-g2p1q2t32s16r4b2u1" 2>&1 | FileCheck %s --check-prefix=NO-ENGINE
// RUN: not dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q2t32s16n2r4b2u1" 2>&1 | FileCheck %s --check-prefix=BOX-TURNS
// RUN: not dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q2t32s16r4b0" 2>&1 | FileCheck %s --check-prefix=NO-STAGE

// Twelve lanes do not share out eight blocks of groups, a workgroup does not
// sum more parts than there are, three rows of taps are not four parts, and
// there is no filter to share.
// LANES: does not fit tile 'depthwise-g2p1q4t48s8n4r4'
// FEW: does not fit tile 'depthwise-g2p1q4t32s2r4'
// TAPS: does not fit tile 'depthwise-g2p1q4t32s8k4'
// FILTER: does not fit tile 'depthwise-g2p1q4t32s8l'

// NO-UNIT: 'depthwise-g2p1q4t32s8n4u0' is not a tile, which looks like

// Registers are for three workgroups of a compute unit, and caches need not keep
// what is loaded, but what the second launch reads.
// HINTS-LABEL: func.func @weights
// HINTS: dnn.for_each_point [2, 1, 4, 8] threads 32 attributes {dnn.resident = 3 : i64}
// HINTS: dnn.point_load %arg2[{{.*}}] {dnn.streamed}
// HINTS: dnn.point_load %arg0[{{.*}}] {dnn.streamed}
// HINTS-LABEL: func.func @weights_sum
// HINTS-NOT: dnn.streamed

// Boxes are for chips with a copy engine; a box is a strip of one block of rows;
// and none is not written.
// NO-ENGINE: does not fit tile 'depthwise-g2p1q2t32s16r4b2u1'
// BOX-TURNS: does not fit tile 'depthwise-g2p1q2t32s16n2r4b2u1'
// NO-STAGE: 'depthwise-g2p1q2t32s16r4b0' is not a tile

// Of sixteen strips of a row, four workgroups take every fourth: ten pixels of x
// and three rows of eight gradients, in slots of whole 128 bytes. Two are under
// way, and another one once all threads have theirs in registers. The last rows
// have gradients outside, which are zeros that the engine brings.
// BOXES-LABEL: func.func @weights
// BOXES: dnn.for_each_point [4, 1, 4, 8] threads 32
// BOXES-SAME: dnn.resident = 1
// BOXES: %[[X:.*]] = memref.alloca() : memref<2x12x16xbf16
// BOXES: %[[Y:.*]] = memref.alloca() : memref<2x24x16xbf16
// BOXES: dnn.box_load %arg0[{{.*}}] box [1, 1, 10, 16] {{.*}}to %[[X]]{{.*}}dnn.streamed
// BOXES: dnn.box_load %arg2[{{.*}}] box [1, 3, 8, 16] {{.*}}to %[[Y]]{{.*}}dnn.streamed
// BOXES-COUNT-2: dnn.box_load
// BOXES-NOT: dnn.box_load
// BOXES: %{{.*}}:9 = scf.for
// BOXES: dnn.box_wait %[[X]]
// BOXES: dnn.box_wait %[[Y]]
// BOXES-COUNT-6: vector.load %[[Y]]
// BOXES-COUNT-4: vector.load %[[X]]
// BOXES: gpu.barrier
// BOXES: scf.if
// BOXES-COUNT-2: dnn.box_load
// BOXES-NOT: dnn.box_load
// BOXES: math.fma
// BOXES-NOT: dnn.point_load
// BOXES: dnn.point_store {{.*}} memref<4x9x16xf32>
// BOXES-LABEL: func.func @weights_sum

// Two images of two strips of two segments: a strip a part. A row of gradients
// is loaded once, and two rows wander through the loop behind nine sums. The
// second launch sums eight parts.
// STRIPS-LABEL: func.func @weights
// STRIPS: dnn.for_each_point [8, 8] threads 32
// STRIPS-COUNT-8: dnn.point_load %arg2
// STRIPS: %{{.*}}:17 = scf.for
// STRIPS-COUNT-4: dnn.point_load %arg2
// STRIPS-NOT: dnn.point_load %arg2
// STRIPS-COUNT-6: dnn.point_load %arg0
// STRIPS-NOT: dnn.point_load
// STRIPS: scf.yield
// STRIPS-COUNT-9: dnn.point_store {{.*}} memref<8x9x16xf32>
// STRIPS-LABEL: func.func @weights_sum
// STRIPS: dnn.for_each_point [9, 1, 1, 16] threads 16

// Four parts a workgroup, eight lanes each; the first block's rows are loaded
// before the loop, the next one's before a block's products. Nine sums in three
// times four.
// SUMMED-LABEL: func.func @weights
// SUMMED: dnn.for_each_point [2, 1, 4, 8] threads 32
// SUMMED: scf.for
// SUMMED-COUNT-10: dnn.point_load
// SUMMED-NOT: dnn.point_load
// SUMMED: math.fma
// SUMMED: scf.yield
// SUMMED: %[[LDS:.*]] = memref.alloca() : memref<12x4x16xf32, #gpu.address_space<workgroup>>
// SUMMED-COUNT-12: vector.store %{{.*}}, %[[LDS]]
// SUMMED: gpu.barrier
// SUMMED-COUNT-4: vector.load %[[LDS]]
// SUMMED: dnn.point_store {{.*}} memref<2x9x16xf32>
// SUMMED-COUNT-2: dnn.point_store {{.*}} memref<2x9x16xf32>
// SUMMED-NOT: dnn.point_store
// SUMMED-LABEL: func.func @weights_sum

// Two threads share out a filter: six elements each, of which three of the
// second one's are behind the last and not stored. The sum of 128 parts is that
// of eight threads an element, of which one stores it.
// SPLIT-LABEL: func.func @weights
// SPLIT: dnn.for_each_point [128, 2, 16] threads 64
// SPLIT-COUNT-6: dnn.point_store {{.*}} memref<128x9x16xf32>
// SPLIT-NOT: dnn.point_store
// SPLIT-LABEL: func.func @weights_sum
// SPLIT: dnn.for_each_point [9, 1, 8, 16] threads 128
// SPLIT-COUNT-16: dnn.point_load {{.*}} memref<128x9x16xf32>
// SPLIT-NOT: dnn.point_load
// SPLIT: memref.store
// SPLIT: gpu.barrier
// SPLIT-COUNT-8: memref.load
// SPLIT: %[[FIRST:.*]] = arith.cmpi eq
// SPLIT: arith.select %[[FIRST]]
// SPLIT: dnn.point_store {{.*}} memref<16x3x3x1xbf16>
func.func @weights(%x: memref<2x8x8x16xbf16> {dnn.arg = "x"}, %w: memref<16x3x3x1xbf16> {dnn.arg = "w"},
                   %y: memref<2x8x8x16xbf16> {dnn.arg = "y"}) attributes {dnn.kernel} {
  dnn.conv backward_weights x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 16
      : memref<2x8x8x16xbf16>, memref<16x3x3x1xbf16>, memref<2x8x8x16xbf16>
  return
}
