// RUN: dnn-opt %s --dnn-expand-pipeline --dnn-lower-workgroup -split-input-file -verify-diagnostics

// The chip must be one of the table.
// expected-error@+1 {{needs the attribute 'dnn.target' naming one of}}
module attributes {dnn.target = "gfx1"} {
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
      %acc = dnn.pipeline reduce [3, 3, 256] step 32 buffers 2 copy registers
          sync barrier schedule pinned load {
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

// -----

// A copy that the chip lacks is refused by name.
module attributes {dnn.target = "gfx942"} {
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
      // expected-error@+1 {{has copy direct_to_lds, but gfx942 loads no 16 bytes a lane to LDS}}
      %acc = dnn.pipeline reduce [3, 3, 256] step 32 buffers 2 copy direct_to_lds
          sync barrier schedule pinned load {
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

// -----

// The loop is unrolled over exactly two buffers.
module attributes {dnn.target = "gfx942"} {
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
      // expected-error@+1 {{needs 2 buffers, or 1 that holds the whole reduction, but has 4}}
      %acc = dnn.pipeline reduce [3, 3, 256] step 32 buffers 4 copy registers
          sync barrier schedule pinned load {
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

// -----

// Persistent workgroups are not lowered for this target.
module attributes {dnn.target = "gfx942"} {
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
    // expected-error@+1 {{is persistent, but this target runs one tile a workgroup}}
    dnn.for_each_tile [1, 49, 1] of [256, 256] persistent 132 {
    ^bb0(%g: index, %m: index, %n: index):
      %acc = dnn.pipeline reduce [3, 3, 256] step 32 buffers 2 copy registers
          sync barrier schedule pinned load {
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

// -----

// An instruction that the chip lacks is refused by name.
module attributes {dnn.target = "gfx942"} {
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
      %acc = dnn.pipeline reduce [3, 3, 256] step 32 buffers 2 copy registers
          sync barrier schedule pinned load {
      ^bb0(%k: index):
        %at = dnn.tile_load %a[%g, %m, %k] : <1x12544x2304xf16> -> <256x32xf16>
        %bt = dnn.tile_load %b[%g, %n, %k] : <1x256x2304xf16> -> <256x32xf16>
        dnn.yield %at, %bt : !dnn.tile<256x32xf16>, !dnn.tile<256x32xf16>
      } compute {
      ^bb0(%at: !dnn.tile<256x32xf16>, %bt: !dnn.tile<256x32xf16>,
           %in: !dnn.tile<256x256xf32>):
        // expected-error@+1 {{names 'wgmma_n128', but gfx942 has no such matrix instruction for 'f16'}}
        %out = dnn.tile_mma %at, %bt, %in using "wgmma_n128" waves [2, 4] lanes n
             : <256x32xf16>, <256x32xf16>, <256x256xf32>
        dnn.yield %out : !dnn.tile<256x256xf32>
      } : <256x256xf32>
      dnn.tile_store %acc, %d[%g, %m, %n] : <256x256xf32>, <1x12544x256xf16>
    }
    return
  }
}

// -----

// Every wave needs whole instruction tiles.
module attributes {dnn.target = "gfx942"} {
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
      %acc = dnn.pipeline reduce [3, 3, 256] step 32 buffers 2 copy registers
          sync barrier schedule pinned load {
      ^bb0(%k: index):
        %at = dnn.tile_load %a[%g, %m, %k] : <1x12544x2304xf16> -> <256x32xf16>
        %bt = dnn.tile_load %b[%g, %n, %k] : <1x256x2304xf16> -> <256x32xf16>
        dnn.yield %at, %bt : !dnn.tile<256x32xf16>, !dnn.tile<256x32xf16>
      } compute {
      ^bb0(%at: !dnn.tile<256x32xf16>, %bt: !dnn.tile<256x32xf16>,
           %in: !dnn.tile<256x256xf32>):
        // expected-error@+1 {{needs a tile of whole instructions for each wave, 32x32}}
        %out = dnn.tile_mma %at, %bt, %in using "mfma32" waves [16, 4] lanes n
             : <256x32xf16>, <256x32xf16>, <256x256xf32>
        dnn.yield %out : !dnn.tile<256x256xf32>
      } : <256x256xf32>
      dnn.tile_store %acc, %d[%g, %m, %n] : <256x256xf32>, <1x12544x256xf16>
    }
    return
  }
}

// -----

// The buffers must fit into LDS.
module attributes {dnn.target = "gfx942"} {
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
    // expected-error@+1 {{needs 131072 bytes of LDS, but gfx942 has 65536}}
    dnn.for_each_tile [1, 49, 1] of [256, 256] {
    ^bb0(%g: index, %m: index, %n: index):
      %acc = dnn.pipeline reduce [3, 3, 256] step 64 buffers 2 copy registers
          sync barrier schedule pinned load {
      ^bb0(%k: index):
        %at = dnn.tile_load %a[%g, %m, %k] : <1x12544x2304xf16> -> <256x64xf16>
        %bt = dnn.tile_load %b[%g, %n, %k] : <1x256x2304xf16> -> <256x64xf16>
        dnn.yield %at, %bt : !dnn.tile<256x64xf16>, !dnn.tile<256x64xf16>
      } compute {
      ^bb0(%at: !dnn.tile<256x64xf16>, %bt: !dnn.tile<256x64xf16>,
           %in: !dnn.tile<256x256xf32>):
        %out = dnn.tile_mma %at, %bt, %in using "mfma32" waves [2, 4] lanes n
             : <256x64xf16>, <256x64xf16>, <256x256xf32>
        dnn.yield %out : !dnn.tile<256x256xf32>
      } : <256x256xf32>
      dnn.tile_store %acc, %d[%g, %m, %n] : <256x256xf32>, <1x12544x256xf16>
    }
    return
  }
}

// -----

// A workgroup has at most 1024 threads.
module attributes {dnn.target = "gfx942"} {
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
      %acc = dnn.pipeline reduce [3, 3, 256] step 32 buffers 2 copy registers
          sync barrier schedule pinned load {
      ^bb0(%k: index):
        %at = dnn.tile_load %a[%g, %m, %k] : <1x12544x2304xf16> -> <256x32xf16>
        %bt = dnn.tile_load %b[%g, %n, %k] : <1x256x2304xf16> -> <256x32xf16>
        dnn.yield %at, %bt : !dnn.tile<256x32xf16>, !dnn.tile<256x32xf16>
      } compute {
      ^bb0(%at: !dnn.tile<256x32xf16>, %bt: !dnn.tile<256x32xf16>,
           %in: !dnn.tile<256x256xf32>):
        // expected-error@+1 {{has 2048 threads, but a workgroup has at most 1024}}
        %out = dnn.tile_mma %at, %bt, %in using "mfma32" waves [8, 4] lanes n
             : <256x32xf16>, <256x32xf16>, <256x256xf32>
        dnn.yield %out : !dnn.tile<256x256xf32>
      } : <256x256xf32>
      dnn.tile_store %acc, %d[%g, %m, %n] : <256x256xf32>, <1x12544x256xf16>
    }
    return
  }
}

// -----

// The pipeline and its views walk one reduction.
module attributes {dnn.target = "gfx942"} {
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
      %acc = dnn.pipeline reduce [9, 256] step 32 buffers 2 copy registers
          sync barrier schedule pinned load {
      ^bb0(%k: index):
        // expected-error@+1 {{needs a view whose columns are the pipeline's reduction}}
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

// -----

// A tile is as wide as the step.
module attributes {dnn.target = "gfx942"} {
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
      %acc = dnn.pipeline reduce [3, 3, 256] step 16 buffers 2 copy registers
          sync barrier schedule pinned load {
      ^bb0(%k: index):
        // expected-error@+1 {{needs tiles as wide as the step, 16}}
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

// -----

// The tiles cover the output once.
module attributes {dnn.target = "gfx942"} {
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
    // expected-error@+1 {{needs counts and tiles that cover the stored view}}
    dnn.for_each_tile [1, 48, 1] of [256, 256] {
    ^bb0(%g: index, %m: index, %n: index):
      %acc = dnn.pipeline reduce [3, 3, 256] step 32 buffers 2 copy registers
          sync barrier schedule pinned load {
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

// -----

// Tiles are loaded from the position of the workgroup's tile.
module attributes {dnn.target = "gfx942"} {
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
      %acc = dnn.pipeline reduce [3, 3, 256] step 32 buffers 2 copy registers
          sync barrier schedule pinned load {
      ^bb0(%k: index):
        // expected-error@+1 {{needs the position [group, m, k]}}
        %at = dnn.tile_load %a[%g, %n, %k] : <1x12544x2304xf16> -> <256x32xf16>
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

// -----

// The operands keep their order.
module attributes {dnn.target = "gfx942"} {
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
      %acc = dnn.pipeline reduce [3, 3, 256] step 32 buffers 2 copy registers
          sync barrier schedule pinned load {
      ^bb0(%k: index):
        %at = dnn.tile_load %a[%g, %m, %k] : <1x12544x2304xf16> -> <256x32xf16>
        %bt = dnn.tile_load %b[%g, %n, %k] : <1x256x2304xf16> -> <256x32xf16>
        dnn.yield %at, %bt : !dnn.tile<256x32xf16>, !dnn.tile<256x32xf16>
      } compute {
      ^bb0(%at: !dnn.tile<256x32xf16>, %bt: !dnn.tile<256x32xf16>,
           %in: !dnn.tile<256x256xf32>):
        // expected-error@+1 {{needs the loaded tiles and the accumulator in their order}}
        %out = dnn.tile_mma %bt, %at, %in using "mfma32" waves [2, 4] lanes n
             : <256x32xf16>, <256x32xf16>, <256x256xf32>
        dnn.yield %out : !dnn.tile<256x256xf32>
      } : <256x256xf32>
      dnn.tile_store %acc, %d[%g, %m, %n] : <256x256xf32>, <1x12544x256xf16>
    }
    return
  }
}

// -----

// Arguments are tensors and f32 scalars.
module attributes {dnn.target = "gfx942"} {
  // expected-error@+1 {{takes 'i32', but a kernel takes memrefs and f32 or f64 scalars}}
  func.func @conv3x3(%x: memref<64x14x14x256xf16>, %w: memref<256x3x3x256xf16>,
                     %y: memref<64x14x14x256xf16>, %i: i32) attributes {dnn.kernel} {
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
      %acc = dnn.pipeline reduce [3, 3, 256] step 32 buffers 2 copy registers
          sync barrier schedule pinned load {
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

// -----

// An epilogue takes nothing from outside but scalar arguments.
module attributes {dnn.target = "gfx942"} {
  func.func @conv3x3(%x: memref<64x14x14x256xf16>, %w: memref<256x3x3x256xf16>,
                     %y: memref<64x14x14x256xf16>) attributes {dnn.kernel} {
    %bias = arith.constant 1.0 : f32
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
      %acc = dnn.pipeline reduce [3, 3, 256] step 32 buffers 2 copy registers
          sync barrier schedule pinned load {
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
      // expected-error@+1 {{needs an epilogue of elementwise ops on its arguments and on scalar arguments of the kernel}}
      dnn.tile_store %acc, %d[%g, %m, %n] epilogue {
      ^bb0(%v: f32):
        %r = arith.addf %v, %bias : f32
        dnn.yield %r : f32
      } : <256x256xf32>, <1x12544x256xf16>
    }
    return
  }
}

// -----

// Direct copies compute no divisions: a step must divide the channels.
module attributes {dnn.target = "gfx950"} {
  func.func @conv(%x: memref<64x14x14x208xf16>, %w: memref<256x3x3x208xf16>,
                  %y: memref<64x14x14x256xf16>) attributes {dnn.kernel} {
    %a = dnn.view %x <[1], [64, 14, 14], [3, 3, 208] :
           (g, n, p, q, r, s, c) -> (n, p + r - 1, q + s - 1, c)>
       : memref<64x14x14x208xf16> -> <1x12544x1872xf16>
    %b = dnn.view %w <[1], [256], [3, 3, 208] :
           (g, k, r, s, c) -> (k, r, s, c)>
       : memref<256x3x3x208xf16> -> <1x256x1872xf16>
    %d = dnn.view %y <[1], [64, 14, 14], [256] :
           (g, n, p, q, k) -> (n, p, q, k)>
       : memref<64x14x14x256xf16> -> <1x12544x256xf16>
    dnn.for_each_tile [1, 49, 1] of [256, 256] {
    ^bb0(%g: index, %m: index, %n: index):
      // expected-error@+1 {{has copy direct_to_lds, which needs a reduction of two iterations or more whose innermost dimension 32 divides}}
      %acc = dnn.pipeline reduce [3, 3, 208] step 32 buffers 4 copy direct_to_lds
          sync barrier schedule pinned load {
      ^bb0(%k: index):
        %at = dnn.tile_load %a[%g, %m, %k] : <1x12544x1872xf16> -> <256x32xf16>
        %bt = dnn.tile_load %b[%g, %n, %k] : <1x256x1872xf16> -> <256x32xf16>
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

// -----

// A row that is not aligned to 16 bytes cannot be copied to LDS in chunks.
module attributes {dnn.target = "gfx950"} {
  func.func @conv(%x: memref<64x14x14x129xf16>, %w: memref<256x3x3x128xf16>,
                  %y: memref<64x14x14x256xf16>) attributes {dnn.kernel} {
    %a = dnn.view %x <[1], [64, 14, 14], [3, 3, 128] :
           (g, n, p, q, r, s, c) -> (n, p + r - 1, q + s - 1, c)>
       : memref<64x14x14x129xf16> -> <1x12544x1152xf16>
    %b = dnn.view %w <[1], [256], [3, 3, 128] :
           (g, k, r, s, c) -> (k, r, s, c)>
       : memref<256x3x3x128xf16> -> <1x256x1152xf16>
    %d = dnn.view %y <[1], [64, 14, 14], [256] :
           (g, n, p, q, k) -> (n, p, q, k)>
       : memref<64x14x14x256xf16> -> <1x12544x256xf16>
    dnn.for_each_tile [1, 49, 1] of [256, 256] {
    ^bb0(%g: index, %m: index, %n: index):
      %acc = dnn.pipeline reduce [3, 3, 128] step 32 buffers 4 copy direct_to_lds
          sync barrier schedule pinned load {
      ^bb0(%k: index):
        // expected-error@+1 {{has rows without whole 16-byte chunks, but is copied directly to LDS}}
        %at = dnn.tile_load %a[%g, %m, %k] : <1x12544x1152xf16> -> <256x32xf16>
        %bt = dnn.tile_load %b[%g, %n, %k] : <1x256x1152xf16> -> <256x32xf16>
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

// -----

// Unknown sizes need copies through registers.
module attributes {dnn.target = "gfx950"} {
  func.func @open(%x: memref<?x64xf16> {dnn.arg = "x"}, %w: memref<64x64xf16> {dnn.arg = "w"},
                  %y: memref<?x64xf16> {dnn.arg = "y"}) attributes {dnn.kernel} {
    %c0 = arith.constant 0 : index
    %nx = memref.dim %x, %c0 : memref<?x64xf16>
    %ny = memref.dim %y, %c0 : memref<?x64xf16>
    %a = dnn.view %x <[1], [?], [64] : (g, n, c) -> (n, c)> sizes(%nx)
       : memref<?x64xf16> -> <1x?x64xf16>
    %b = dnn.view %w <[1], [64], [64] : (g, k, c) -> (k, c)>
       : memref<64x64xf16> -> <1x64x64xf16>
    %d = dnn.view %y <[1], [?], [64] : (g, n, k) -> (n, k)> sizes(%ny)
       : memref<?x64xf16> -> <1x?x64xf16>
    dnn.for_each_tile [1, ?, 1] of [64, 64] {
    ^bb0(%g: index, %m: index, %n: index):
      // expected-error@+1 {{has tensors of unknown sizes, which needs one or two buffers, copies through registers}}
      %acc = dnn.pipeline reduce [64] step 32 buffers 2 copy direct_to_lds
          sync barrier schedule pinned load {
      ^bb0(%k: index):
        %at = dnn.tile_load %a[%g, %m, %k] : <1x?x64xf16> -> <64x32xf16>
        %bt = dnn.tile_load %b[%g, %n, %k] : <1x64x64xf16> -> <64x32xf16>
        dnn.yield %at, %bt : !dnn.tile<64x32xf16>, !dnn.tile<64x32xf16>
      } compute {
      ^bb0(%at: !dnn.tile<64x32xf16>, %bt: !dnn.tile<64x32xf16>,
           %in: !dnn.tile<64x64xf32>):
        %out = dnn.tile_mma %at, %bt, %in using "mfma32" waves [1, 2] lanes n
             : <64x32xf16>, <64x32xf16>, <64x64xf32>
        dnn.yield %out : !dnn.tile<64x64xf32>
      } : <64x64xf32>
      dnn.tile_store %acc, %d[%g, %m, %n] : <64x64xf32>, <1x?x64xf16>
    }
    return
  }
}

// -----

// An unknown size is made of sizes of the kernel's tensors.
module attributes {dnn.target = "gfx942"} {
  func.func @open(%x: memref<?x64xf16> {dnn.arg = "x"}, %w: memref<64x64xf16> {dnn.arg = "w"},
                  %y: memref<?x64xf16> {dnn.arg = "y"}) attributes {dnn.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %nx = memref.dim %x, %c0 : memref<?x64xf16>
    %less = arith.subi %nx, %c1 : index
    // expected-error@+1 {{needs sizes that are made of constants and of sizes of the kernel's tensors}}
    %a = dnn.view %x <[1], [?], [64] : (g, n, c) -> (n, c)> sizes(%less)
       : memref<?x64xf16> -> <1x?x64xf16>
    %b = dnn.view %w <[1], [64], [64] : (g, k, c) -> (k, c)>
       : memref<64x64xf16> -> <1x64x64xf16>
    %d = dnn.view %y <[1], [?], [64] : (g, n, k) -> (n, k)> sizes(%less)
       : memref<?x64xf16> -> <1x?x64xf16>
    dnn.for_each_tile [1, ?, 1] of [64, 64] {
    ^bb0(%g: index, %m: index, %n: index):
      %acc = dnn.pipeline reduce [64] step 32 buffers 2 copy registers
          sync barrier schedule pinned load {
      ^bb0(%k: index):
        %at = dnn.tile_load %a[%g, %m, %k] : <1x?x64xf16> -> <64x32xf16>
        %bt = dnn.tile_load %b[%g, %n, %k] : <1x64x64xf16> -> <64x32xf16>
        dnn.yield %at, %bt : !dnn.tile<64x32xf16>, !dnn.tile<64x32xf16>
      } compute {
      ^bb0(%at: !dnn.tile<64x32xf16>, %bt: !dnn.tile<64x32xf16>,
           %in: !dnn.tile<64x64xf32>):
        %out = dnn.tile_mma %at, %bt, %in using "mfma32" waves [1, 2] lanes n
             : <64x32xf16>, <64x32xf16>, <64x64xf32>
        dnn.yield %out : !dnn.tile<64x64xf32>
      } : <64x64xf32>
      dnn.tile_store %acc, %d[%g, %m, %n] : <64x64xf32>, <1x?x64xf16>
    }
    return
  }
}

// -----

// An epilogue of f32 reads no tensor of f64, whose elements it would round.
module attributes {dnn.target = "gfx942"} {
  func.func @wide(%x: memref<64x64xf32>, %w: memref<64x64xf32>, %y: memref<64x64xf32>, %res: memref<64x64xf64>) attributes {dnn.kernel} {
    %a = dnn.view %x <[1], [64], [64] : (g, m, k) -> (m, k)> : memref<64x64xf32> -> <1x64x64xf32>
    %b = dnn.view %w <[1], [64], [64] : (g, n, k) -> (n, k)> : memref<64x64xf32> -> <1x64x64xf32>
    %d = dnn.view %y <[1], [64], [64] : (g, m, n) -> (m, n)> : memref<64x64xf32> -> <1x64x64xf32>
    %e = dnn.view %res <[1], [64], [64] : (g, m, n) -> (m, n)> : memref<64x64xf64> -> <1x64x64xf64>
    dnn.for_each_tile [1, 1, 1] of [64, 64] {
    ^bb0(%g: index, %m: index, %n: index):
      %acc = dnn.pipeline reduce [64] step 16 buffers 2 copy registers
          sync barrier schedule pinned load {
      ^bb0(%k: index):
        %at = dnn.tile_load %a[%g, %m, %k] : <1x64x64xf32> -> <64x16xf32>
        %bt = dnn.tile_load %b[%g, %n, %k] : <1x64x64xf32> -> <64x16xf32>
        dnn.yield %at, %bt : !dnn.tile<64x16xf32>, !dnn.tile<64x16xf32>
      } compute {
      ^bb0(%at: !dnn.tile<64x16xf32>, %bt: !dnn.tile<64x16xf32>, %in: !dnn.tile<64x64xf32>):
        %out = dnn.tile_mma %at, %bt, %in using "mfma32" waves [2, 2] lanes n
             : <64x16xf32>, <64x16xf32>, <64x64xf32>
        dnn.yield %out : !dnn.tile<64x64xf32>
      } : <64x64xf32>
      // expected-error@+1 {{needs further tensors of i8 or of floats no wider than its sums, but has 'f64'}}
      dnn.tile_store %acc, %d[%g, %m, %n] ins(%e : !dnn.view<1x64x64xf64>) epilogue {
      ^bb0(%v: f32, %re: f32):
        %u = arith.addf %v, %re : f32
        dnn.yield %u : f32
      } : <64x64xf32>, <1x64x64xf32>
    }
    return
  }
}
