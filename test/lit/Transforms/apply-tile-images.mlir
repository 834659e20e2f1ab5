// RUN: dnn-opt %s -split-input-file --dnn-apply-tile="target=sm_90 tile=igemm-m128n128k64-w2x1-t4-wgmma" | FileCheck %s
// RUN: dnn-opt %s -split-input-file --dnn-apply-tile="target=sm_90 tile=igemm-m128n128k64-w2x1-t4-wgmma" --dnn-expand-pipeline --dnn-lower-workgroup | FileCheck %s --check-prefix=TMA
// RUN: not dnn-opt --problem "conv-fwd-f16-nchw,nchw,nchw-n4c64h28w28-k256y1x1-p0x0-s1x1-d1x1-g1-ebias" --target sm_90 --tile igemm-m128n128k64-w2x1-t4-wgmma --stop-after gpu 2>&1 | FileCheck %s --check-prefix=BIAS

// A bias is one value a column, and channels are rows of image products. Without
// these, pixels of several lines are no dimension of a tensor map.
// BIAS: needs taps of channels that 32 divides, but has 28

// A product for each image: rows are output channels, columns pixels. Pixels of
// the operand b lie together, so wgmma reads it transposed.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    %[[X:[^:]*]]: memref<4x64x784xf16> {dnn.arg = "x"}, %[[W:[^:]*]]: memref<256x64xf16> {dnn.arg = "w"}, %[[Y:[^:]*]]: memref<4x256x784xf16> {dnn.arg = "y"})
// CHECK:         dnn.view %[[W]] <[4], [256], [64] : (d0, d1, d2) -> (d1, d2)
// CHECK:         dnn.view %[[X]] <[4], [784], [64] : (d0, d1, d2) -> (d0, d2, d1)
// CHECK:         dnn.view %[[Y]] <[4], [256], [784] : (d0, d1, d2) -> (d0, d1, d2)
// CHECK:         dnn.for_each_tile [4, 2, 7] of [128, 128] persistent 132
// TMA: dnn.tensor_maps = ["w:f16:tiled:64,256:128:64,128:1,1", "x:f16:tiled:784,64,4:1568,100352:64,64,1:1,1,1"]
// TMA: nvvm.wgmma.mma_async {{.*}}, D[<f32>, <zero>], A[<f16>, <one>, <row>], B[<f16>, <one>, <row>]
func.func @forward(%x: memref<4x64x28x28xf16> {dnn.arg = "x"}, %w: memref<256x64x1x1xf16> {dnn.arg = "w"}, %y: memref<4x256x28x28xf16> {dnn.arg = "y"}) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nchw, nchw, nchw)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1
      : memref<4x64x28x28xf16>, memref<256x64x1x1xf16>, memref<4x256x28x28xf16>
  return
}

// -----

// Both operands are read transposed, and the reduction is still of channels.
// CHECK-LABEL: func.func @data(
// CHECK:         dnn.view %{{.*}} <[4], [64], [256] : (d0, d1, d2) -> (d2, d1)
// CHECK:         dnn.view %{{.*}} <[4], [784], [256] : (d0, d1, d2) -> (d0, d2, d1)
// TMA: dnn.tensor_maps = ["w:f16:tiled:64,256:128:64,64:1,1", "y:f16:tiled:784,256,4:
// TMA: nvvm.wgmma.mma_async {{.*}}, D[<f32>, <zero>], A[<f16>, <one>, <col>], B[<f16>, <one>, <row>]
func.func @data(%x: memref<4x64x28x28xf16> {dnn.arg = "x"}, %w: memref<256x64x1x1xf16> {dnn.arg = "w"}, %y: memref<4x256x28x28xf16> {dnn.arg = "y"}) attributes {dnn.kernel} {
  dnn.conv backward_data x(%x) w(%w) y(%y) layouts(nchw, nchw, nchw)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1
      : memref<4x64x28x28xf16>, memref<256x64x1x1xf16>, memref<4x256x28x28xf16>
  return
}

// -----

// One product, whose reduction walks the images and the pixels of each. The
// last step of an image ends with it: 784 is 12 steps and a quarter.
// CHECK-LABEL: func.func @weights(
// CHECK:         dnn.pipeline reduce [4, 784] step 64
// TMA: dnn.tensor_maps = ["y:f16:tiled:784,256,4:1568,401408:64,128,1:1,1,1", "x:f16:tiled:784,64,4:1568,100352:64,64,1:1,1,1", "w:f16:tiled:64,256:128:64,16:1,1"]
// TMA: nvvm.wgmma.mma_async {{.*}}, D[<f32>, <zero>], A[<f16>, <one>, <row>], B[<f16>, <one>, <col>]
func.func @weights(%x: memref<4x64x28x28xf16> {dnn.arg = "x"}, %w: memref<256x64x1x1xf16> {dnn.arg = "w"}, %y: memref<4x256x28x28xf16> {dnn.arg = "y"}) attributes {dnn.kernel} {
  dnn.conv backward_weights x(%x) w(%w) y(%y) layouts(nchw, nchw, nchw)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1
      : memref<4x64x28x28xf16>, memref<256x64x1x1xf16>, memref<4x256x28x28xf16>
  return
}
