// RUN: dnn-opt %s -split-input-file -verify-diagnostics

// A map may not divide: offsets must stay linear in the iteration dimensions.
func.func @coords_division(%x: memref<8x8xf16>) {
  // expected-error@+1 {{needs a map without division or remainder}}
  %v = dnn.view %x <[1], [8], [8] : (d0, d1, d2) -> (d1 floordiv 2, d2)> : memref<8x8xf16> -> <1x8x8xf16>
  return
}

// -----

func.func @coords_dims(%x: memref<8x8xf16>) {
  // expected-error@+1 {{has 3 iteration dimensions, but its map takes 2}}
  %v = dnn.view %x <[1], [8], [8] : (d0, d1) -> (d0, d1)> : memref<8x8xf16> -> <1x8x8xf16>
  return
}

// -----

func.func @coords_spaces(%x: memref<8x8xf16>) {
  // expected-error@+1 {{needs three coordinates (group, row, column), but has 2}}
  %v = dnn.view %x <[8], [8] : (d0, d1) -> (d0, d1)> : memref<8x8xf16> -> <8x8xf16>
  return
}

// -----

func.func @view_rank(%x: memref<8x8xf16>) {
  // expected-error@+1 {{has coordinates of rank 1, but its source is}}
  %v = dnn.view %x <[1], [8], [8] : (d0, d1, d2) -> (d1)> : memref<8x8xf16> -> <1x8x8xf16>
  return
}

// -----

func.func @view_shape(%x: memref<8x8xf16>) {
  // expected-error@+1 {{needs '!dnn.view<1x8x8xf16>' for its coordinates}}
  %v = dnn.view %x <[1], [8], [8] : (d0, d1, d2) -> (d1, d2)> : memref<8x8xf16> -> <1x8x9xf16>
  return
}

// -----

func.func @view_type(%x: memref<8x8xf16>) {
  // expected-error@+1 {{needs the element type of its source, 'f16', but has 'bf16'}}
  %v = dnn.view %x <[1], [8], [8] : (d0, d1, d2) -> (d1, d2)> : memref<8x8xf16> -> <1x8x8xbf16>
  return
}

// -----

func.func @tiles_run() {
  // expected-error@+1 {{needs runs of at least 2 tiles that divide 6 along m, but has 4}}
  dnn.for_each_tile [1, 6, 1] of [8, 8] run 4 {
  ^bb0(%g: index, %m: index, %n: index):
  }
  return
}

// -----

func.func @tiles_run_persistent() {
  // expected-error@+1 {{needs persistent workgroups or runs, but has both}}
  dnn.for_each_tile [1, 6, 1] of [8, 8] persistent 2 run 3 {
  ^bb0(%g: index, %m: index, %n: index):
  }
  return
}

// -----

func.func @tiles_counts() {
  // expected-error@+1 {{needs three positive counts (groups, m, n)}}
  dnn.for_each_tile [1, 0, 1] of [8, 8] {
  ^bb0(%g: index, %m: index, %n: index):
  }
  return
}

// -----

func.func @tiles_arguments() {
  // expected-error@+1 {{needs three index arguments (group, m, n)}}
  dnn.for_each_tile [1, 1, 1] of [8, 8] {
  ^bb0(%g: index):
  }
  return
}

// -----

func.func @load_type(%v: !dnn.view<1x8x8xf16>, %i: index) {
  // expected-error@+1 {{needs a tile of the view's element type, but has '!dnn.tile<8x8xf32>'}}
  %t = dnn.tile_load %v[%i, %i, %i] : <1x8x8xf16> -> <8x8xf32>
  return
}

// -----

func.func @mma_shapes(%a: !dnn.tile<64x32xf16>, %b: !dnn.tile<32x16xf16>, %c: !dnn.tile<64x32xf32>) {
  // expected-error@+1 {{needs tiles m x k, n x k and m x n, but has}}
  %d = dnn.tile_mma %a, %b, %c using "fma" waves [1, 1] lanes n : <64x32xf16>, <32x16xf16>, <64x32xf32>
  return
}

// -----

func.func @mma_waves(%a: !dnn.tile<64x32xf16>, %b: !dnn.tile<32x32xf16>, %c: !dnn.tile<64x32xf32>) {
  // expected-error@+1 {{needs waves that divide the tile along m and n}}
  %d = dnn.tile_mma %a, %b, %c using "fma" waves [3, 1] lanes n : <64x32xf16>, <32x32xf16>, <64x32xf32>
  return
}

