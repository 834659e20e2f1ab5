// RUN: dnn-opt %s -split-input-file -verify-diagnostics

func.func @tiles_in_clusters() {
  // expected-error@+1 {{which are in no cluster}}
  wg.program workgroups 132 of "xd0.128.^" resident 1 cluster 2 {
  ^bb0(%id: i32, %rank: i32):
  }
  return
}

// -----

func.func @workgroups() {
  // expected-error@+1 {{has 131 workgroups in clusters of 2}}
  wg.program workgroups 131 resident 1 cluster 2 {
  ^bb0(%id: i32, %rank: i32):
  }
  return
}

// -----

func.func @arguments() {
  // expected-error@+1 {{needs a body that takes 2 i32s}}
  wg.program workgroups 132 resident 1 {
  ^bb0(%id: i32):
  }
  return
}

// -----

// expected-error@+1 {{has rows of 128 bytes, but a swizzle of 64}}
func.func private @swizzle() -> !wg.buffer<4x64x64xbf16, row_major 64>

// -----

// expected-error@+1 {{has a swizzle of 16 bytes, but there are 128, 64 and 32}}
func.func private @narrow() -> !wg.buffer<4x64x64xbf16, column_major 16>

// -----

func.func @slots() {
  wg.program workgroups 1 resident 1 {
  ^bb0(%id: i32, %rank: i32):
    %a = wg.alloc : <4x64x64xbf16, row_major 128>
    %b = wg.alloc : <3x64x64xbf16, row_major 128>
    // expected-error@+1 {{needs buffers of as many slots}}
    %r = wg.stages %a, %b full 1 empty 1 : !wg.buffer<4x64x64xbf16, row_major 128>, !wg.buffer<3x64x64xbf16, row_major 128>
  }
  return
}

// -----

func.func @first_warpgroup() {
  wg.program workgroups 1 resident 1 {
  ^bb0(%id: i32, %rank: i32):
    // expected-error@+1 {{begins before others, and needs to be of a thread}}
    wg.role "copy" warpgroups 1 first registers 104 {
    ^bb0(%none: i32):
    }
  }
  return
}

// -----

func.func @registers() {
  wg.program workgroups 1 resident 1 {
  ^bb0(%id: i32, %rank: i32):
    // expected-error@+1 {{has 100 registers, but needs a multiple of 8 from 24 to 256}}
    wg.role "copy" warpgroups 1 registers 100 {
    ^bb0(%none: i32):
    }
  }
  return
}

// -----

func.func @box(%x: memref<64x64xbf16>, %i: i32) {
  %a = dnn.view %x <[1], [64], [64] : (g, m, k) -> (m, k)> : memref<64x64xbf16> -> <1x64x64xbf16>
  // expected-error@+1 {{has a box of other elements than its view}}
  %p = wg.box %a[%i, %i] : <1x64x64xbf16> -> <64x64xf16>
  return
}

// -----

func.func @copy(%x: memref<64x64xbf16>) {
  %a = dnn.view %x <[1], [64], [64] : (g, m, k) -> (m, k)> : memref<64x64xbf16> -> <1x64x64xbf16>
  wg.program workgroups 1 resident 1 {
  ^bb0(%id: i32, %rank: i32):
    %s = wg.alloc : <4x64x64xbf16, row_major 128>
    %t = wg.alloc : <4x32x64xbf16, row_major 128>
    %r = wg.stages %s, %t full 1 empty 1 : !wg.buffer<4x64x64xbf16, row_major 128>, !wg.buffer<4x32x64xbf16, row_major 128>
    wg.role "copy" thread registers 40 {
    ^bb0(%none: i32):
      %p = wg.box %a[%id, %id] : <1x64x64xbf16> -> <64x64xbf16>
      // expected-error@+1 {{copies '!wg.box<64x64xbf16>' to slots of '!wg.buffer<4x32x64xbf16, row_major 128>'}}
      wg.copy %p[%id] to %t signal %r : <64x64xbf16> -> <4x32x64xbf16, row_major 128>
    }
  }
  return
}

// -----

func.func @rows() {
  wg.program workgroups 1 resident 1 {
  ^bb0(%id: i32, %rank: i32):
    %s = wg.alloc : <4x64x64xbf16, row_major 128>
    // expected-error@+1 {{takes '!wg.buffer<4x64x32xbf16, row_major 64>' from '!wg.buffer<4x64x64xbf16, row_major 128>'}}
    %t = wg.slice %s[%id] : <4x64x64xbf16, row_major 128> -> <4x64x32xbf16, row_major 64>
  }
  return
}

