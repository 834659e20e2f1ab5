// RUN: dnn-opt %s | dnn-opt | FileCheck %s

// The main loop of CDNA with register prefetch: 256x256 tiles, chunks that go
// through registers into two LDS buffers, and a pinned order around the MFMAs. The
// program is what dnn-apply-tile makes of the layer, written by hand.

// CHECK-LABEL: func.func @conv3x3
// CHECK: dnn.view %{{.*}} <[1], [64, 14, 14], [3, 3, 256] : (d0, d1, d2, d3, d4, d5, d6) -> (d1, d2 + d4 - 1, d3 + d5 - 1, d0 * 256 + d6)>
// CHECK: dnn.for_each_tile [1, 49, 1] of [256, 256] {
// CHECK: dnn.pipeline reduce [3, 3, 256] step 32 buffers 2 copy registers sync barrier schedule pinned load {
// CHECK: dnn.tile_mma {{.*}} using "mfma32" waves [2, 4] lanes n
// CHECK: dnn.tile_store
module attributes {dnn.target = "gfx942"} {
  func.func @conv3x3(%x: memref<64x14x14x256xf16>, %w: memref<256x3x3x256xf16>,
                     %y: memref<64x14x14x256xf16>) attributes {dnn.kernel} {
    // EXAMPLE: dnn.view
    %a = dnn.view %x <[1], [64, 14, 14], [3, 3, 256] :
           (g, n, p, q, r, s, c) -> (n, p + r - 1, q + s - 1, g * 256 + c)>
       : memref<64x14x14x256xf16> -> <1x12544x2304xf16>
    // EXAMPLE-END
    %b = dnn.view %w <[1], [256], [3, 3, 256] :
           (g, k, r, s, c) -> (g * 256 + k, r, s, c)>
       : memref<256x3x3x256xf16> -> <1x256x2304xf16>
    %d = dnn.view %y <[1], [64, 14, 14], [256] :
           (g, n, p, q, k) -> (n, p, q, g * 256 + k)>
       : memref<64x14x14x256xf16> -> <1x12544x256xf16>
    // EXAMPLE: dnn.for_each_tile
    dnn.for_each_tile [1, 49, 1] of [256, 256] {
    ^bb0(%g: index, %m: index, %n: index):
      // EXAMPLE: dnn.pipeline
      %acc = dnn.pipeline reduce [3, 3, 256] step 32 buffers 2 copy registers
          sync barrier schedule pinned load {
      ^bb0(%k: index):
        // EXAMPLE: dnn.tile_load
        %at = dnn.tile_load %a[%g, %m, %k] : <1x12544x2304xf16> -> <256x32xf16>
        // EXAMPLE-END
        %bt = dnn.tile_load %b[%g, %n, %k] : <1x256x2304xf16> -> <256x32xf16>
        dnn.yield %at, %bt : !dnn.tile<256x32xf16>, !dnn.tile<256x32xf16>
      } compute {
      ^bb0(%at: !dnn.tile<256x32xf16>, %bt: !dnn.tile<256x32xf16>,
           %in: !dnn.tile<256x256xf32>):
        %out = dnn.tile_mma %at, %bt, %in using "mfma32" waves [2, 4] lanes n
             : <256x32xf16>, <256x32xf16>, <256x256xf32>
        dnn.yield %out : !dnn.tile<256x256xf32>
      } : <256x256xf32>
      // EXAMPLE-END
      dnn.tile_store %acc, %d[%g, %m, %n] : <256x256xf32>, <1x12544x256xf16>
    }
    // EXAMPLE-END
    return
  }

  // CHECK-LABEL: func.func private @coordinates
  // CHECK-SAME: #dnn.coords<[1], [64, 14, 14], [3, 3, 256] :
  func.func private @coordinates() attributes {input =
    // EXAMPLE: #dnn.coords
    #dnn.coords<[1], [64, 14, 14], [3, 3, 256] :
      (d0, d1, d2, d3, d4, d5, d6) -> (d1, d2 + d4 - 1, d3 + d5 - 1, d0 * 256 + d6)>
    // EXAMPLE-END
  }

  // A tile is stored, added, or stored behind what the region does to it.
  // CHECK-LABEL: func.func @stores
  // CHECK: dnn.tile_store %{{.*}}, %{{.*}}[{{.*}}] : <256x256xf32>
  // CHECK: dnn.tile_store %{{.*}}, %{{.*}}[{{.*}}] atomic : <256x256xf32>, <4x256x64xf32>
  // CHECK: dnn.tile_store %{{.*}}, %{{.*}}[{{.*}}] epilogue {
  // CHECK: dnn.tile_store %{{.*}}, %{{.*}}[{{.*}}] ins(%{{.*}} : !dnn.view<1x12544x256xf16>) epilogue {
  func.func @stores(%acc: !dnn.tile<256x256xf32>, %d: !dnn.view<1x12544x256xf16>,
                    %splits: !dnn.view<4x256x64xf32>, %bias: !dnn.view<1x12544x256xf16>,
                    %alpha: f32, %g: index, %m: index, %n: index) {
    // EXAMPLE: dnn.tile_store
    dnn.tile_store %acc, %d[%g, %m, %n] : <256x256xf32>, <1x12544x256xf16>
    dnn.tile_store %acc, %splits[%g, %m, %n] atomic : <256x256xf32>, <4x256x64xf32>
    dnn.tile_store %acc, %d[%g, %m, %n] epilogue {
    ^bb0(%v: f32):
      %zero = arith.constant 0.0 : f32
      %relu = arith.maximumf %v, %zero : f32
      dnn.yield %relu : f32
    } : <256x256xf32>, <1x12544x256xf16>
    dnn.tile_store %acc, %d[%g, %m, %n] ins(%bias : !dnn.view<1x12544x256xf16>)
        epilogue {
    ^bb0(%v: f32, %b: f32):
      %scaled = arith.mulf %v, %alpha : f32
      %sum = arith.addf %scaled, %b : f32
      dnn.yield %sum : f32
    } : <256x256xf32>, <1x12544x256xf16>
    // EXAMPLE-END
    return
  }
}
