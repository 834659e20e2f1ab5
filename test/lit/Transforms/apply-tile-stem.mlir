// RUN: dnn-opt %s --dnn-apply-tile="target=gfx942 tile=stem-h16w16n64-w4x1-mfma32" -split-input-file | FileCheck %s
// RUN: dnn-opt --problem "convfp16 -n 2 -c 3 -H 224 -W 224 -k 64 -y 7 -x 7 -p 3 -q 3 -u 2 -v 2" --target gfx942 --tile nhwc-stem-h16w16n64-w4x1-mfma32 --stop-after tiled | FileCheck %s --check-prefix=BEHIND

// Behind launches that transpose, the filter lies in the workspace behind the image,
// and is read there.
// BEHIND:      func.func @conv_fwd_f16_nchw_nchw_nchw_n2c3h224w224_k64y7x7_p3x3_s2x2_d1x1_g1(
// BEHIND-SAME:   %[[X:[^:]*]]: memref<2x224x672xf16, strided<[150528, 672, 1]>> {dnn.arg = "workspace"
// BEHIND-SAME:   %[[W:[^:]*]]: memref<64x7x21xf16, strided<[147, 21, 1], offset: 301056>> {dnn.arg = "workspace"
// BEHIND:      dnn.view %[[X]]
// BEHIND:      dnn.view %[[W]]

// Columns and channels are one dimension of image and filter, so that a line of the
// filter is a run of 21 elements. Three more in front of it align the loads of image
// lines, and 24 are whole chunks; 7 lines of 24 are padded to a step of 176. Pixels
// are blocks of 16 by 16 of one image.
// CHECK-LABEL: func.func @nhwc
// CHECK-SAME:    %[[X:.*]]: memref<2x224x672xf16, strided<[150528, 672, 1]>>, %[[W:.*]]: memref<64x7x21xf16, strided<[147, 21, 1]>>, %[[Y:.*]]: memref<2x112x112x64xf16>
// CHECK: %[[A:.*]] = dnn.view %[[X]] <[2], [7, 7, 16, 16], [7, 24] : (d0, d1, d2, d3, d4, d5, d6) -> (d0, (d1 * 16 + d3) * 2 + d5 - 3, (d2 * 16 + d4) * 6 + d6 - 12)>
// CHECK: %[[B:.*]] = dnn.view %[[W]] <[2], [64], [7, 24] : (d0, d1, d2, d3) -> (d1, d2, d3 - 3)>
// CHECK: %[[D:.*]] = dnn.view %[[Y]] <[2], [7, 7, 16, 16], [64] : (d0, d1, d2, d3, d4, d5) -> (d0, d1 * 16 + d3, d2 * 16 + d4, d5)>
// CHECK: dnn.for_each_tile [2, 49, 1] of [256, 64]
// CHECK: dnn.pipeline reduce [7, 24] step 176 buffers 1 copy registers
// CHECK: dnn.tile_mma {{.*}} using "mfma32" waves [4, 1] lanes n
func.func @nhwc(%x: memref<2x224x224x3xf16>, %w: memref<64x7x7x3xf16>,
                %y: memref<2x112x112x64xf16>) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [3, 3] strides [2, 2] dilations [1, 1] groups 1
      : memref<2x224x224x3xf16>, memref<64x7x7x3xf16>, memref<2x112x112x64xf16>
  return
}

// -----

// In NCHW channels are planes, and a run is a line of the filter: 7 elements with
// one in front of them.
// CHECK-LABEL: func.func @nchw
// CHECK: dnn.view %{{.*}} <[2], [7, 7, 16, 16], [3, 7, 8] : (d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d5, (d1 * 16 + d3) * 2 + d6 - 3, (d2 * 16 + d4) * 2 + d7 - 4)>
// CHECK: dnn.pipeline reduce [3, 7, 8] step 176 buffers 1
// CHECK: lanes m
func.func @nchw(%x: memref<2x3x224x224xf16>, %w: memref<64x3x7x7xf16>,
                %y: memref<2x64x112x112xf16>) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nchw, nchw, nchw)
      pads [3, 3] strides [2, 2] dilations [1, 1] groups 1
      : memref<2x3x224x224xf16>, memref<64x3x7x7xf16>, memref<2x64x112x112xf16>
  return
}

// -----

// Of unknown sizes images are rows like the blocks of their pixels, since workgroups
// number rows alone.
// CHECK-LABEL: func.func @open
// CHECK-SAME:    %[[X:.*]]: memref<?x?x?xf16> {dnn.arg = "x", dnn.sizes = ["xd0", "xd1", "xd2.3.*"]}
// CHECK-DAG:  %[[H:.*]] = arith.ceildivui %{{.*}}, %{{.*}} : index
// CHECK:      dnn.view %[[X]] <[1], [?, ?, ?, 16, 16], [7, 24] : (d0, d1, d2, d3, d4, d5, d6, d7) -> (d1, (d2 * 16 + d4) * 2 + d6 - 3, (d3 * 16 + d5) * 6 + d7 - 12)>
// CHECK:      dnn.view %{{.*}} <[1], [64], [7, 24]
// CHECK:      dnn.view %{{.*}} <[1], [?, ?, ?, 16, 16], [64] : (d0, d1, d2, d3, d4, d5, d6) -> (d1, d2 * 16 + d4, d3 * 16 + d5, d6)>
// CHECK:      dnn.for_each_tile [1, ?, 1] of [256, 64]
func.func @open(%x: memref<?x?x?x3xf16> {dnn.arg = "x"}, %w: memref<64x7x7x3xf16> {dnn.arg = "w"},
                %y: memref<?x?x?x64xf16> {dnn.arg = "y"}) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [3, 3] strides [2, 2] dilations [1, 1] groups 1
      : memref<?x?x?x3xf16>, memref<64x7x7x3xf16>, memref<?x?x?x64xf16>
  return
}
