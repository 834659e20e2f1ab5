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
// RUN: not dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q2t32s16n2r4b2u1" 2>&1 | FileCheck %s --check-prefix=BOX-PASSES
// RUN: not dnn-opt %s --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q2t32s16r4b0" 2>&1 | FileCheck %s --check-prefix=NO-STAGE

// Refused are twelve lanes for eight blocks of groups, workgroups that sum more
// splits than there are, four parts of three rows of taps, and sharing a filter,
// because backward weights reads none.
// LANES: does not fit tile 'depthwise-g2p1q4t48s8n4r4'
// FEW: does not fit tile 'depthwise-g2p1q4t32s2r4'
// TAPS: does not fit tile 'depthwise-g2p1q4t32s8k4'
// FILTER: does not fit tile 'depthwise-g2p1q4t32s8l'

// NO-UNIT: 'depthwise-g2p1q4t32s8n4u0' is not a tile, which looks like

// Registers are limited so that a compute unit holds three workgroups. Caches need
// not keep what is loaded, except what the second launch reads.
// HINTS-LABEL: func.func @weights
// HINTS: dnn.for_each_point [2, 1, 4, 8] threads 32 attributes {dnn.resident = 3 : i64}
// HINTS: dnn.point_load %arg2[{{.*}}] {dnn.streamed}
// HINTS: dnn.point_load %arg0[{{.*}}] {dnn.streamed}
// HINTS-LABEL: func.func @weights_sum
// HINTS-NOT: dnn.streamed

// Boxes need a chip with TMA, a box is a strip of one block of rows, and a tile
// without boxes does not name them.
// NO-ENGINE: does not fit tile 'depthwise-g2p1q2t32s16r4b2u1'
// BOX-PASSES: does not fit tile 'depthwise-g2p1q2t32s16n2r4b2u1'
// NO-STAGE: 'depthwise-g2p1q2t32s16r4b0' is not a tile

// Four workgroups compute every fourth of the sixteen strips of a row: ten pixels of
// x and three rows of eight gradients, in slots of whole 128 bytes. Two strips are
// in flight, and another copy begins once all threads have a strip in registers. The
// gradients outside of the last rows are zeros that TMA writes.
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

// Two images of two strips of two segments are eight splits, one for each strip. A
// row of gradients is loaded once: two rows are carried through the loop, after
// nine accumulators. The second launch adds eight partial results.
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

// A workgroup computes four splits by eight lanes each. The rows of the first block
// are loaded before the loop, those of the next one before the products of a block.
// The nine accumulators, padded to twelve, go through LDS, so that each of the four
// threads of an element adds three of them.
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

// Two threads share a filter of nine elements: six each, of which the second thread's
// last three are not stored. Eight threads add the 128 partial results of an
// element, and one of them stores the sum.
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
