// RUN: dnn-opt %s | dnn-opt | FileCheck %s

// Hopper: persistent workgroups, four stages that one producer warpgroup fills by
// TMA (im2col mode follows from the view's coordinates), and two consumer
// warpgroups in ping-pong. `waves` counts what runs one instruction: warpgroups for
// wgmma.
// test/lit/Conversion/lower-hopper.mlir lowers it.

// CHECK-LABEL: func.func @conv3x3
// CHECK: dnn.for_each_tile [1, 98, 2] of [128, 128] persistent 132 {
// CHECK: dnn.pipeline reduce [3, 3, 256] step 64 buffers 4 copy tma sync mbarrier schedule natural roles <producers = 1, consumers = 2, order = pingpong> load {
// CHECK: dnn.tile_mma {{.*}} using "wgmma" waves [1, 1] lanes n
module attributes {dnn.target = "sm_90"} {
  func.func @conv3x3(%x: memref<64x14x14x256xbf16> {dnn.arg = "x"},
                     %w: memref<256x3x3x256xbf16> {dnn.arg = "w"},
                     %y: memref<64x14x14x256xbf16> {dnn.arg = "y"})
    attributes {dnn.kernel} {
    %a = dnn.view %x <[1], [64, 14, 14], [3, 3, 256] :
           (g, n, p, q, r, s, c) -> (n, p + r - 1, q + s - 1, g * 256 + c)>
       : memref<64x14x14x256xbf16> -> <1x12544x2304xbf16>
    %b = dnn.view %w <[1], [256], [3, 3, 256] :
           (g, k, r, s, c) -> (g * 256 + k, r, s, c)>
       : memref<256x3x3x256xbf16> -> <1x256x2304xbf16>
    %d = dnn.view %y <[1], [64, 14, 14], [256] :
           (g, n, p, q, k) -> (n, p, q, g * 256 + k)>
       : memref<64x14x14x256xbf16> -> <1x12544x256xbf16>
    dnn.for_each_tile [1, 98, 2] of [128, 128] persistent 132 {
    ^bb0(%g: index, %m: index, %n: index):
      %acc = dnn.pipeline reduce [3, 3, 256] step 64 buffers 4 copy tma
          sync mbarrier schedule natural
          roles <producers = 1, consumers = 2, order = pingpong> load {
      ^bb0(%k: index):
        %at = dnn.tile_load %a[%g, %m, %k]
            : <1x12544x2304xbf16> -> <128x64xbf16>
        %bt = dnn.tile_load %b[%g, %n, %k] : <1x256x2304xbf16> -> <128x64xbf16>
        dnn.yield %at, %bt : !dnn.tile<128x64xbf16>, !dnn.tile<128x64xbf16>
      } compute {
      ^bb0(%at: !dnn.tile<128x64xbf16>, %bt: !dnn.tile<128x64xbf16>,
           %in: !dnn.tile<128x128xf32>):
        %out = dnn.tile_mma %at, %bt, %in using "wgmma" waves [1, 1]
               lanes n : <128x64xbf16>, <128x64xbf16>, <128x128xf32>
        dnn.yield %out : !dnn.tile<128x128xf32>
      } : <128x128xf32>
      dnn.tile_store %acc, %d[%g, %m, %n] epilogue {
      ^bb0(%v: f32):
        %zero = arith.constant 0.0 : f32
        %relu = arith.maximumf %v, %zero : f32
        dnn.yield %relu : f32
      } : <128x128xf32>, <1x12544x256xbf16>
    }
    return
  }
}
