// RUN: dnn-opt %s -split-input-file -verify-diagnostics --dnn-apply-tile="target=gfx942 tile=winograd-f4-igemm-m64n64k16-w1x2-b2-mfma32"
// RUN: not dnn-opt %s -split-input-file --dnn-apply-tile="target=gfx942 tile=winograd-f3-igemm-m64n64k16-w1x2-b2-mfma32" 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: not dnn-opt %s -split-input-file --dnn-apply-tile="target=gfx942 tile=winograd-f2-general-b1r1t256s1" 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: not dnn-opt %s -split-input-file --dnn-apply-tile="target=gfx942 tile=winograd" 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: not dnn-opt --problem conv-fwd-f32-nhwc,nhwc,nhwc-n1c64h8w8-k64y1x1-p0x0-s1x1-d1x1-g1-nowinograd --target gfx942 --tile winograd-f2-igemm-m64n64k16-w1x2-b2-mfma32 2>&1 | FileCheck %s --check-prefix=WINDOW

// TILE: but 'winograd-' is followed by 'f2-' or 'f4-' and a tile of igemm
// WINDOW: is not computed by 'winograd', which computes filters of 3x3

func.func @strided(%x: memref<1x8x8x64xf32>, %w: memref<64x3x3x64xf32>, %y: memref<1x3x3x64xf32>) attributes {dnn.kernel} {
  // expected-error@+1 {{is not computed by 'winograd', which computes filters of 3x3 without strides, dilations and groups}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [0, 0] strides [2, 2] dilations [1, 1] groups 1
      : memref<1x8x8x64xf32>, memref<64x3x3x64xf32>, memref<1x3x3x64xf32>
  return
}

// -----

func.func @weights(%x: memref<1x8x8x64xf32>, %w: memref<64x3x3x64xf32>, %y: memref<1x8x8x64xf32>) attributes {dnn.kernel} {
  // expected-error@+1 {{is not computed by 'winograd', which reduces at least 32 pixels, and 128 to 32768 with tiles of 4 by 4}}
  dnn.conv backward_weights x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<1x8x8x64xf32>, memref<64x3x3x64xf32>, memref<1x8x8x64xf32>
  return
}

// -----

func.func @padded(%x: memref<1x8x8x64xf32>, %w: memref<64x3x3x64xf32>, %y: memref<1x10x10x64xf32>) attributes {dnn.kernel} {
  // expected-error@+1 {{is not computed by 'winograd', which reads no padding wider than 1}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [2, 2] strides [1, 1] dilations [1, 1] groups 1
      : memref<1x8x8x64xf32>, memref<64x3x3x64xf32>, memref<1x10x10x64xf32>
  return
}

// -----

func.func @narrow(%x: memref<1x8x8x16xf32>, %w: memref<64x3x3x16xf32>, %y: memref<1x8x8x64xf32>) attributes {dnn.kernel} {
  // expected-error@+1 {{is not computed by 'winograd', which reduces 48 to 1024 channels}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<1x8x8x16xf32>, memref<64x3x3x16xf32>, memref<1x8x8x64xf32>
  return
}

// -----

func.func @double(%x: memref<1x8x8x64xf64>, %w: memref<64x3x3x64xf64>, %y: memref<1x8x8x64xf64>) attributes {dnn.kernel} {
  // expected-error@+1 {{is of 'f64', but 'winograd' computes in f32}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<1x8x8x64xf64>, memref<64x3x3x64xf64>, memref<1x8x8x64xf64>
  return
}

// -----

func.func @large(%x: memref<2048x28x28x256xf32>, %w: memref<64x3x3x256xf32>, %y: memref<2048x28x28x64xf32>) attributes {dnn.kernel} {
  // expected-error@+1 {{is not computed by 'winograd', which wants a workspace below 2 GiB}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2048x28x28x256xf32>, memref<64x3x3x256xf32>, memref<2048x28x28x64xf32>
  return
}