// -----

func.func @mma() {
  wg.program workgroups 1 resident 1 {
  ^bb0(%id: i32, %rank: i32):
    %s = wg.alloc : <4x64x64xbf16, row_major 128>
    %r = wg.stages %s full 1 empty 1 : !wg.buffer<4x64x64xbf16, row_major 128>
    // expected-error@+1 {{but wgmma has 64 rows and up to 256 columns, in multiples of 8}}
    %d = wg.mma %s, %s : <4x64x64xbf16, row_major 128>, <4x64x64xbf16, row_major 128> -> <48x64>
  }
  return
}

// -----

func.func @shares() {
  wg.program workgroups 1 resident 1 {
  ^bb0(%id: i32, %rank: i32):
    %s = wg.alloc : <4x64x64xbf16, row_major 128>
    %r = wg.stages %s full 1 empty 1 : !wg.buffer<4x64x64xbf16, row_major 128>
    // expected-error@+1 {{needs shares [first, count] of 4}}
    %d = wg.mma %s, %s {shares = array<i64: 2, 3>} : <4x64x64xbf16, row_major 128>, <4x64x64xbf16, row_major 128> -> <64x64>
  }
  return
}

// -----

func.func @tf32() {
  wg.program workgroups 1 resident 1 {
  ^bb0(%id: i32, %rank: i32):
    %s = wg.alloc : <4x64x32xf32, column_major 128>
    %r = wg.stages %s full 1 empty 1 : !wg.buffer<4x64x32xf32, column_major 128>
    // expected-error@+1 {{multiplies 'f32', of which wgmma reads rows only}}
    %d = wg.mma %s, %s : <4x64x32xf32, column_major 128>, <4x64x32xf32, column_major 128> -> <64x64>
  }
  return
}

// -----

func.func @float8() {
  wg.program workgroups 1 resident 1 {
  ^bb0(%id: i32, %rank: i32):
    %s = wg.alloc : <4x64x128xf8E4M3FN, column_major 128>
    %r = wg.stages %s full 1 empty 1 : !wg.buffer<4x64x128xf8E4M3FN, column_major 128>
    // expected-error@+1 {{multiplies 'f8E4M3FN', of which wgmma reads rows only}}
    %d = wg.mma %s, %s : <4x64x128xf8E4M3FN, column_major 128>, <4x64x128xf8E4M3FN, column_major 128> -> <64x64>
  }
  return
}

// -----

func.func @unguarded() {
  wg.program workgroups 1 resident 1 {
  ^bb0(%id: i32, %rank: i32):
    %s = wg.alloc : <4x64x64xbf16, row_major 128>
    %t = wg.alloc : <4x64x64xbf16, row_major 128>
    %r = wg.stages %s full 1 empty 1 : !wg.buffer<4x64x64xbf16, row_major 128>
    // expected-error@+1 {{needs operands in buffers of stages}}
    %d = wg.mma %s, %t : <4x64x64xbf16, row_major 128>, <4x64x64xbf16, row_major 128> -> <64x64>
  }
  return
}

// -----

func.func @shared() {
  wg.program workgroups 1 resident 1 {
  ^bb0(%id: i32, %rank: i32):
    %s = wg.alloc : <4x64x64xbf16, row_major 128>
    // expected-error@+1 {{needs buffers of its own that wg.alloc made}}
    %r = wg.stages %s full 1 empty 1 : !wg.buffer<4x64x64xbf16, row_major 128>
    %q = wg.stages %s full 1 : !wg.buffer<4x64x64xbf16, row_major 128>
  }
  return
}

// -----

func.func @staging(%y: memref<64x64xbf16>) {
  %d = dnn.view %y <[1], [64], [64] : (g, m, n) -> (m, n)> : memref<64x64xbf16> -> <1x64x64xbf16>
  wg.program workgroups 1 resident 1 {
  ^bb0(%id: i32, %rank: i32):
    %s = wg.alloc : <4x8x64xbf16, row_major 128>
    // expected-error@+1 {{needs slots of 16 rows of 128 bytes of the result's type}}
    %o = wg.result %d[%id, %id, %id] via %s staged 128 : <1x64x64xbf16>, <4x8x64xbf16, row_major 128>
  }
  return
}

// -----

