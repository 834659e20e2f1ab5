// RUN: dnn-opt %s --dnn-apply-tile="target=sm_90 tile=toeplitz-c8b2r2q2t128" --dnn-verify-stage=stage=tiled | FileCheck %s
// RUN: sed 's/forward/backward_data/' %s | dnn-opt --dnn-apply-tile="target=sm_80 tile=toeplitz-c8b2r2q2t64n2" | FileCheck %s --check-prefix=DATA
// RUN: dnn-opt %s --dnn-apply-tile="target=sm_90 tile=toeplitz-c8b2r2q2t128n3s2" --dnn-verify-stage=stage=tiled | FileCheck %s --check-prefix=BOXES
// RUN: not dnn-opt %s --dnn-apply-tile="target=sm_80 tile=toeplitz-c8b2r2q2t128n3s2" 2>&1 | FileCheck %s --check-prefix=ENGINE
// RUN: sed 's/forward/backward_weights/; s/8x3x3x1/8x5x7x1/g; s/pads .1, 1./pads [2, 3]/' %s | dnn-opt --dnn-apply-tile="target=sm_90 tile=toeplitz-c8b1r4q1t64n2" | FileCheck %s --check-prefix=WEIGHTS
// RUN: sed 's/forward/backward_weights/; s/8x3x3x1/8x5x7x1/g; s/pads .1, 1./pads [2, 3]/' %s | dnn-opt --dnn-apply-tile="target=sm_90 tile=toeplitz-c8b1r4q1t64n2s1" --dnn-verify-stage=stage=tiled | FileCheck %s --check-prefix=STRIPS
// RUN: sed 's/forward/backward_weights/; s/8x3x3x1/8x5x7x1/g; s/pads .1, 1./pads [2, 3]/' %s | not dnn-opt --dnn-apply-tile="target=sm_80 tile=toeplitz-c8b1r4q1t64n2s1" 2>&1 | FileCheck %s --check-prefix=STRIPENGINE
// RUN: sed 's/forward/backward_weights/; s/8x3x3x1/8x5x7x1/g; s/pads .1, 1./pads [2, 3]/' %s | not dnn-opt --dnn-apply-tile="target=sm_90 tile=toeplitz-c8b1r8q1t64n2s1" 2>&1 | FileCheck %s --check-prefix=STRIPROWS
// RUN: sed 's/forward/backward_weights/; s/8x3x3x1/8x5x7x1/g; s/pads .1, 1./pads [2, 3]/' %s | not dnn-opt --dnn-apply-tile="target=sm_90 tile=toeplitz-c8b1r3q1t64n2" 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=toeplitz-c8b2r2q2t128" 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not dnn-opt %s --dnn-apply-tile="target=sm_90 tile=toeplitz-c8b4r2q5t128" 2>&1 | FileCheck %s --check-prefix=WINDOWS
// RUN: not dnn-opt %s --dnn-apply-tile="target=sm_90 tile=toeplitz-c16b2r2q2t128" 2>&1 | FileCheck %s --check-prefix=CHANNELS
// RUN: sed 's/forward/backward_weights/' %s | not dnn-opt --dnn-apply-tile="target=sm_90 tile=toeplitz-c8b2r2q2t128" 2>&1 | FileCheck %s --check-prefix=BANDS
// RUN: not dnn-opt %s --dnn-apply-tile="target=sm_90 tile=toeplitz-c12b2r2q2t128" 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: sed 's/f16/f32/g' %s | not dnn-opt --dnn-apply-tile="target=sm_90 tile=toeplitz-c8b2r2q2t128" 2>&1 | FileCheck %s --check-prefix=TYPE

