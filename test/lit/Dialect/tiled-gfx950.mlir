// RUN: dnn-opt %s | dnn-opt | FileCheck %s

// Direct-to-LDS copies on gfx950: the same tile program with four LDS buffers, which
// the copies fill without registers. The instruction "mfma32" has twice the
// reduction of gfx942's.

// CHECK-LABEL: func.func @conv3x3
// CHECK: dnn.pipeline reduce [3, 3, 256] step 32 buffers 4 copy direct_to_lds sync barrier schedule pinned load {
// CHECK: dnn.tile_mma {{.*}} using "mfma32" waves [2, 4] lanes n
module attributes {dnn.target = "gfx950"} {
  func.func @conv3x3(%x: memref<64x14x14x256xf16>, %w: memref<256x3x3x256xf16>,
                     %y: memref<64x14x14x256xf16>) attributes {dnn.kernel} {
    %a = dnn.view %x <[1], [64, 14, 14], [3, 3, 256] :
           (g, n, p, q, r, s, c) -> (n, p + r - 1, q + s - 1, g * 256 + c)>
       : memref<64x14x14x256xf16> -> <1x12544x2304xf16>
    %b = dnn.view %w <[1], [256], [3, 3, 256] :
           (g, k, r, s, c) -> (g * 256 + k, r, s, c)>
       : memref<256x3x3x256xf16> -> <1x256x2304xf16>
    %d = dnn.view %y <[1], [64, 14, 14], [256] :
           (g, n, p, q, k) -> (n, p, q, g * 256 + k)>
       : memref<64x14x14x256xf16> -> <1x12544x256xf16>
    dnn.for_each_tile [1, 49, 1] of [256, 256] {
    ^bb0(%g: index, %m: index, %n: index):
      %acc = dnn.pipeline reduce [3, 3, 256] step 32 buffers 4
          copy direct_to_lds sync barrier schedule pinned load {
      ^bb0(%k: index):
        %at = dnn.tile_load %a[%g, %m, %k] : <1x12544x2304xf16> -> <256x32xf16>
        %bt = dnn.tile_load %b[%g, %n, %k] : <1x256x2304xf16> -> <256x32xf16>
        dnn.yield %at, %bt : !dnn.tile<256x32xf16>, !dnn.tile<256x32xf16>
      } compute {
      ^bb0(%at: !dnn.tile<256x32xf16>, %bt: !dnn.tile<256x32xf16>,
           %in: !dnn.tile<256x256xf32>):
        %out = dnn.tile_mma %at, %bt, %in using "mfma32" waves [2, 4] lanes n
             : <256x32xf16>, <256x32xf16>, <256x256xf32>
        dnn.yield %out : !dnn.tile<256x256xf32>
      } : <256x256xf32>
      dnn.tile_store %acc, %d[%g, %m, %n] : <256x256xf32>, <1x12544x256xf16>
    }
    return
  }
}
