// RUN: dnn-opt %s -split-input-file -verify-diagnostics --dnn-apply-tile="target=sm_90 tile=depthwise-g2p1q2t32s16r4b2u1"

// TMA copies no f64.
func.func @doubles(%x: memref<2x8x8x16xf64> {dnn.arg = "x"}, %w: memref<16x3x3x1xf64> {dnn.arg = "w"},
                   %y: memref<2x8x8x16xf64> {dnn.arg = "y"}) attributes {dnn.kernel} {
  // expected-error@+1 {{does not fit tile 'depthwise-g2p1q2t32s16r4b2u1'}}
  dnn.conv backward_weights x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 16
      : memref<2x8x8x16xf64>, memref<16x3x3x1xf64>, memref<2x8x8x16xf64>
  return
}

// -----

// TMA copies no tensors that may begin at any element.
module attributes {dnn.unaligned} {
  func.func @unaligned(%x: memref<2x8x8x16xbf16> {dnn.arg = "x"}, %w: memref<16x3x3x1xbf16> {dnn.arg = "w"},
                       %y: memref<2x8x8x16xbf16> {dnn.arg = "y"}) attributes {dnn.kernel} {
    // expected-error@+1 {{does not fit tile 'depthwise-g2p1q2t32s16r4b2u1'}}
    dnn.conv backward_weights x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
        pads [1, 1] strides [1, 1] dilations [1, 1] groups 16
        : memref<2x8x8x16xbf16>, memref<16x3x3x1xbf16>, memref<2x8x8x16xbf16>
    return
  }
}

// -----

// Threads compute one channel of each group.
func.func @pairs(%x: memref<2x8x8x32xbf16> {dnn.arg = "x"}, %w: memref<16x3x3x2xbf16> {dnn.arg = "w"},
                 %y: memref<2x8x8x16xbf16> {dnn.arg = "y"}) attributes {dnn.kernel} {
  // expected-error@+1 {{does not fit tile 'depthwise-g2p1q2t32s16r4b2u1'}}
  dnn.conv backward_weights x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 16
      : memref<2x8x8x32xbf16>, memref<16x3x3x2xbf16>, memref<2x8x8x16xbf16>
  return
}

// -----

// Forward has no tiles with boxes.
func.func @forward(%x: memref<2x8x8x16xbf16> {dnn.arg = "x"}, %w: memref<16x3x3x1xbf16> {dnn.arg = "w"},
                   %y: memref<2x8x8x16xbf16> {dnn.arg = "y"}) attributes {dnn.kernel} {
  // expected-error@+1 {{does not fit tile 'depthwise-g2p1q2t32s16r4b2u1'}}
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 16
      : memref<2x8x8x16xbf16>, memref<16x3x3x1xbf16>, memref<2x8x8x16xbf16>
  return
}
