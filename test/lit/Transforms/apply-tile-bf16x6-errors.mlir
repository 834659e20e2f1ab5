// RUN: dnn-opt %s -split-input-file -verify-diagnostics --dnn-apply-tile="target=gfx942 tile=bf16x6-igemm-m64n64k32-w1x2-b2-mfma32"
// RUN: not dnn-opt %s -split-input-file --dnn-apply-tile="target=gfx942 tile=bf16x6-stem-h16w16n64-w4x1-mfma32" 2>&1 | FileCheck %s --check-prefix=INNER
// RUN: not dnn-opt --problem "conv-fwd-f32-nhwc,nhwc,nhwc-n2c64h14w14-k64y3x3-p1x1-s1x1-d1x1-g1" --target sm_90 --tile bf16x6-igemm-m192n192k64-w3x1-t4-wgmma-promote4 -o - 2>&1 | FileCheck %s --check-prefix=REGISTERS
// RUN: not dnn-opt --problem "conv-fwd-f32-nhwc,nhwc,nhwc-n2c64h14w14-k64y3x3-p1x1-s1x1-d1x1-g1" --target sm_90 --tile bf16x6-igemm-m128n128k64-w2x1-t4-wgmma-h2-promote4 -o - 2>&1 | FileCheck %s --check-prefix=HALO

// INNER: but 'bf16x6-' is followed by a tile of igemm
// REGISTERS: has 192 accumulators a thread, more than its registers hold
// HALO: is not a tile, which looks like

func.func @half(%x: memref<2x14x14x64xf16>, %w: memref<64x3x3x64xf16>, %y: memref<2x14x14x64xf16>) attributes {dnn.kernel} {
  // expected-error@+1 {{is of 'f16', but 'bf16x6' splits f32}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x14x14x64xf16>, memref<64x3x3x64xf16>, memref<2x14x14x64xf16>
  return
}

// -----

func.func @strided(%x: memref<2x14x14x64xf32, strided<[25088, 1792, 128, 2]>>, %w: memref<64x3x3x64xf32>, %y: memref<2x14x14x64xf32>) attributes {dnn.kernel} {
  // expected-error@+1 {{needs packed tensors to be transposed}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x14x14x64xf32, strided<[25088, 1792, 128, 2]>>, memref<64x3x3x64xf32>, memref<2x14x14x64xf32>
  return
}