// -----

func.func @store_epilogue(%c: !dnn.tile<8x8xf32>, %v: !dnn.view<1x8x8xf16>, %i: index) {
  // expected-error@+1 {{needs an epilogue from one 'f32' and 0 'f32' to one 'f32'}}
  dnn.tile_store %c, %v[%i, %i, %i] epilogue {
  ^bb0(%e: f16):
    dnn.yield %e : f16
  } : <8x8xf32>, <1x8x8xf16>
  return
}

// -----

func.func @store_atomic_type(%c: !dnn.tile<8x8xf32>, %v: !dnn.view<1x8x8xf16>, %i: index) {
  // expected-error@+1 {{adds atomically, which needs f32, but has 'f32' and 'f16'}}
  dnn.tile_store %c, %v[%i, %i, %i] atomic : <8x8xf32>, <1x8x8xf16>
  return
}

// -----

func.func @store_atomic_epilogue(%c: !dnn.tile<8x8xf32>, %v: !dnn.view<1x8x8xf32>, %i: index) {
  // expected-error@+1 {{adds atomically, which leaves no epilogue}}
  dnn.tile_store %c, %v[%i, %i, %i] atomic epilogue {
  ^bb0(%e: f32):
    dnn.yield %e : f32
  } : <8x8xf32>, <1x8x8xf32>
  return
}

// -----

func.func @store_extras(%c: !dnn.tile<8x8xf32>, %v: !dnn.view<1x8x8xf16>, %i: index) {
  // expected-error@+1 {{has further tensors, but no epilogue to use them}}
  dnn.tile_store %c, %v[%i, %i, %i] ins(%v : !dnn.view<1x8x8xf16>) : <8x8xf32>, <1x8x8xf16>
  return
}

// -----

func.func @store_extra_shape(%c: !dnn.tile<8x8xf32>, %v: !dnn.view<1x8x8xf16>, %b: !dnn.view<1x1x8xf16>, %i: index) {
  // expected-error@+1 {{needs views of one shape, but has}}
  dnn.tile_store %c, %v[%i, %i, %i] ins(%b : !dnn.view<1x1x8xf16>) epilogue {
  ^bb0(%e: f32, %x: f32):
    dnn.yield %x : f32
  } : <8x8xf32>, <1x8x8xf16>
  return
}

// -----

func.func @store_extra_argument(%c: !dnn.tile<8x8xf32>, %v: !dnn.view<1x8x8xf16>, %i: index) {
  // expected-error@+1 {{needs an epilogue from one 'f32' and 1 'f32' to one 'f32'}}
  dnn.tile_store %c, %v[%i, %i, %i] ins(%v : !dnn.view<1x8x8xf16>) epilogue {
  ^bb0(%e: f32):
    dnn.yield %e : f32
  } : <8x8xf32>, <1x8x8xf16>
  return
}

// -----

// Of sums of f64, further tensors come as f64.
func.func @store_extra_double(%c: !dnn.tile<8x8xf64>, %v: !dnn.view<1x8x8xf64>, %i: index) {
  // expected-error@+1 {{needs an epilogue from one 'f64' and 1 'f64' to one 'f64'}}
  dnn.tile_store %c, %v[%i, %i, %i] ins(%v : !dnn.view<1x8x8xf64>) epilogue {
  ^bb0(%e: f64, %x: f32):
    dnn.yield %e : f64
  } : <8x8xf64>, <1x8x8xf64>
  return
}

// -----

func.func @view_offset(%x: memref<8x8xf16, strided<[8, 1], offset: ?>>) {
  // expected-error@+1 {{needs a source of static strides and a static offset}}
  %v = dnn.view %x <[1], [8], [8] : (d0, d1, d2) -> (d1, d2)> : memref<8x8xf16, strided<[8, 1], offset: ?>> -> <1x8x8xf16>
  return
}

// -----

