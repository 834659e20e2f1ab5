// RUN: dnn-opt %s --split-input-file --dnn-apply-tile="target=gfx942 tile=pool-c8h1w2" --dnn-verify-stage=stage=tiled | FileCheck %s

// A thread computes eight channels of two neighbouring outputs. Their windows share a
// column, so that 15 pixels are loaded for 18 positions; the shared one is position 2
// of the first output and position 0 of the second.
// CHECK-LABEL: func.func @forward
// CHECK:         dnn.for_each_point [64, 1, 56, 28, 8] threads 256
// CHECK-COUNT-2: dnn.point_load %arg0[{{.*}}] : memref<64x112x112x64xf16> -> vector<8xf16>
// CHECK:         %[[SHARED:.*]], %[[VALID:.*]] = dnn.point_load %arg0
// CHECK:         %[[V:.*]] = arith.select %[[VALID]], %[[SHARED]], %[[LOWEST:.*]] : vector<8xf16>
// CHECK:         arith.cmpf ogt, %[[V]], %{{.*}} : vector<8xf16>
// CHECK:         arith.cmpf ogt, %[[V]], %[[LOWEST]] : vector<8xf16>
// CHECK-COUNT-12: dnn.point_load
// CHECK-NOT:     dnn.point_load
// CHECK-COUNT-2: dnn.point_store %{{.*}}, %arg1[{{.*}}] : vector<8xf16>, memref<64x56x56x64xf16>
// CHECK-COUNT-2: dnn.point_store %{{.*}}, %arg2[{{.*}}] : vector<8xi8>, memref<64x56x56x64xi8>
func.func @forward(%x: memref<64x112x112x64xf16>, %y: memref<64x56x56x64xf16>,
                   %i: memref<64x56x56x64xi8>) attributes {dnn.kernel} {
  dnn.pool forward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 3] pads [1, 1] strides [2, 2]
      : memref<64x112x112x64xf16>, memref<64x56x56x64xf16>, memref<64x56x56x64xi8>
  return
}

// -----

// Backward, a thread computes 2x4 pixels, to which 2x3 outputs contribute. Stride and
// padding decide which at compile time, so that nothing is divided.
// CHECK-LABEL: func.func @backward
// CHECK:         dnn.for_each_point [64, 1, 56, 28, 8] threads 256
// CHECK-COUNT-6: dnn.point_load %arg1
// CHECK-NOT:     dnn.point_load %arg1
// CHECK-COUNT-8: dnn.point_store %{{.*}}, %arg0
// CHECK-NOT:     arith.divui
func.func @backward(%x: memref<64x112x112x64xf16>, %y: memref<64x56x56x64xf16>,
                    %i: memref<64x56x56x64xi8>) attributes {dnn.kernel} {
  dnn.pool backward max x(%x) y(%y) indices(%i mask) layouts(nhwc, nhwc)
      window [3, 3] pads [1, 1] strides [2, 2]
      : memref<64x112x112x64xf16>, memref<64x56x56x64xf16>, memref<64x56x56x64xi8>
  return
}

// -----

// A window that is too large to be unrolled is walked by loops over the elements that
// are inside, which need no checks.
// CHECK-LABEL: func.func @walked
// CHECK:         dnn.for_each_point [1, 1, 1, 1, 1] threads 64
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             scf.for
// CHECK-COUNT-8:       dnn.point_load {{.*}} inside [1, 2] : memref<1x40x30x8xf32> -> vector<8xf32>
// CHECK:             scf.for
// CHECK:               dnn.point_load {{.*}} inside [1, 2]
func.func @walked(%x: memref<1x40x30x8xf32>, %y: memref<1x1x1x8xf32>) attributes {dnn.kernel} {
  dnn.pool forward average x(%x) y(%y) layouts(nhwc, nhwc)
      window [40, 30] pads [0, 0] strides [1, 1]
      : memref<1x40x30x8xf32>, memref<1x1x1x8xf32>
  return
}