func.func @epilogue(%y: memref<64x64xbf16>) {
  %d = dnn.view %y <[1], [64], [64] : (g, m, n) -> (m, n)> : memref<64x64xbf16> -> <1x64x64xbf16>
  wg.program workgroups 1 resident 1 {
  ^bb0(%id: i32, %rank: i32):
    %s = wg.alloc : <4x16x64xbf16, row_major 128>
    %o = wg.result %d[%id, %id, %id] via %s staged 128 : <1x64x64xbf16>, <4x16x64xbf16, row_major 128>
    %z = wg.zero : <64x64>
    // expected-error@+1 {{needs an epilogue of 1 'f32' to one 'f32'}}
    wg.store %z to %o epilogue {
    ^bb0(%v: f32, %w: f32):
      wg.yield %v : f32
    } : <64x64>
  }
  return
}

// -----

// expected-error@+1 {{needs slots of 128 rows and up to 256 columns, in multiples of 16, and at most 512 columns in all}}
func.func private @tensor_memory() -> !wg.sums<3x128x256>

// -----

func.func @sums_beside_operands() {
  wg.program workgroups 1 resident 1 {
  ^bb0(%id: i32, %rank: i32):
    %a = wg.alloc : <2x128x64xbf16, row_major 128>
    %s = wg.alloc_sums : <2x128x64>
    // expected-error@+1 {{has sums, and so needs no other buffer}}
    %r = wg.stages %a, %s full 1 empty 1 : !wg.buffer<2x128x64xbf16, row_major 128>, !wg.sums<2x128x64>
  }
  return
}

// -----

func.func @sums_of_f32(%adds: i1) {
  wg.program workgroups 1 resident 1 {
  ^bb0(%id: i32, %rank: i32):
    %a = wg.alloc : <2x128x32xf32, row_major 128>
    %b = wg.alloc : <2x64x32xf32, row_major 128>
    %s = wg.alloc_sums : <2x128x64>
    %r = wg.stages %a, %b full 1 empty 1 : !wg.buffer<2x128x32xf32, row_major 128>, !wg.buffer<2x64x32xf32, row_major 128>
    %t = wg.stages %s full 1 empty 1 : !wg.sums<2x128x64>
    // expected-error@+1 {{needs operands of as many columns of f16 or bf16}}
    wg.mma_sums %a, %b to %s add %adds : <2x128x32xf32, row_major 128>, <2x64x32xf32, row_major 128> -> <2x128x64>
  }
  return
}

// -----

func.func @sums_of_fewer_rows(%adds: i1) {
  wg.program workgroups 1 resident 1 {
  ^bb0(%id: i32, %rank: i32):
    %a = wg.alloc : <2x64x64xbf16, row_major 128>
    %b = wg.alloc : <2x64x64xbf16, row_major 128>
    %s = wg.alloc_sums : <2x128x64>
    %r = wg.stages %a, %b full 1 empty 1 : !wg.buffer<2x64x64xbf16, row_major 128>, !wg.buffer<2x64x64xbf16, row_major 128>
    %t = wg.stages %s full 1 empty 1 : !wg.sums<2x128x64>
    // expected-error@+1 {{has sums of '!wg.sums<2x128x64>' of operands with 64 and 64 rows}}
    wg.mma_sums %a, %b to %s add %adds : <2x64x64xbf16, row_major 128>, <2x64x64xbf16, row_major 128> -> <2x128x64>
  }
  return
}

// -----

func.func @load_of_other_columns() {
  wg.program workgroups 1 resident 1 {
  ^bb0(%id: i32, %rank: i32):
    %s = wg.alloc_sums : <2x128x64>
    %t = wg.stages %s full 1 empty 1 : !wg.sums<2x128x64>
    // expected-error@+1 {{loads '!wg.acc<128x32>' from stages of '!wg.sums<2x128x64>'}}
    %v = wg.load_sums %s : <2x128x64> -> <128x32>
  }
  return
}

// -----

// expected-error@+1 {{has slots of 0 lines}}
func.func private @no_lines() -> !wg.buffer<2x64x32xf16, halo 0>

// -----

func.func @shared_without_taps(%x: memref<66x32xf16>, %y: memref<64x64xf16>) {
  %b = dnn.view %x <[1], [64], [3, 32] : (g, m, r, c) -> (m + r, c)>
     : memref<66x32xf16> -> <1x64x96xf16>
  %d = dnn.view %y <[1], [64], [64] : (g, m, n) -> (m, n)> : memref<64x64xf16> -> <1x64x64xf16>
  wg.program workgroups 1 waves [2, 2] {
  ^bb0(%id: i32, %rank: i32):
    %s = wg.alloc : <2x64x32xf16, halo 160>
    // expected-error@+1 {{is for rows that taps share, and so needs taps}}
    %t = wg.tile %b[%id, %id] to %s : <1x64x96xf16> -> <64x32xf16>, <2x64x32xf16, halo 160>
  }
  return
}

