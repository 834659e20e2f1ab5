// RUN: dnn-opt %s -split-input-file -verify-diagnostics --dnn-apply-tile="target=gfx942 tile=winograd-f2-igemm-m64n64k16-w1x2-b2-mfma32" | FileCheck %s
// RUN: dnn-opt %s -split-input-file --dnn-apply-tile="target=gfx942 tile=winograd-f4-igemm-m64n64k16-w1x2-b2-mfma32" | FileCheck %s --check-prefix=FOUR
// RUN: dnn-opt %s -split-input-file --dnn-apply-tile="target=gfx942 tile=winograd-f2-igemm-m64n64k16-w1x2-b2-mfma32-s2" | FileCheck %s --check-prefix=SPLIT
// RUN: dnn-opt --problem "conv -n 2 -c 64 -H 14 -W 14 -k 64 -y 3 -x 3 -p 1 -q 1 -F 2" --target sm_90 --tile winograd-f4-igemm-m64n32k16-w2x2-b2-fma --stop-after isa | FileCheck %s --check-prefix=PTX

// x has 2 x 4 x 5 tiles of 16 points: the image of 7 by 9 is not whole tiles.
// Four channels a thread; a tile begins a row and a column before the image.
// CHECK-LABEL: func.func @forward_input(
// CHECK-SAME:    %[[X:[^:]*]]: memref<2x7x9x64xf32>
// CHECK-SAME:    %[[V:[^:]*]]: memref<2x4x5x16x64xf32, strided<[20480, 5120, 1024, 64, 1]>> {dnn.arg = "workspace", dnn.bytes = [[BYTES:[0-9]+]] : i64}
// CHECK:       dnn.for_each_point [2, 4, 5, 16] threads 256
// CHECK-COUNT-16: dnn.point_load %[[X]]{{.*}} -> vector<4xf32>
// CHECK-NOT:   dnn.point_load
// CHECK-COUNT-16: dnn.point_store {{.*}}, %[[V]]{{.*}} : vector<4xf32>
// CHECK-LABEL: func.func @forward_filter(
// CHECK-SAME:    %[[W:arg1]]: memref<48x3x3x64xf32>
// CHECK-SAME:    %[[U:[^:]*]]: memref<16x48x64xf32, strided<[3072, 64, 1], offset: 40960>>
// CHECK:       dnn.for_each_point [48, 16] threads 256
// CHECK-COUNT-9: dnn.point_load %[[W]]{{.*}} -> vector<4xf32>
// CHECK-COUNT-16: dnn.point_store {{.*}}, %[[U]]
// The product is a convolution of 1x1 with 16 groups.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    memref<40x1x1x1024xf32, strided<[1024, 1024, 1024, 1]>>
// CHECK-SAME:    memref<768x1x1x64xf32, strided<[64, 64, 64, 1], offset: 40960>>
// CHECK-SAME:    memref<40x1x1x768xf32, strided<[768, 768, 768, 1], offset: 90112>>
// CHECK:       dnn.for_each_tile [16, 1, 1]
// CHECK-LABEL: func.func @forward_output(
// CHECK-SAME:    %[[Y:arg2]]: memref<2x7x9x48xf32>
// CHECK-SAME:    %[[M:[^:]*]]: memref<2x4x5x16x48xf32, strided<[15360, 3840, 768, 48, 1], offset: 90112>>
// CHECK-COUNT-16: dnn.point_load %[[M]]
// CHECK-COUNT-4: dnn.point_store {{.*}}, %[[Y]]{{.*}} : vector<4xf32>
// CHECK-NOT:   dnn.point_store

// FOUR-LABEL: func.func @forward_input(
// FOUR-SAME:    memref<2x2x3x36x64xf32, strided<[13824, 6912, 2304, 64, 1]>>
// FOUR-COUNT-36: dnn.point_load {{.*}} -> vector<2xf32>
// FOUR-LABEL: func.func @forward_output(
// FOUR-COUNT-16: dnn.point_store
func.func @forward(%x: memref<2x7x9x64xf32> {dnn.arg = "x"}, %w: memref<48x3x3x64xf32> {dnn.arg = "w"}, %y: memref<2x7x9x48xf32> {dnn.arg = "y"}) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x7x9x64xf32>, memref<48x3x3x64xf32>, memref<2x7x9x48xf32>
  return
}

