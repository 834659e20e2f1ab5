// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx7 tile=igemm-m128n64k32-w2x2-b2-mfma32" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=igemm-m128" 2>&1 | FileCheck %s --check-prefix=TILE

// TARGET: dnn-apply-tile: unknown target 'gfx7', expected one of gfx90a, gfx942
// TILE: dnn-apply-tile: 'igemm-m128' is not a tile, which looks like 'igemm-
module {}