// -----

func.func @tap_of_shared(%x: memref<66x32xf16>, %y: memref<64x64xf16>) {
  %b = dnn.view %x <[1], [64], [3, 32] : (g, m, r, c) -> (m + r, c)>
     : memref<66x32xf16> -> <1x64x96xf16>
  %d = dnn.view %y <[1], [64], [64] : (g, m, n) -> (m, n)> : memref<64x64xf16> -> <1x64x64xf16>
  wg.program workgroups 1 waves [2, 2] {
  ^bb0(%id: i32, %rank: i32):
    %s = wg.alloc : <2x64x32xf16, halo 160>
    %t = wg.tile %b[%id, %id] to %s taps 1 : <1x64x96xf16> -> <64x32xf16>, <2x64x32xf16, halo 160>
    // expected-error@+1 {{needs a wg.tile with taps, which share nothing}}
    %u = wg.tap %t[%id] : <64x32xf16>
  }
  return
}

// -----

func.func @load_without_tap(%x: memref<66x32xf16>, %y: memref<64x64xf16>) {
  %b = dnn.view %x <[1], [64], [3, 32] : (g, m, r, c) -> (m + r, c)>
     : memref<66x32xf16> -> <1x64x96xf16>
  %d = dnn.view %y <[1], [64], [64] : (g, m, n) -> (m, n)> : memref<64x64xf16> -> <1x64x64xf16>
  wg.program workgroups 1 waves [2, 2] {
  ^bb0(%id: i32, %rank: i32):
    %s = wg.alloc : <2x64x32xf16, halo 160>
    %t = wg.tile %b[%id, %id] to %s taps 1 : <1x64x96xf16> -> <64x32xf16>, <2x64x32xf16, halo 160>
    // expected-error@+1 {{needs a tap of a tile if taps share its rows}}
    %f = wg.load %s at [0, 0] : <2x64x32xf16, halo 160> -> <32x16xf16>
  }
  return
}

// -----

func.func @load_of_other_tap(%x: memref<66x32xf16>, %y: memref<64x64xf16>) {
  %b = dnn.view %x <[1], [64], [3, 32] : (g, m, r, c) -> (m + r, c)>
     : memref<66x32xf16> -> <1x64x96xf16>
  %d = dnn.view %y <[1], [64], [64] : (g, m, n) -> (m, n)> : memref<64x64xf16> -> <1x64x64xf16>
  wg.program workgroups 1 waves [2, 2] {
  ^bb0(%id: i32, %rank: i32):
    %s = wg.alloc : <2x64x32xf16, halo 160>
    %t = wg.tile %b[%id, %id] to %s taps 1 : <1x64x96xf16> -> <64x32xf16>, <2x64x32xf16, halo 160>
    // expected-error@+1 {{needs a tap of a wg.tile for its buffer}}
    %f = wg.load %s at [0, 0] of %t tap 3 : <2x64x32xf16, halo 160> -> <32x16xf16>
  }
  return
}

// -----

func.func @load_behind_other_slot(%x: memref<66x32xf16>, %y: memref<64x64xf16>) {
  %b = dnn.view %x <[1], [64], [3, 32] : (g, m, r, c) -> (m + r, c)>
     : memref<66x32xf16> -> <1x64x96xf16>
  %d = dnn.view %y <[1], [64], [64] : (g, m, n) -> (m, n)> : memref<64x64xf16> -> <1x64x64xf16>
  wg.program workgroups 1 waves [2, 2] {
  ^bb0(%id: i32, %rank: i32):
    %s = wg.alloc : <2x64x32xf16, halo 160>
    %t = wg.tile %b[%id, %id] to %s taps 1 : <1x64x96xf16> -> <64x32xf16>, <2x64x32xf16, halo 160>
    // expected-error@+1 {{needs a slot of}}
    %f = wg.load %s at [1, 0] behind %id of %t tap 0 : <2x64x32xf16, halo 160> -> <32x16xf16>
  }
  return
}

// -----