// Refused are chips without the instruction, more than the 16 windows of an
// instruction, 16 channels where there are 8, backward weights with several bands or
// an odd number of rows, and f32, for which there is no such instruction.
// CHIP: does not fit tile 'toeplitz-c8b2r2q2t128'
// WINDOWS: does not fit tile 'toeplitz-c8b4r2q5t128'
// TEXT: is not a tile, which looks like 'toeplitz-c16b4r7q4t128'
// CHANNELS: does not fit tile 'toeplitz-c16b2r2q2t128'
// BANDS: does not fit tile 'toeplitz-c8b2r2q2t128'
// ROWS: does not fit tile 'toeplitz-c8b1r3q1t64n2'
// TYPE: does not fit tile 'toeplitz-c8b2r2q2t128'
// ENGINE: does not fit tile 'toeplitz-c8b2r2q2t128n3s2'
// STRIPENGINE: does not fit tile 'toeplitz-c8b1r4q1t64n2s1'
// With a multiple of eight rows, both images would be in the same banks.
// STRIPROWS: does not fit tile 'toeplitz-c8b1r8q1t64n2s1'

// Four bands of rows are two tiles of an image, and its 10 columns are two blocks. A
// warp has two channels, with six operands of three rows each. Four rows of windows
// and three rows of the filter give two rows of results. A channel's six rows of
// twelve words have three gaps of 16, so that the second band of two windows is 40
// words behind the first: in the banks behind those of its windows.
// CHECK-LABEL: func.func @conv
// CHECK: dnn.for_each_point [6, 1, 128] threads 128
// CHECK: %[[PLANES:.*]] = memref.alloca() : memref<8x120xvector<2xf16>, #gpu.address_space<workgroup>>
// CHECK-COUNT-24: dnn.point_load %arg1
// CHECK-NOT: dnn.point_load %arg1
// CHECK: dnn.point_load %arg0{{.*}} -> vector<8xf16>
// CHECK: memref.store %{{.*}}, %[[PLANES]]
// CHECK: gpu.barrier
// CHECK-COUNT-12: nvgpu.mma.sync({{.*}}) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
// CHECK-NOT: nvgpu.mma.sync
// CHECK: gpu.barrier
// CHECK: dnn.point_store %{{.*}}, %arg2

// Two of three tiles are in flight before the first is waited for, and the third is
// copied once the first is in the planes. Warps read six rows of 24 pixels, four
// groups of 8 at a time, and write four rows of 16.
// BOXES-LABEL: func.func @conv
// BOXES: dnn.for_each_point [2, 1, 128] threads 128
// BOXES: %[[RAW:.*]] = memref.alloca() : memref<2x144x8xf16, #gpu.address_space<workgroup>>
// BOXES: %[[OUT:.*]] = memref.alloca() : memref<1x64x8xf16, #gpu.address_space<workgroup>>
// BOXES-COUNT-2: dnn.box_load %arg0{{.*}} box [1, 6, 24, 8] to %[[RAW]]
// BOXES: %[[PLANES:.*]] = memref.alloca() : memref<8x132xvector<2xf16>, #gpu.address_space<workgroup>>
// BOXES-COUNT-24: dnn.point_load %arg1
// BOXES: scf.for
// BOXES: dnn.box_wait %[[RAW]]
// BOXES-COUNT-2: dnn.load_matrices transposed %[[RAW]]
// BOXES: gpu.barrier
// BOXES: scf.if
// BOXES: dnn.box_load %arg0
// BOXES: dnn.load_matrices %[[PLANES]]
// BOXES: nvgpu.mma.sync
// BOXES: dnn.box_store_wait
// BOXES: dnn.store_matrices transposed %{{.*}}, %[[OUT]]
// BOXES: dnn.box_store %[[OUT]] to %arg2{{.*}} box [1, 4, 16, 8]
// BOXES-NOT: dnn.point_store

// A workgroup computes two tiles, one after the other, with the same operands.
// DATA-LABEL: func.func @conv
// DATA: dnn.for_each_point [3, 1, 64] threads 64
// DATA-COUNT-48: dnn.point_load %arg1
// DATA-NOT: dnn.point_load %arg1
// DATA: scf.for
// DATA: dnn.point_load %arg2
// DATA: dnn.point_store %{{.*}}, %arg0

