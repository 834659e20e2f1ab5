// RUN: dnn-opt %s --dnn-apply-tile="target=gfx942 tile=poolsplit-c1h4w16" --dnn-verify-stage=stage=tiled | FileCheck %s

// 64 threads share a window. Each stores its maximum and the index to a workspace,
// two words for each thread, and a second function merges them: of equal maxima the
// one with the smaller index wins.
// CHECK-LABEL: func.func @pool(
// CHECK-SAME:    %[[WORK:arg[0-9]+]]: memref<128x1x1x1x1xi32> {dnn.arg = "workspace", dnn.bytes = 512 : i64})
// CHECK:         dnn.for_each_point [1, 1, 1, 1, 1, 4, 16] threads 64
// CHECK:         dnn.point_store %{{.*}}, %[[WORK]]
// CHECK:         dnn.point_store %{{.*}}, %[[WORK]]
// CHECK-LABEL: func.func @pool_merge(
// CHECK-SAME:    %[[WORK:arg[0-9]+]]: memref<128x1x1x1x1xi32> {dnn.arg = "workspace", dnn.bytes = 512 : i64})
// CHECK:         dnn.for_each_point [1, 1, 1, 1, 1] threads 64
// CHECK:         %[[GREATER:.*]] = arith.cmpf ogt
// CHECK:         %[[EQUAL:.*]] = arith.cmpf oeq
// CHECK:         %[[EARLIER:.*]] = arith.cmpi ult
// CHECK:         %[[WINS:.*]] = arith.andi %[[EQUAL]], %[[EARLIER]]
// CHECK:         arith.ori %[[GREATER]], %[[WINS]]
func.func @pool(%x: memref<1x1x41x50xf16>, %y: memref<1x1x1x1xf16>,
                %i: memref<1x1x1x1xi32>) attributes {dnn.kernel} {
  dnn.pool forward max x(%x) y(%y) indices(%i image) layouts(nchw, nchw)
      window [41, 50] pads [0, 0] strides [1, 1]
      : memref<1x1x41x50xf16>, memref<1x1x1x1xf16>, memref<1x1x1x1xi32>
  return
}
