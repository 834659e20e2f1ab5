// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx7 tile=igemm-m128n64k32-w2x2-b2-mfma32" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=igemm-m128" 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=magic" 2>&1 | FileCheck %s --check-prefix=ALGORITHM

// TARGET: dnn-apply-tile: unknown target 'gfx7', expected one of gfx906, gfx908, gfx90a, gfx942
// TILE: error: 'dnn.conv' op 'igemm-m128' is not a tile, which looks like 'igemm-
// ALGORITHM: dnn-apply-tile: no algorithm is called 'magic'
func.func @conv(%x: memref<1x8x8x32xf16>, %w: memref<32x1x1x32xf16>,
                %y: memref<1x8x8x32xf16>) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1
      : memref<1x8x8x32xf16>, memref<32x1x1x32xf16>, memref<1x8x8x32xf16>
  return
}