func.func @pipeline_sync(%v: !dnn.view<1x8x8xf16>, %i: index) {
  // expected-error@+1 {{needs sync mbarrier with copy tma, and only with it}}
  %d = dnn.pipeline reduce [8] step 8 buffers 2 copy tma sync barrier schedule natural load {
  ^bb0(%k: index):
    %t = dnn.tile_load %v[%i, %i, %k] : <1x8x8xf16> -> <8x8xf16>
    dnn.yield %t, %t : !dnn.tile<8x8xf16>, !dnn.tile<8x8xf16>
  } compute {
  ^bb0(%a: !dnn.tile<8x8xf16>, %b: !dnn.tile<8x8xf16>, %c: !dnn.tile<8x8xf32>):
    dnn.yield %c : !dnn.tile<8x8xf32>
  } : <8x8xf32>
  return
}

// -----

// Taps share pixels in buffers of their own.
func.func @pipeline_halo(%v: !dnn.view<1x8x8xf16>, %i: index) {
  // expected-error@+1 {{needs copy tma, direct_to_lds or registers with halo, and at least one buffer}}
  %d = dnn.pipeline reduce [8] step 8 buffers 2 halo 2 copy cp_async sync barrier schedule natural load {
  ^bb0(%k: index):
    %t = dnn.tile_load %v[%i, %i, %k] : <1x8x8xf16> -> <8x8xf16>
    dnn.yield %t, %t : !dnn.tile<8x8xf16>, !dnn.tile<8x8xf16>
  } compute {
  ^bb0(%a: !dnn.tile<8x8xf16>, %b: !dnn.tile<8x8xf16>, %c: !dnn.tile<8x8xf32>):
    dnn.yield %c : !dnn.tile<8x8xf32>
  } : <8x8xf32>
  return
}

// -----

func.func @pipeline_used(%v: !dnn.view<1x8x8xf16>, %i: index) {
  // expected-error@+1 {{needs splits of a reduction of unknown length to use some of them}}
  %d = dnn.pipeline reduce [8] splits 4 used "4.4.xd0.-.-" step 8 buffers 2 copy tma sync mbarrier schedule natural load {
  ^bb0(%k: index):
    %t = dnn.tile_load %v[%i, %i, %k] : <1x8x8xf16> -> <8x8xf16>
    dnn.yield %t, %t : !dnn.tile<8x8xf16>, !dnn.tile<8x8xf16>
  } compute {
  ^bb0(%a: !dnn.tile<8x8xf16>, %b: !dnn.tile<8x8xf16>, %c: !dnn.tile<8x8xf32>):
    dnn.yield %c : !dnn.tile<8x8xf32>
  } : <8x8xf32>
  return
}

// -----

func.func @pipeline_cluster(%v: !dnn.view<1x8x8xf16>, %i: index) {
  // expected-error@+1 {{needs copy tma, no splits and no halo with cluster, and 2 to 8 workgroups}}
  %d = dnn.pipeline reduce [8] cluster 16 step 8 buffers 2 copy tma sync mbarrier schedule natural load {
  ^bb0(%k: index):
    %t = dnn.tile_load %v[%i, %i, %k] : <1x8x8xf16> -> <8x8xf16>
    dnn.yield %t, %t : !dnn.tile<8x8xf16>, !dnn.tile<8x8xf16>
  } compute {
  ^bb0(%a: !dnn.tile<8x8xf16>, %b: !dnn.tile<8x8xf16>, %c: !dnn.tile<8x8xf32>):
    dnn.yield %c : !dnn.tile<8x8xf32>
  } : <8x8xf32>
  return
}

// -----

func.func @pipeline_multicast(%v: !dnn.view<1x8x8xf16>, %i: index) {
  // expected-error@+1 {{needs copy tma, no cluster and no halo with multicast}}
  %d = dnn.pipeline reduce [8] cluster 2 multicast m step 8 buffers 2 copy tma sync mbarrier schedule natural load {
  ^bb0(%k: index):
    %t = dnn.tile_load %v[%i, %i, %k] : <1x8x8xf16> -> <8x8xf16>
    dnn.yield %t, %t : !dnn.tile<8x8xf16>, !dnn.tile<8x8xf16>
  } compute {
  ^bb0(%a: !dnn.tile<8x8xf16>, %b: !dnn.tile<8x8xf16>, %c: !dnn.tile<8x8xf32>):
    dnn.yield %c : !dnn.tile<8x8xf32>
  } : <8x8xf32>
  return
}

// -----

