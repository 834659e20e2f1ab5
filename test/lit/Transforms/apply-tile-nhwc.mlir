// RUN: dnn-opt %s -split-input-file -verify-diagnostics --dnn-apply-tile="target=gfx942 tile=nhwc-igemm-m64n64k32-w1x2-b2-mfma32" | FileCheck %s
// RUN: dnn-opt --problem "convfp16 -n 2 -c 64 -H 14 -W 14 -k 64 -y 3 -x 3 -p 1 -q 1" --target sm_90 --tile nhwc-igemm-m128n64k64-w1x1-p6-wgmma --stop-after gpu | FileCheck %s --check-prefix=TMA

// RUN: dnn-opt --problem "convfp16 -n 2 -c 64 -H 14 -W 14 -k 64 -y 3 -x 3 -p 1 -q 1" --target gfx942 --tile nhwc-w-igemm-m64n64k32-w1x2-b2-mfma32 --stop-after tiled | FileCheck %s --check-prefix=FILTER

// RUN: dnn-opt --problem "convfp16 -n 2 -c 64 -H 14 -W 14 -k 80 -y 3 -x 2 -p 1 -q 1 -F 2" --target gfx942 --tile nhwc-w-igemm-m64n64k16-w1x2-b2-mfma32 --stop-after tiled | FileCheck %s --check-prefix=OUTPUTS
// RUN: dnn-opt --problem "convfp16 -n 2 -c 64 -H 14 -W 14 -k 84 -y 3 -x 2 -p 1 -q 1 -F 2" --target gfx942 --tile nhwc-w-igemm-m64n64k16-w1x2-b2-mfma32 --stop-after tiled | FileCheck %s --check-prefix=INPUTS

// Backward data reduces over the 80 output channels, which the copy has last. 84
// are no whole chunks.
// OUTPUTS: dnn.view %{{.*}} : memref<80x3x2x64xf16, strided<[1, 160, 80, 480]>> ->
// INPUTS: dnn.view %{{.*}} : memref<84x3x2x64xf16> ->

// RUN: dnn-opt --problem conv-fwd-f16-nchw,nchw,nchw-n2c64h14w14-k64y3x3-p1x1-s1x1-d1x1-g1 --target sm_90 --tile nhwc-operands-igemm-m128n64k64-w1x1-p4-wgmma --stop-after tiled | FileCheck %s --check-prefix=FORWARD
// RUN: dnn-opt --problem conv-bwd-f16-nchw,nchw,nchw-n2c64h14w14-k64y3x3-p1x1-s1x1-d1x1-g1 --target sm_90 --tile nhwc-operands-igemm-m128n64k64-w1x1-p4-wgmma --stop-after tiled | FileCheck %s --check-prefix=DATA

// RUN: dnn-opt --problem conv-fwd-f16-nchw,nchw,nchw-n2c64h16w16-k64y3x3-p1x1-s1x1-d1x1-g1 --target sm_90 --tile nhwc-operands-igemm-m128n64k64-w1x1-p4-wgmma-s3 --stop-after gpu | FileCheck %s --check-prefix=SPLITS

// Splits are in the workspace with channels first, as the launch that adds them
// stores the result.
// SPLITS: dnn.tensor_maps = ["workspace+393216:f16:im2col:{{[^"]*}}", "workspace+{{[^"]*}}", "workspace:f32:tiled:256,64,3,2:1024,131072,65536:32,16,1,1:1,1,1,1"]
// SPLITS: gpu.func @{{.*}}_sum(

// RUN: dnn-opt --problem conv-fwd-f16-nchw,nchw,nchw-n2c3h64w64-k64y7x7-p3x3-s2x2-d1x1-g1 --target sm_90 --tile nhwc-operands-packed-m128n64k64-w1x1-p4-wgmma --stop-after gpu | FileCheck %s --check-prefix=PACKED

// Packed pixels are rows like others.
// PACKED: "y:f16:tiled:1024,64,2:2048,131072:64,16,1:1,1,1"

// Both operands are transposed, and the result is stored with channels first:
// its columns are 196 elements apart.
// FORWARD:      func.func @{{.*}}_x_w(
// FORWARD:      func.func @
// FORWARD-SAME: %[[Y:[^:]*]]: memref<2x64x14x14xf16> {dnn.arg = "y"}
// FORWARD:      %[[RESULT:.*]] = dnn.view %[[Y]] <[1], [2, 14, 14], [64] : (d0, d1, d2, d3, d4) -> (d1, d0 * 64 + d4, d2, d3)
// FORWARD:      dnn.tile_mma {{.*}} using "wgmma" waves [1, 1] lanes n
// FORWARD:      dnn.tile_store {{.*}}, %[[RESULT]]
// FORWARD-NOT:  func.func
// DATA:         func.func @{{.*}}_y_w(
// DATA:         func.func @
// DATA-SAME:    memref<2x64x14x14xf16> {dnn.arg = "x"}
// DATA-NOT:     func.func

