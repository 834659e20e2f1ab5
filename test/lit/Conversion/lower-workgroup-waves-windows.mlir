// RUN: dnn-opt %s --dnn-lower-workgroup | FileCheck %s

// A stem that is written by hand: a 5x5 filter with stride 2 on 3 channels, of which LDS
// has the whole reduction, with a schedule that the compiler has not. On a chip of AMD a
// workgroup takes one tile after the other; a tile's products are two steps, and between them the
// windows of the next tile come. test/lit/Tools/dnn-emu-waves.test runs it.

// The 19 lines of 106 elements that a block of 8x16 pixels reads, and 32 rows of the filter
// in 11 chunks of which one is padding.
// CHECK: gpu.func @conv{{.*}} workgroup(%{{.*}} : memref<2014xf16, {{.*}}memref<2816xf16
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 2, 1, 1>
// The filter comes in two parts, of which the second has less than a column a lane.
// CHECK: rocdl.raw.ptr.buffer.load {{.*}} : i16
// CHECK: memref.store
// CHECK: scf.if
// CHECK: scf.for {{.*}} iter_args
// CHECK: vector.store
// CHECK: amdgpu.lds_barrier
// CHECK: vector.load
// CHECK: rocdl.sched.barrier
// CHECK: amdgpu.mfma 32x32x8
// CHECK: rocdl.raw.ptr.buffer.load {{.*}} : i32
// CHECK: amdgpu.mfma 32x32x8
// CHECK: amdgpu.lds_barrier
// CHECK: rocdl.raw.ptr.buffer.store
module attributes {dnn.target = "gfx942"} {
  func.func @conv(%x: memref<2x32x96xf16> {dnn.arg = "x"},
                  %w: memref<32x5x15xf16> {dnn.arg = "w"},
                  %y: memref<2x16x16x32xf16> {dnn.arg = "y"})
      attributes {dnn.kernel} {
    %a = dnn.view %x <[2], [2, 1, 8, 16], [5, 16] :
           (n, i, j, p, q, r, s) -> (n, (i * 8 + p) * 2 + r - 2, (j * 16 + q) * 6 + s - 6)>
       : memref<2x32x96xf16> -> <2x256x80xf16>
    %b = dnn.view %w <[2], [32], [5, 16] : (n, k, r, s) -> (k, r, s)>
       : memref<32x5x15xf16> -> <2x32x80xf16>
    %d = dnn.view %y <[2], [2, 1, 8, 16], [32] :
           (n, i, j, p, q, k) -> (n, i * 8 + p, j * 16 + q, k)>
       : memref<2x16x16x32xf16> -> <2x256x32xf16>
    wg.program workgroups 2 waves [4, 1] {
    ^bb0(%id: i32, %rank: i32):
      %sx = wg.alloc : <1x128x80xf16, windows 2014>
      %sw = wg.alloc : <1x32x80xf16, padded>
      %c0 = arith.constant 0 : i32
      %c2 = arith.constant 2 : i32
      %rows = arith.constant 128 : i32
      %tiles = arith.constant 4 : i32
      // The windows of the first tile are under way while the filter comes.
      %m0 = arith.muli %id, %rows : i32
      %tx0 = wg.tile %a[%c0, %m0] to %sx : <2x256x80xf16> -> <128x80xf16>, <1x128x80xf16, windows 2014>
      %px = wg.fetch %tx0[%c0] : <128x80xf16> -> <128x80xf16>
      %tw = wg.tile %b[%c0, %c0] to %sw : <2x32x80xf16> -> <32x80xf16>, <1x32x80xf16, padded>
      %w0 = wg.fetch %tw[%c0] part [0, 2] : <32x80xf16> -> <32x80xf16>
      wg.put %w0 to %sw[0] part [0, 2] : <32x80xf16> -> <1x32x80xf16, padded>
      %w1 = wg.fetch %tw[%c0] part [1, 2] with %w0 : <32x80xf16> -> <32x80xf16>
      wg.put %w1 to %sw[0] part [1, 2] : <32x80xf16> -> <1x32x80xf16, padded>
      %z = wg.zero : <128x32>
      %last = scf.for %t = %id to %tiles step %c2 iter_args(%p = %px) -> (!wg.pieces<128x80xf16>) : i32 {
        wg.put %p to %sx[0] : <128x80xf16> -> <1x128x80xf16, windows 2014>
        wg.barrier
        // EXAMPLE: wg.step
        %half = wg.step pinned {
          %a0 = wg.load %sx at [0, 0] : <1x128x80xf16, windows 2014> -> <32x16xf16>
          %b0 = wg.load %sw at [0, 0] : <1x32x80xf16, padded> -> <32x16xf16>
          %a1 = wg.load %sx at [0, 16] : <1x128x80xf16, windows 2014> -> <32x16xf16>
          %b1 = wg.load %sw at [0, 16] : <1x32x80xf16, padded> -> <32x16xf16>
          %a2 = wg.load %sx at [0, 32] : <1x128x80xf16, windows 2014> -> <32x16xf16>
          %b2 = wg.load %sw at [0, 32] : <1x32x80xf16, padded> -> <32x16xf16>
          %d0 = wg.mma %a0, %b0 add %z {instruction = "mfma32"}
              : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <128x32>
          %d1 = wg.mma %a1, %b1 add %d0 {instruction = "mfma32"}
              : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <128x32>
          %d2 = wg.mma %a2, %b2 add %d1 {instruction = "mfma32"}
              : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <128x32>
          wg.yield %d2 : !wg.acc<128x32>
        } -> !wg.acc<128x32>
        // EXAMPLE-END
        // Behind the last tile there is no image, and nothing is loaded.
        %next = arith.addi %t, %c2 : i32
        %image = arith.divui %next, %c2 : i32
        %block = arith.remui %next, %c2 : i32
        %m1 = arith.muli %block, %rows : i32
        %tx = wg.tile %a[%image, %m1] to %sx : <2x256x80xf16> -> <128x80xf16>, <1x128x80xf16, windows 2014>
        %n = wg.fetch %tx[%c0] : <128x80xf16> -> <128x80xf16>
        %sums = wg.step pinned {
          %a3 = wg.load %sx at [0, 48] : <1x128x80xf16, windows 2014> -> <32x16xf16>
          %b3 = wg.load %sw at [0, 48] : <1x32x80xf16, padded> -> <32x16xf16>
          %a4 = wg.load %sx at [0, 64] : <1x128x80xf16, windows 2014> -> <32x16xf16>
          %b4 = wg.load %sw at [0, 64] : <1x32x80xf16, padded> -> <32x16xf16>
          %d3 = wg.mma %a3, %b3 add %half {instruction = "mfma32"}
              : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <128x32>
          %d4 = wg.mma %a4, %b4 add %d3 {instruction = "mfma32"}
              : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <128x32>
          wg.yield %d4 : !wg.acc<128x32>
        } -> !wg.acc<128x32>
        wg.barrier
        %g = arith.divui %t, %c2 : i32
        %i = arith.remui %t, %c2 : i32
        %m = arith.muli %i, %rows : i32
        %out = wg.result %d[%g, %m, %c0] : <2x256x32xf16>
        wg.store %sums to %out : <128x32>
        scf.yield %n : !wg.pieces<128x80xf16>
      }
    }
    return
  }
}
