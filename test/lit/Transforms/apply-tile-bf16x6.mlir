// RUN: dnn-opt %s -split-input-file --dnn-apply-tile="target=sm_90 tile=bf16x6-igemm-m128n128k64-w2x1-t4-wgmma-promote4" | FileCheck %s
// RUN: dnn-opt --problem "conv-wrw-f32-nchw,nchw,nchw-n2c64h14w14-k64y3x3-p1x1-s1x1-d1x1-g1" --target sm_90 --tile bf16x6-igemm-m64n64k64-w1x1-p6-wgmma-s4-promote4 --stop-after gpu | FileCheck %s --check-prefix=WEIGHTS

// x is split as it is: 16 bytes in, the six copies of its channels out.
// CHECK-LABEL: func.func @forward_x(
// CHECK-SAME:    %[[X:[^:]*]]: memref<392x64xf32, strided<[64, 1]>> {dnn.arg = "x"},
// CHECK-SAME:    %[[COPIES:[^:]*]]: memref<392x6x64xbf16, strided<[384, 64, 1]>> {dnn.arg = "workspace", dnn.bytes = 301056 : i64}
// CHECK:       %[[V:.*]], %{{.*}} = dnn.point_load %[[X]]{{.*}} -> vector<4xf32>
// CHECK:       arith.subf %[[V]]
// CHECK-COUNT-6: dnn.point_store {{.*}}, %[[COPIES]]{{.*}} : vector<4xbf16>
// The filter is transposed on its way.
// CHECK-LABEL: func.func @forward_w(
// CHECK-SAME:    memref<128x1x64x9xf32,
// CHECK-SAME:    memref<128x1x9x6x64xbf16, strided<[3456, 384, 384, 64, 1], offset: 150528>>
// CHECK:       gpu.barrier
// CHECK-COUNT-6: dnn.point_store
// The product is one of bf16, six times as deep, with a result of f32.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    %[[PX:[^:]*]]: memref<2x14x14x384xbf16> {dnn.arg = "workspace"
// CHECK-SAME:    %[[PW:[^:]*]]: memref<128x3x3x384xbf16, strided<[3456, 1152, 384, 1], offset: 150528>>
// CHECK:       dnn.view %[[PX]]
// CHECK:       dnn.pipeline reduce [3, 3, 384] step 64 buffers 4 promote 4 copy tma
// CHECK-NOT:   func.func @forward_y
func.func @forward(%x: memref<2x14x14x64xf32> {dnn.arg = "x"}, %w: memref<128x64x3x3xf32> {dnn.arg = "w"}, %y: memref<2x14x14x128xf32> {dnn.arg = "y"}) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nchw, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x14x14x64xf32>, memref<128x64x3x3xf32>, memref<2x14x14x128xf32>
  return
}

// -----

// Two groups: each has its copies of y's channels, and of whole filters. An
// infinity is in the first copy alone.
// CHECK-LABEL: func.func @data_w(
// CHECK-SAME:    memref<2x36864xf32
// CHECK-SAME:    memref<2x6x36864xbf16
// CHECK-LABEL: func.func @data_y(
// CHECK-SAME:    memref<784x64xf32
// CHECK-SAME:    memref<784x6x64xbf16
// CHECK-LABEL: func.func @data(
// CHECK-SAME:    memref<768x3x3x64xbf16
// CHECK-SAME:    memref<2x14x14x768xbf16
func.func @data(%x: memref<2x14x14x128xf32> {dnn.arg = "x"}, %w: memref<128x3x3x64xf32> {dnn.arg = "w"}, %y: memref<2x14x14x128xf32> {dnn.arg = "y"}) attributes {dnn.kernel} {
  dnn.conv backward_data x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 2
      : memref<2x14x14x128xf32>, memref<128x3x3x64xf32>, memref<2x14x14x128xf32>
  return
}

// Backward weights walks six times the images. Accumulators begin anew after
// four steps, and are added to sums that begin as zeros; the launch behind adds
// the splits, and another one transposes.
// WEIGHTS: gpu.func @{{[a-z0-9_]*}}_x(
// WEIGHTS: gpu.func @{{[a-z0-9_]*}}_y(
// WEIGHTS: "workspace{{[^:]*}}:bf16:im2col:64,14,14,12:
// WEIGHTS: nvvm.setmaxregister increase
// WEIGHTS: llvm.mlir.zero
// WEIGHTS: scf.for
// WEIGHTS: arith.minui
// WEIGHTS: nvvm.wgmma.mma_async {{.*}} D[<f32>, <zero>]
// WEIGHTS: scf.for
// WEIGHTS: nvvm.wgmma.mma_async {{.*}} D[<f32>, <one>]
// WEIGHTS: nvvm.wgmma.wait.group.sync.aligned 0
// WEIGHTS-COUNT-32: arith.addf
// WEIGHTS: gpu.func @{{[a-z0-9_]*}}_sum(
// WEIGHTS: gpu.func @{{[a-z0-9_]*}}_w(