// The filter alone is transposed; x and y are read and written as they are.
// FILTER-NOT:  func.func @{{.*}}_x(
// FILTER:      func.func @{{.*}}_w(
// FILTER-SAME: memref<64x9x64xf16, strided<[576, 64, 1]>> {dnn.arg = "workspace", dnn.bytes = 73728 : i64}
// FILTER:      func.func @
// FILTER-SAME: memref<2x64x14x14xf16> {dnn.arg = "x"}
// FILTER-SAME: memref<2x64x14x14xf16> {dnn.arg = "y"}
// FILTER-SAME: memref<64x3x3x64xf16> {dnn.arg = "workspace"
// FILTER-NOT:  func.func @{{.*}}_y(

// One launch transposes both operands. x has 64 channels by 196 pixels: four
// loads of 4 elements and two stores of 8 each thread. The first 8 workgroups
// have its tiles, the others, counted from the last one, those of w, which is
// the longer one. In the workspace x is first, w and y follow.
// CHECK-LABEL: func.func @forward_x_w(
// CHECK-SAME:    %[[X:[^:]*]]: memref<2x64x196xf16, strided<[12544, 196, 1]>> {dnn.arg = "x"},
// CHECK-SAME:    %[[W:[^:]*]]: memref<64x64x9xf16, strided<[576, 9, 1]>> {dnn.arg = "w"},
// CHECK-SAME:    %[[LAST:[^:]*]]: memref<2x196x64xf16, strided<[12544, 64, 1]>> {dnn.arg = "workspace", dnn.bytes = 50176 : i64}
// CHECK-SAME:    %[[LASTW:[^:]*]]: memref<64x9x64xf16, strided<[576, 64, 1], offset: 25088>>
// CHECK:       dnn.for_each_point [72, 256] threads 256
// CHECK-NEXT:  ^bb0(%[[GROUP:[^:]*]]: index
// CHECK:       %[[LDS:.*]] = memref.alloca() : memref<4160xf16, #gpu.address_space<workgroup>>
// CHECK:       arith.cmpi ult, %[[GROUP]], %c8
// CHECK:       scf.if
// CHECK-COUNT-4: dnn.point_load %[[X]]{{.*}} -> vector<4xf16>
// CHECK-COUNT-4: vector.store {{.*}}, %[[LDS]]
// CHECK:       arith.cmpi uge, %[[GROUP]], %c8
// CHECK:       scf.if
// CHECK:       dnn.point_load %[[W]]
// CHECK:       gpu.barrier
// CHECK:       scf.if
// CHECK-COUNT-2: dnn.point_store {{.*}}, %[[LAST]]{{.*}} : vector<8xf16>
// CHECK:       scf.if
// CHECK:       dnn.point_store {{.*}}, %[[LASTW]]
// The product sees channels last everywhere, and its result is the workspace's.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    %{{.*}}: memref<2x64x14x14xf16> {dnn.arg = "x"}
// CHECK-SAME:    %[[PX:[^:]*]]: memref<2x14x14x64xf16> {dnn.arg = "workspace"
// CHECK-SAME:    %[[PW:[^:]*]]: memref<64x3x3x64xf16, strided<[576, 192, 64, 1], offset: 25088>>
// CHECK-SAME:    %[[PY:[^:]*]]: memref<2x14x14x64xf16, strided<[12544, 896, 64, 1], offset: 61952>> {dnn.arg = "workspace", dnn.bytes = 174080 : i64}
// CHECK:       dnn.view %[[PX]]
// CHECK:       dnn.view %[[PW]]
// CHECK:       dnn.view %[[PY]]
// CHECK-LABEL: func.func @forward_y(
// CHECK-SAME:    %[[Y:arg2]]: memref<2x64x196xf16, strided<[12544, 196, 1]>> {dnn.arg = "y"}
// CHECK-SAME:    memref<2x196x64xf16, strided<[12544, 64, 1], offset: 61952>>
// CHECK:       dnn.point_store {{.*}}, %[[Y]]{{.*}} : vector<4xf16>

// TMA reads and writes the workspace where the tensors are.
// TMA: dnn.tensor_maps = ["workspace:f16:im2col:64,14,14,2:{{[^"]*}}", "workspace+50176:f16:{{[^"]*}}", "workspace+123904:f16:{{[^"]*}}"]
func.func @forward(%x: memref<2x64x14x14xf16> {dnn.arg = "x"}, %w: memref<64x64x3x3xf16> {dnn.arg = "w"}, %y: memref<2x64x14x14xf16> {dnn.arg = "y"}) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nchw, nchw, nchw)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x64x14x14xf16>, memref<64x64x3x3xf16>, memref<2x64x14x14xf16>
  return
}

// -----

// A filter of one tap is the same in both layouts, and y is channels last
// already: x alone is transposed.
// CHECK-NOT:   func.func @pointwise_w
// CHECK-LABEL: func.func @pointwise_x(
// CHECK-LABEL: func.func @pointwise(
// CHECK-SAME:    %{{.*}}: memref<64x1x1x64xf16> {dnn.arg = "w"}
// CHECK-NOT:   func.func @pointwise_y
func.func @pointwise(%x: memref<2x64x8x8xf16> {dnn.arg = "x"}, %w: memref<64x64x1x1xf16> {dnn.arg = "w"}, %y: memref<2x8x8x64xf16> {dnn.arg = "y"}) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nchw, nchw, nhwc)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x64x8x8xf16>, memref<64x64x1x1xf16>, memref<2x8x8x64xf16>
  return
}
