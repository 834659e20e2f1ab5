// RUN: dnn-opt %s -split-input-file -verify-diagnostics --dnn-apply-tile="target=gfx942 tile=nhwc-igemm-m64n64k32-w1x2-b2-mfma32"
// RUN: not dnn-opt %s -split-input-file --dnn-apply-tile="target=gfx942 tile=nhwc-general-b1" 2>&1 | FileCheck %s --check-prefix=INNER
// RUN: not dnn-opt %s -split-input-file --dnn-apply-tile="target=gfx942 tile=nhwc" 2>&1 | FileCheck %s --check-prefix=INNER

// RUN: not dnn-opt %s -split-input-file --dnn-apply-tile="target=gfx942 tile=nhwc-w-general-b1" 2>&1 | FileCheck %s --check-prefix=INNER
// RUN: not dnn-opt --problem "convfp16 -n 2 -c 64 -H 14 -W 14 -k 64 -y 3 -x 3 -F 4" --target gfx942 --tile nhwc-w-igemm-m64n64k32-w1x2-b2-mfma32 --stop-after gpu 2>&1 | FileCheck %s --check-prefix=RESULT

// RUN: not dnn-opt --problem conv-wrw-f16-nchw,nchw,nchw-n2c64h14w14-k64y3x3-p1x1-s1x1-d1x1-g1 --target sm_90 --tile nhwc-operands-igemm-m128n64k64-w1x1-p4-wgmma --stop-after gpu 2>&1 | FileCheck %s --check-prefix=STORED
// RUN: not dnn-opt --problem conv-fwd-f16-nchw,nchw,nchw-n2c64h14w14-k64y3x3-p1x1-s1x1-d1x1-g1 --target gfx942 --tile nhwc-operands-igemm-m64n64k32-w1x2-b2-mfma32 --stop-after gpu 2>&1 | FileCheck %s --check-prefix=TILE

// STORED: has the filter as its result, which 'nhwc-operands-' does not store
// TILE: is stored with channels first, which 'nhwc-operands-' does with tiles of igemm with TMA, or, forward, of packed
// RESULT: has the filter as its result, which 'nhwc-w-' does not transpose alone
// INNER: but 'nhwc-' is followed by a tile of igemm, stem, groups or packed

func.func @strided(%x: memref<2x64x14x14xf16, strided<[25088, 392, 28, 2]>>, %w: memref<64x64x3x3xf16>, %y: memref<2x64x14x14xf16>) attributes {dnn.kernel} {
  // expected-error@+1 {{needs packed tensors to be transposed}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nchw, nchw, nchw)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<2x64x14x14xf16, strided<[25088, 392, 28, 2]>>, memref<64x64x3x3xf16>, memref<2x64x14x14xf16>
  return
}

// -----

func.func @residual(%x: memref<2x64x14x14xf16>, %w: memref<64x64x3x3xf16>, %y: memref<2x64x14x14xf16>, %r: memref<2x64x14x14xf16>) attributes {dnn.kernel} {
  // expected-error@+1 {{adds a second tensor to the result, which 'nhwc' does not transpose}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nchw, nchw, nchw)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      epilogue ins(%r : memref<2x64x14x14xf16>) {
    ^bb0(%acc: f32, %old: f32):
      %all = arith.addf %acc, %old : f32
      dnn.yield %all : f32
    } : memref<2x64x14x14xf16>, memref<64x64x3x3xf16>, memref<2x64x14x14xf16>
  return
}