func.func @fetch_without_parts_before(%x: memref<66x32xf16>, %y: memref<64x64xf16>) {
  %b = dnn.view %x <[1], [64], [3, 32] : (g, m, r, c) -> (m + r, c)>
     : memref<66x32xf16> -> <1x64x96xf16>
  %d = dnn.view %y <[1], [64], [64] : (g, m, n) -> (m, n)> : memref<64x64xf16> -> <1x64x64xf16>
  wg.program workgroups 1 waves [2, 2] {
  ^bb0(%id: i32, %rank: i32):
    %s = wg.alloc : <2x64x32xf16, planes 256>
    %t = wg.tile %b[%id, %id] to %s taps 1 : <1x64x96xf16> -> <64x32xf16>, <2x64x32xf16, planes 256>
    // expected-error@+1 {{needs [i, n] for a part of rows that taps share or of a whole reduction, with those before it}}
    %p = wg.fetch %t[%id] part [1, 2] : <64x32xf16> -> <64x32xf16>
  }
  return
}

// -----

func.func @fill_of_no_part(%x: memref<66x32xf16>, %y: memref<64x64xf16>) {
  %b = dnn.view %x <[1], [64], [3, 32] : (g, m, r, c) -> (m + r, c)>
     : memref<66x32xf16> -> <1x64x96xf16>
  %d = dnn.view %y <[1], [64], [64] : (g, m, n) -> (m, n)> : memref<64x64xf16> -> <1x64x64xf16>
  wg.program workgroups 1 waves [2, 2] {
  ^bb0(%id: i32, %rank: i32):
    %s = wg.alloc : <2x64x32xf16, halo 160>
    %t = wg.tile %b[%id, %id] to %s taps 1 : <1x64x96xf16> -> <64x32xf16>, <2x64x32xf16, halo 160>
    // expected-error@+1 {{for which it has not been located}}
    wg.fill %t[%id] to %s[0] part [2, 2] : <64x32xf16> -> <2x64x32xf16, halo 160>
  }
  return
}

// -----

func.func @flush_of_registers(%x: memref<66x32xf16>, %y: memref<64x64xf16>) {
  %b = dnn.view %x <[1], [64], [3, 32] : (g, m, r, c) -> (m + r, c)>
     : memref<66x32xf16> -> <1x64x96xf16>
  %d = dnn.view %y <[1], [64], [64] : (g, m, n) -> (m, n)> : memref<64x64xf16> -> <1x64x64xf16>
  wg.program workgroups 1 waves [2, 2] {
  ^bb0(%id: i32, %rank: i32):
    %s = wg.alloc : <2x64x32xf16, halo 160>
    %out = wg.result %d[%id, %id, %id] : <1x64x64xf16>
    // expected-error@+1 {{stores what wg.result stages in mixed chunks}}
    wg.flush of %out
  }
  return
}

// -----

func.func @flush_of_no_share(%x: memref<66x32xf16>, %y: memref<64x64xf16>) {
  %b = dnn.view %x <[1], [64], [3, 32] : (g, m, r, c) -> (m + r, c)>
     : memref<66x32xf16> -> <1x64x96xf16>
  %d = dnn.view %y <[1], [64], [64] : (g, m, n) -> (m, n)> : memref<64x64xf16> -> <1x64x64xf16>
  wg.program workgroups 1 waves [2, 2] {
  ^bb0(%id: i32, %rank: i32):
    %s = wg.alloc : <1x64x64xf16, mixed>
    %out = wg.result %d[%id, %id, %id] via %s : <1x64x64xf16>, <1x64x64xf16, mixed>
    %exists = arith.cmpi ne, %id, %rank : i32
    // expected-error@+1 {{has a share, and so needs a result}}
    wg.flush of %out block %id share [2, 2, 3] if %exists
  }
  return
}

// -----

func.func @load_of_role_behind(%x: memref<66x32xf16>, %y: memref<64x64xf16>) {
  %b = dnn.view %x <[1], [64], [3, 32] : (g, m, r, c) -> (m + r, c)>
     : memref<66x32xf16> -> <1x64x96xf16>
  %d = dnn.view %y <[1], [64], [64] : (g, m, n) -> (m, n)> : memref<64x64xf16> -> <1x64x64xf16>
  wg.program workgroups 1 waves [2, 2] {
  ^bb0(%id: i32, %rank: i32):
    %s = wg.alloc : <2x64x32xf16, row_major 64>
    // expected-error@+1 {{has a slot, or a tap, and so needs to say which}}
    %f = wg.load %s behind %id : <2x64x32xf16, row_major 64> -> <32x16xf16>
  }
  return
}

// -----

func.func @walk_of_no_tiles() {
  wg.program workgroups 132 resident 1 {
  ^bb0(%id: i32, %rank: i32):
    // expected-error@+1 {{needs a number of tiles that an i32 counts}}
    %at = wg.walk %id of 0
  }
  return
}