func.func @pipeline_promote(%v: !dnn.view<1x8x8xf16>, %i: index) {
  // expected-error@+1 {{needs copy tma and no halo with promote, and at least one step}}
  %d = dnn.pipeline reduce [8] step 8 buffers 2 promote 2 copy registers sync barrier schedule natural load {
  ^bb0(%k: index):
    %t = dnn.tile_load %v[%i, %i, %k] : <1x8x8xf16> -> <8x8xf16>
    dnn.yield %t, %t : !dnn.tile<8x8xf16>, !dnn.tile<8x8xf16>
  } compute {
  ^bb0(%a: !dnn.tile<8x8xf16>, %b: !dnn.tile<8x8xf16>, %c: !dnn.tile<8x8xf32>):
    dnn.yield %c : !dnn.tile<8x8xf32>
  } : <8x8xf32>
  return
}

// -----

func.func @pipeline_regions(%v: !dnn.view<1x8x8xf16>, %i: index) {
  // expected-error@+1 {{needs a compute region that takes the loaded tiles and the accumulator}}
  %d = dnn.pipeline reduce [8] step 8 buffers 2 copy registers sync barrier schedule natural load {
  ^bb0(%k: index):
    %t = dnn.tile_load %v[%i, %i, %k] : <1x8x8xf16> -> <8x8xf16>
    dnn.yield %t, %t : !dnn.tile<8x8xf16>, !dnn.tile<8x8xf16>
  } compute {
  ^bb0(%a: !dnn.tile<8x8xf16>, %c: !dnn.tile<8x8xf32>):
    dnn.yield %c : !dnn.tile<8x8xf32>
  } : <8x8xf32>
  return
}

// -----

func.func @view_sizes(%x: memref<?x64xf16>) {
  // expected-error@+1 {{needs one value for each size that is unknown}}
  %v = dnn.view %x <[1], [?], [64] : (g, n, c) -> (n, c)>
     : memref<?x64xf16> -> <1x?x64xf16>
  return
}

// -----

func.func @view_open_strides(%x: memref<4x64xf16, strided<[?, 1]>>) {
  // expected-error@+1 {{needs a source of static strides and a static offset, none of them negative, or a packed one}}
  %v = dnn.view %x <[1], [4], [64] : (g, n, c) -> (n, c)>
     : memref<4x64xf16, strided<[?, 1]>> -> <1x4x64xf16>
  return
}

// -----

func.func @view_memory_static(%x: memref<4x64xf16, strided<[?, 1]>> {dnn.memory = ["4", "80"]}) {
  // expected-error@+1 {{needs a source of static strides and a static offset, none of them negative, or a packed one}}
  %v = dnn.view %x <[1], [4], [64] : (g, n, c) -> (n, c)>
     : memref<4x64xf16, strided<[?, 1]>> -> <1x4x64xf16>
  return
}

// -----

func.func @view_memory_rank(%x: memref<4x64xf16, strided<[80, 1]>> {dnn.memory = ["xd0"]}) {
  // expected-error@+1 {{needs an expression of sizes in 'dnn.memory' for each dimension of 'memref<4x64xf16, strided<[80, 1]>>', but has ["xd0"]}}
  %v = dnn.view %x <[1], [4], [64] : (g, n, c) -> (n, c)>
     : memref<4x64xf16, strided<[80, 1]>> -> <1x4x64xf16>
  return
}

// -----

func.func @view_memory_numbers(%x: memref<4x64xf16, strided<[80, 1]>> {dnn.memory = [4, 80]}) {
  // expected-error@+1 {{needs an expression of sizes in 'dnn.memory'}}
  %v = dnn.view %x <[1], [4], [64] : (g, n, c) -> (n, c)>
     : memref<4x64xf16, strided<[80, 1]>> -> <1x4x64xf16>
  return
}

// -----

func.func @view_sizes_rank(%x: memref<?x64xf16> {dnn.sizes = ["xd0"]}) {
  // expected-error@+1 {{needs an expression of sizes in 'dnn.sizes' for each dimension of 'memref<?x64xf16>', but has ["xd0"]}}
  %v = dnn.view %x <[1], [4], [64] : (g, n, c) -> (n, c)>
     : memref<?x64xf16> -> <1x4x64xf16>
  return
}

// -----

func.func @view_sizes_numbers(%x: memref<?x64xf16> {dnn.sizes = [4, 64]}) {
  // expected-error@+1 {{needs an expression of sizes in 'dnn.sizes'}}
  %v = dnn.view %x <[1], [4], [64] : (g, n, c) -> (n, c)>
     : memref<?x64xf16> -> <1x4x64xf16>
  return
}