// -----

// Backward data reads y, reduces its 48 channels, and stores lines of pixels
// where these are neighbours in memory. Its epilogue is the last launch's.
// CHECK-LABEL: func.func @backward_input(
// CHECK-SAME:    memref<1x4x4x16x48xf32
// CHECK:       dnn.for_each_point [1, 3, 4, 4, 16] threads 256
// CHECK-COUNT-16: dnn.point_load %arg2[{{.*}} -> f32
// CHECK-LABEL: func.func @backward_filter(
// CHECK-SAME:    memref<16x32x48xf32
// CHECK-LABEL: func.func @backward(
// CHECK-NOT:   math.absf
// CHECK-LABEL: func.func @backward_output(
// CHECK:       math.absf
// CHECK:       dnn.point_store {{.*}}, %arg0{{.*}} : vector<2xf32>
// PTX-DAG: .entry {{[a-z0-9_]+}}_input(
// PTX-DAG: .entry {{[a-z0-9_]+}}_filter(
// PTX-DAG: .entry {{[a-z0-9_]+}}_output(
func.func @backward(%x: memref<1x32x8x8xf32> {dnn.arg = "x"}, %w: memref<48x32x3x3xf32> {dnn.arg = "w"}, %y: memref<1x48x8x8xf32> {dnn.arg = "y"}) attributes {dnn.kernel} {
  dnn.conv backward_data x(%x) w(%w) y(%y) layouts(nchw, nchw, nchw)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      epilogue {
    ^bb0(%acc: f32):
      %all = math.absf %acc : f32
      dnn.yield %all : f32
    } : memref<1x32x8x8xf32>, memref<48x32x3x3xf32>, memref<1x48x8x8xf32>
  return
}

// -----

// Backward weights transforms y, too; products are reduced over the tiles, in
// two launches where they are split, and the last one makes nine taps of
// sixteen points. The partial results come first in the workspace.
// CHECK-LABEL: func.func @weights_input(
// CHECK-SAME:    memref<4x4x4x16x64xf32, strided<[16384, 4096, 1024, 64, 1]>>
// CHECK-COUNT-16: dnn.point_load %arg0
// CHECK-LABEL: func.func @weights_gradient(
// CHECK-SAME:    memref<4x4x4x16x64xf32, strided<[16384, 4096, 1024, 64, 1], offset: 131072>>
// CHECK-COUNT-4: dnn.point_load %arg2
// CHECK-NOT:   dnn.point_load
// CHECK-COUNT-16: dnn.point_store
// CHECK-LABEL: func.func @weights(
// CHECK-LABEL: func.func @weights_filter(
// CHECK-COUNT-16: dnn.point_load
// CHECK-COUNT-9: dnn.point_store {{.*}}, %arg1
// CHECK-NOT:   dnn.point_store
// SPLIT-LABEL: func.func @weights_input(
// SPLIT-SAME:    memref<4x4x4x16x64xf32, strided<[16384, 4096, 1024, 64, 1], offset: 131072>> {dnn.arg = "workspace", dnn.bytes = 1310720 : i64}
// SPLIT-LABEL: func.func @weights(
// SPLIT-SAME:    memref<2x1024x1x1x64xf32>
// SPLIT-LABEL: func.func @weights_sum(
// SPLIT-LABEL: func.func @weights_filter(
func.func @weights(%x: memref<4x8x8x64xf32> {dnn.arg = "x"}, %w: memref<64x3x3x64xf32> {dnn.arg = "w"}, %y: memref<4x8x8x64xf32> {dnn.arg = "y"}) attributes {dnn.kernel} {
  dnn.conv backward_weights x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<4x8x8x64xf32>, memref<64x3x3x64xf32>, memref<4x8x8x64xf32>
  return
}
