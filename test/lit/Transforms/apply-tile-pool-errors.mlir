// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=pool-c8h2" 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=pool-c8h1w1" 2>&1 | FileCheck %s --check-prefix=CHANNELS
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=pool-c3h1w1" 2>&1 | FileCheck %s --check-prefix=POWER
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=poolsplit-c1h4w1" 2>&1 | FileCheck %s --check-prefix=SPLIT

// Refused are tiles that cannot be read, that do not divide the channels, or that
// are for another primitive or direction.
// TILE: 'dnn.pool' op 'pool-c8h2' is not a tile of a pooling, which looks like 'pool-c8h2w1'
// CHANNELS: 'dnn.pool' op has 12 channels, which tile 'pool-c8h1w1' does not divide into powers of two
// POWER: 'dnn.pool' op has 12 channels, which tile 'pool-c3h1w1' does not divide into powers of two
// SPLIT: 'dnn.pool' op is no forward pooling, but tile 'poolsplit-c1h4w1' is for one
func.func @backward(%x: memref<1x4x4x12xf16>, %y: memref<1x3x3x12xf16>) attributes {dnn.kernel} {
  dnn.pool backward average x(%x) y(%y) layouts(nhwc, nhwc)
      window [2, 2] pads [0, 0] strides [1, 1]
      : memref<1x4x4x12xf16>, memref<1x3x3x12xf16>
  return
}