// -----

func.func @pipeline_knob_name(%v: !dnn.view<1x8x8xf16>, %i: index) {
  // expected-error@+1 {{no knob of a plan is called 'depth'}}
  %d = dnn.pipeline reduce [8] step 8 buffers 2 copy registers sync barrier schedule natural knobs(depth 2) load {
  ^bb0(%k: index):
    %t = dnn.tile_load %v[%i, %i, %k] : <1x8x8xf16> -> <8x8xf16>
    dnn.yield %t, %t : !dnn.tile<8x8xf16>, !dnn.tile<8x8xf16>
  } compute {
  ^bb0(%a: !dnn.tile<8x8xf16>, %b: !dnn.tile<8x8xf16>, %c: !dnn.tile<8x8xf32>):
    dnn.yield %c : !dnn.tile<8x8xf32>
  } : <8x8xf32>
  return
}

// -----

func.func @pipeline_knob_value(%v: !dnn.view<1x8x8xf16>, %i: index) {
  // expected-error@+1 {{knob 'order' takes n or m}}
  %d = dnn.pipeline reduce [8] step 8 buffers 2 copy registers sync barrier schedule natural knobs(order k) load {
  ^bb0(%k: index):
    %t = dnn.tile_load %v[%i, %i, %k] : <1x8x8xf16> -> <8x8xf16>
    dnn.yield %t, %t : !dnn.tile<8x8xf16>, !dnn.tile<8x8xf16>
  } compute {
  ^bb0(%a: !dnn.tile<8x8xf16>, %b: !dnn.tile<8x8xf16>, %c: !dnn.tile<8x8xf32>):
    dnn.yield %c : !dnn.tile<8x8xf32>
  } : <8x8xf32>
  return
}

// -----

func.func @pipeline_knob_twice(%v: !dnn.view<1x8x8xf16>, %i: index) {
  // expected-error@+1 {{knob 'order' comes twice}}
  %d = dnn.pipeline reduce [8] step 8 buffers 2 copy registers sync barrier schedule natural knobs(order n, order m) load {
  ^bb0(%k: index):
    %t = dnn.tile_load %v[%i, %i, %k] : <1x8x8xf16> -> <8x8xf16>
    dnn.yield %t, %t : !dnn.tile<8x8xf16>, !dnn.tile<8x8xf16>
  } compute {
  ^bb0(%a: !dnn.tile<8x8xf16>, %b: !dnn.tile<8x8xf16>, %c: !dnn.tile<8x8xf32>):
    dnn.yield %c : !dnn.tile<8x8xf32>
  } : <8x8xf32>
  return
}

// -----

func.func @pipeline_knob_tma(%v: !dnn.view<1x8x8xf16>, %i: index) {
  // expected-error@+1 {{has knob 'staging', which is of another way to copy}}
  %d = dnn.pipeline reduce [8] step 8 buffers 2 copy registers sync barrier schedule natural knobs(staging 2) load {
  ^bb0(%k: index):
    %t = dnn.tile_load %v[%i, %i, %k] : <1x8x8xf16> -> <8x8xf16>
    dnn.yield %t, %t : !dnn.tile<8x8xf16>, !dnn.tile<8x8xf16>
  } compute {
  ^bb0(%a: !dnn.tile<8x8xf16>, %b: !dnn.tile<8x8xf16>, %c: !dnn.tile<8x8xf32>):
    dnn.yield %c : !dnn.tile<8x8xf32>
  } : <8x8xf32>
  return
}

// -----

func.func @pipeline_knob_cp_async(%v: !dnn.view<1x8x8xf16>, %i: index) {
  // expected-error@+1 {{has knob 'order', which is of another way to copy}}
  %d = dnn.pipeline reduce [8] step 8 buffers 2 copy cp_async sync barrier schedule natural knobs(order m) load {
  ^bb0(%k: index):
    %t = dnn.tile_load %v[%i, %i, %k] : <1x8x8xf16> -> <8x8xf16>
    dnn.yield %t, %t : !dnn.tile<8x8xf16>, !dnn.tile<8x8xf16>
  } compute {
  ^bb0(%a: !dnn.tile<8x8xf16>, %b: !dnn.tile<8x8xf16>, %c: !dnn.tile<8x8xf32>):
    dnn.yield %c : !dnn.tile<8x8xf32>
  } : <8x8xf32>
  return
}