// Two images at a time have two tiles of their ten columns and two of their eight
// rows: four splits of two tiles. A pair of rows has reductions of eight columns, and
// half of one, for four channels. The sums of the two rows of x are in lanes at a
// distance of two.
// WEIGHTS-LABEL: func.func @conv
// WEIGHTS: dnn.for_each_point [4, 1, 64] threads 64
// WEIGHTS: scf.for
// WEIGHTS: nvgpu.mma.sync({{.*}}) {mmaShape = [16, 8, 16]}
// WEIGHTS: nvgpu.mma.sync({{.*}}) {mmaShape = [16, 8, 8]} : (vector<2x2xf16>, vector<1x2xf16>, vector<2x2xf32>)
// WEIGHTS-COUNT-14: nvgpu.mma.sync
// WEIGHTS-NOT: nvgpu.mma.sync
// WEIGHTS-COUNT-2: gpu.shuffle down
// WEIGHTS-COUNT-8: dnn.point_store {{.*}} : vector<2xf32>, memref<4x8x5x8xf32>
// WEIGHTS-LABEL: func.func @conv_sum
// WEIGHTS: dnn.for_each_point [8, 5, 8] threads 64
// WEIGHTS-COUNT-4: dnn.point_load
// WEIGHTS-NOT: dnn.point_load
// WEIGHTS: dnn.point_store %{{.*}}, %arg1

// The same with boxes. An image has one strip of gradients only and two strips of
// four rows of x. With two tiles of columns and two pairs of images these are twelve
// strips, two for each workgroup, and one more in front of them. A strip is a box of
// x, where there are products, and a box of gradients, both of two images and a pixel
// wider than what is used. There are two stages of strips.
// STRIPS-LABEL: func.func @conv
// STRIPS: dnn.for_each_point [6, 1, 64] threads 64
// STRIPS: %[[X:.*]] = memref.alloca() : memref<1x136x8xf16, #gpu.address_space<workgroup>>
// STRIPS: %[[Y:.*]] = memref.alloca() : memref<1x72x8xf16, #gpu.address_space<workgroup>>
// STRIPS: memref.alloca() : memref<8x68xvector<2xf16>, #gpu.address_space<workgroup>>
// STRIPS: %[[STAGES:.*]] = memref.alloca() : memref<8x164xvector<2xf16>, #gpu.address_space<workgroup>>
// STRIPS: dnn.box_load %arg0{{.*}} box [2, 4, 17, 8] to %[[X]][%{{.*}}] if %{{.*}} {dnn.streamed}
// STRIPS: dnn.box_load %arg2{{.*}} box [2, 4, 9, 8] to %[[Y]][%{{.*}}] {dnn.streamed}
// STRIPS: scf.for
// STRIPS: %[[PRODUCTS:.*]] = arith.andi
// STRIPS: scf.if %[[PRODUCTS]]
// STRIPS: dnn.box_wait %[[X]]
// STRIPS-COUNT-2: dnn.load_matrices transposed %[[X]]
// STRIPS: dnn.box_wait %[[Y]]
// STRIPS: dnn.load_matrices transposed %[[Y]]
// STRIPS: gpu.barrier
// STRIPS: scf.if
// STRIPS-COUNT-2: dnn.box_load
// STRIPS: scf.if %[[PRODUCTS]]
// STRIPS: dnn.load_matrices %[[STAGES]]
// STRIPS: nvgpu.mma.sync({{.*}}) {mmaShape = [16, 8, 16]}
// STRIPS: nvgpu.mma.sync({{.*}}) {mmaShape = [16, 8, 8]}
// STRIPS-COUNT-14: nvgpu.mma.sync
// STRIPS-NOT: nvgpu.mma.sync
// STRIPS: gpu.barrier
// STRIPS-COUNT-8: dnn.point_store {{.*}} : vector<2xf32>, memref<6x8x5x8xf32>
// STRIPS-LABEL: func.func @conv_sum

func.func @conv(%x: memref<3x8x10x8xf16>, %w: memref<8x3x3x1xf16>,
                %y: memref<3x8x10x8xf16>) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 8
      : memref<3x8x10x8xf16>, memref<8x3x3x1xf16>, memref<3x8x10x8xf16>
  return
}
