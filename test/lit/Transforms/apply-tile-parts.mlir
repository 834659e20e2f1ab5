// RUN: dnn-opt %s --dnn-apply-tile="target=gfx942 tile=general-b4r2t64s3" | FileCheck %s

// Sums in parts: the first kernel writes each part to the workspace, the second
// adds them, applies the epilogue (beta: the old result) and rounds once.
// CHECK-LABEL: func.func @weights(
// CHECK-SAME: %[[W:[^:]*]]: memref<8x3x3x4xf16> {dnn.arg = "w"}
// CHECK-SAME: %[[BETA:[^:]*]]: f64 {dnn.arg = "beta"}
// CHECK-SAME: %[[PARTS:[^:]*]]: memref<3x8x3x3x4xf32> {dnn.arg = "workspace", dnn.bytes = 3456 : i64}
// CHECK: dnn.for_each_point [3, 1, 4, 3, 3, 1] threads 64
// CHECK-NOT: dnn.point_store %{{.*}}, %[[W]]
// CHECK: dnn.point_store %{{.*}}, %[[PARTS]]{{.*}} : vector<4xf32>
// CHECK-LABEL: func.func @weights_sum(
// CHECK-SAME: %[[W:[^:]*]]: memref<8x3x3x4xf16> {dnn.arg = "w"}
// CHECK-SAME: %[[BETA:[^:]*]]: f64 {dnn.arg = "beta"}
// CHECK-SAME: %[[PARTS:[^:]*]]: memref<3x8x3x3x4xf32>
// CHECK: dnn.for_each_point [8, 3, 3, 1] threads 256
// CHECK-COUNT-3: dnn.point_load %[[PARTS]]
// CHECK-NOT: dnn.point_load %[[PARTS]]
// CHECK-COUNT-3: arith.addf
// CHECK: dnn.point_load %[[W]]
// CHECK: %[[SCALE:.*]] = vector.broadcast %[[BETA]] : f64 to vector<4xf64>
// CHECK: arith.truncf %[[SCALE]]
// CHECK: dnn.point_store %{{.*}}, %[[W]]{{.*}} : vector<4xf16>
func.func @weights(%x: memref<2x8x6x4xf16> {dnn.arg = "x"}, %w: memref<8x3x3x4xf16> {dnn.arg = "w"},
                   %y: memref<2x8x6x8xf16> {dnn.arg = "y"}, %beta: f64 {dnn.arg = "beta"})
    attributes {dnn.kernel} {
  dnn.conv backward_weights x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      epilogue ins(%w : memref<8x3x3x4xf16>) {
  ^bb0(%sum: f32, %old: f32):
    %scale = arith.truncf %beta : f64 to f32
    %scaled = arith.mulf %scale, %old : f32
    %new = arith.addf %sum, %scaled : f32
    dnn.yield %new : f32
  } : memref<2x8x6x4xf16>, memref<8x3x3x4xf16>, memref<2x8x6x8xf16>
  return
}
