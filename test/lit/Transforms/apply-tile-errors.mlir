// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx7 tile=igemm-m128n64k32-w2x2-b2-mfma32" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=igemm-m128" 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=magic" 2>&1 | FileCheck %s --check-prefix=ALGORITHM
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=stem-h16w16" 2>&1 | FileCheck %s --check-prefix=STEM-TILE
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=stem-h16w16n64-w4x1-wmma16" 2>&1 | FileCheck %s --check-prefix=STEM-UNIT
// RUN: sed 's/forward/backward_data/' %s | not dnn-opt --dnn-apply-tile="target=gfx942 tile=stem-h16w16n64-w4x1-mfma32" 2>&1 | FileCheck %s --check-prefix=STEM

// TARGET: dnn-apply-tile: unknown target 'gfx7', expected one of gfx906, gfx908, gfx90a, gfx942
// TILE: error: 'dnn.conv' op 'igemm-m128' is not a tile, which looks like 'igemm-
// STEM-TILE: error: 'dnn.conv' op 'stem-h16w16' is not a tile, which looks like 'stem-
// STEM-UNIT: error: 'dnn.conv' op has tile 'stem-h16w16n64-w4x1-wmma16', but gfx942 has no such instruction
// STEM: error: 'dnn.conv' op is no forward convolution of one group in a packed layout, which 'stem' needs
// ALGORITHM: dnn-apply-tile: no algorithm is called 'magic'
func.func @conv(%x: memref<1x8x8x32xf16>, %w: memref<32x1x1x32xf16>,
                %y: memref<1x8x8x32xf16>) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1
      : memref<1x8x8x32xf16>, memref<32x1x1x32xf16>, memref<1x8x8x32xf16>
  return
}
