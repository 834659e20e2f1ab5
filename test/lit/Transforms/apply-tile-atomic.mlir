// RUN: dnn-opt %s -split-input-file -verify-diagnostics --dnn-apply-tile="target=gfx942 tile=igemm-m64n64k32-w2x2-b2-mfma32-a7" | FileCheck %s

// Seven splits add to one f32 result, which a kernel in front sets to zero and a
// kernel behind converts to f16.
// CHECK-LABEL: func.func @weights_zero
// CHECK-SAME: %[[SUM:[^ ]+]]: memref<1x64x3x3x8xf32> {dnn.arg = "workspace", dnn.bytes = 18432 : i64}
// CHECK: dnn.for_each_point
// CHECK: dnn.point_store %{{.*}}, %[[SUM]]
// CHECK-LABEL: func.func @weights(
// CHECK: dnn.view %[[SUM:[^ ]+]] <[1, 7], [64], [3, 3, 8] : (d0, d1, d2, d3, d4, d5) -> (0, d0 * 64 + d2, d3, d4, d5)>
// CHECK: dnn.for_each_tile [7, 1, 2] of [64, 64]
// CHECK: dnn.tile_store {{.*}}] atomic :
// CHECK-LABEL: func.func @weights_sum
// CHECK: dnn.for_each_point
func.func @weights(%x: memref<64x7x7x8xf16>, %w: memref<64x3x3x8xf16>, %y: memref<64x7x7x64xf16>) attributes {dnn.kernel} {
  dnn.conv backward_weights x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<64x7x7x8xf16>, memref<64x3x3x8xf16>, memref<64x7x7x64xf16>
  return
}

// -----

// A result of f32 without an epilogue needs no workspace.
// CHECK-LABEL: func.func @in_place_zero
// CHECK-SAME: memref<64x7x7x8xf32>, %[[W:[^ ]+]]: memref<64x3x3x8xf32>, %{{[^ ]+}}: memref<64x7x7x64xf32>)
// CHECK: dnn.point_store %{{.*}}, %[[W]]
// CHECK-LABEL: func.func @in_place(
// CHECK: dnn.tile_store {{.*}}] atomic :
// CHECK-NOT: func.func
func.func @in_place(%x: memref<64x7x7x8xf32>, %w: memref<64x3x3x8xf32>, %y: memref<64x7x7x64xf32>) attributes {dnn.kernel} {
  dnn.conv backward_weights x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<64x7x7x8xf32>, memref<64x3x3x8xf32>, memref<64x7x7x64xf32>
  return
}

// -----

// The lowering has no atomic additions of f64, or of the i32 sums of i8.
func.func @doubles(%x: memref<64x7x7x8xf64>, %w: memref<64x3x3x8xf64>, %y: memref<64x7x7x64xf64>) attributes {dnn.kernel} {
  // expected-error@+1 {{is of 'f64', whose accumulators have no atomics}}
  dnn.conv backward_weights x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<64x7x7x8xf64>, memref<64x3x3x8xf64>, memref<64x7x7x64xf64>
  return
}
