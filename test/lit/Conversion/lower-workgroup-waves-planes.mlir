// RUN: dnn-opt %s --dnn-lower-workgroup | FileCheck %s
// RUN: dnn-opt --start-from workgroup %s --target gfx942 -o %t.hsaco

// Taps that share the pixels of planes, in a schedule that is written by hand: no loop, the
// two blocks of 32 channels are written out. The pixels of the second one come in two parts
// and go to LDS together. test/lit/Tools/dnn-emu-waves.test runs it.

// CHECK: gpu.func @conv{{.*}}known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 7, 1, 1>
// CHECK-NOT: scf.for
// CHECK-COUNT-7: amdgpu.lds_barrier
// CHECK-NOT: scf.for
// CHECK: gpu.return
module attributes {dnn.target = "gfx942"} {
  func.func @conv(%x: memref<2x64x14x14xf16> {dnn.arg = "x"},
                  %w: memref<64x3x1x64xf16> {dnn.arg = "w"},
                  %y: memref<2x64x14x14xf16> {dnn.arg = "y"}) attributes {dnn.kernel} {
    %a = dnn.view %x <[1], [2, 14, 14], [3, 64] : (g, i, h, v, r, c) -> (i, c, h + r - 1, v)>
       : memref<2x64x14x14xf16> -> <1x392x192xf16>
    %b = dnn.view %w <[1], [64], [3, 64] : (g, n, r, c) -> (n, r, 0, c)>
       : memref<64x3x1x64xf16> -> <1x64x192xf16>
    %d = dnn.view %y <[1], [2, 14, 14], [64] : (g, i, h, v, n) -> (i, n, h, v)>
       : memref<2x64x14x14xf16> -> <1x392x64xf16>
    wg.program workgroups 7 waves [2, 2] {
    ^bb0(%id: i32, %rank: i32):
      %sx = wg.alloc : <2x64x32xf16, planes 256>
      %sw = wg.alloc : <2x64x32xf16, chunks 32>
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %c64 = arith.constant 64 : i32
      %m = arith.muli %id, %c64 : i32
      %tx = wg.tile %a[%c0, %m] to %sx taps 1
          : <1x392x192xf16> -> <64x32xf16>, <2x64x32xf16, planes 256>
      %tw = wg.tile %b[%c0, %c0] to %sw taps 1
          : <1x64x192xf16> -> <64x32xf16>, <2x64x32xf16, chunks 32>
      %w0 = wg.tap %tw[%c0] : <64x32xf16>
      %px = wg.fetch %tx[%c0] : <64x32xf16> -> <64x32xf16>
      %pw = wg.fetch %w0[%c0] : <64x32xf16> -> <64x32xf16>
      %w1 = wg.tap %tw[%c1] : <64x32xf16>
      %q0 = wg.fetch %w1[%c0] : <64x32xf16> -> <64x32xf16>
      wg.put %px to %sx[0] : <64x32xf16> -> <2x64x32xf16, planes 256>
      wg.put %pw to %sw[0] : <64x32xf16> -> <2x64x32xf16, chunks 32>
      wg.barrier
      %z = wg.zero : <64x64, lanes m>
      %fa = wg.load %sx at [0, 0] of %tx tap 0 : <2x64x32xf16, planes 256> -> <32x16xf16>
      %fb = wg.load %sw at [0, 0] : <2x64x32xf16, chunks 32> -> <32x16xf16>
      %s0:5 = wg.step pinned {
        wg.put %q0 to %sw[1] : <64x32xf16> -> <2x64x32xf16, chunks 32>
        %tap = wg.tap %tw[%c2] : <64x32xf16>
        %q = wg.fetch %tap[%c0] : <64x32xf16> -> <64x32xf16>
        %p = wg.fetch %tx[%c64] part [0, 2] : <64x32xf16> -> <64x32xf16>
        %a1 = wg.load %sx at [0, 16] of %tx tap 0 : <2x64x32xf16, planes 256> -> <32x16xf16>
        %b1 = wg.load %sw at [0, 16] : <2x64x32xf16, chunks 32> -> <32x16xf16>
        %d1 = wg.mma %fa, %fb add %z {instruction = "mfma32"}
            : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <64x64, lanes m>
        %d2 = wg.mma %a1, %b1 add %d1 {instruction = "mfma32"}
            : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <64x64, lanes m>
        wg.barrier
        %na = wg.load %sx at [0, 0] of %tx tap 1 : <2x64x32xf16, planes 256> -> <32x16xf16>
        %nb = wg.load %sw at [1, 0] : <2x64x32xf16, chunks 32> -> <32x16xf16>
        wg.yield %d2, %na, %nb, %q, %p
            : !wg.acc<64x64, lanes m>, !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16>, !wg.pieces<64x32xf16>, !wg.pieces<64x32xf16>
      } -> !wg.acc<64x64, lanes m>, !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16>, !wg.pieces<64x32xf16>, !wg.pieces<64x32xf16>
      %s1:5 = wg.step pinned {
        wg.put %s0#3 to %sw[0] : <64x32xf16> -> <2x64x32xf16, chunks 32>
        %tap = wg.tap %tw[%c0] : <64x32xf16>
        %q = wg.fetch %tap[%c64] : <64x32xf16> -> <64x32xf16>
        // EXAMPLE: wg.fetch
        %p = wg.fetch %tx[%c64] part [1, 2] with %s0#4 : <64x32xf16> -> <64x32xf16>
        // EXAMPLE-END
        %a1 = wg.load %sx at [0, 16] of %tx tap 1 : <2x64x32xf16, planes 256> -> <32x16xf16>
        %b1 = wg.load %sw at [1, 16] : <2x64x32xf16, chunks 32> -> <32x16xf16>
        %d1 = wg.mma %s0#1, %s0#2 add %s0#0 {instruction = "mfma32"}
            : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <64x64, lanes m>
        %d2 = wg.mma %a1, %b1 add %d1 {instruction = "mfma32"}
            : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <64x64, lanes m>
        wg.barrier
        %na = wg.load %sx at [0, 0] of %tx tap 2 : <2x64x32xf16, planes 256> -> <32x16xf16>
        %nb = wg.load %sw at [0, 0] : <2x64x32xf16, chunks 32> -> <32x16xf16>
        wg.yield %d2, %na, %nb, %q, %p
            : !wg.acc<64x64, lanes m>, !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16>, !wg.pieces<64x32xf16>, !wg.pieces<64x32xf16>
      } -> !wg.acc<64x64, lanes m>, !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16>, !wg.pieces<64x32xf16>, !wg.pieces<64x32xf16>
      %s2:4 = wg.step pinned {
        wg.put %s1#3 to %sw[1] : <64x32xf16> -> <2x64x32xf16, chunks 32>
        %tap = wg.tap %tw[%c1] : <64x32xf16>
        %q = wg.fetch %tap[%c64] : <64x32xf16> -> <64x32xf16>
        wg.put %s1#4 to %sx[1] : <64x32xf16> -> <2x64x32xf16, planes 256>
        %a1 = wg.load %sx at [0, 16] of %tx tap 2 : <2x64x32xf16, planes 256> -> <32x16xf16>
        %b1 = wg.load %sw at [0, 16] : <2x64x32xf16, chunks 32> -> <32x16xf16>
        %d1 = wg.mma %s1#1, %s1#2 add %s1#0 {instruction = "mfma32"}
            : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <64x64, lanes m>
        %d2 = wg.mma %a1, %b1 add %d1 {instruction = "mfma32"}
            : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <64x64, lanes m>
        wg.barrier
        %na = wg.load %sx at [1, 0] of %tx tap 0 : <2x64x32xf16, planes 256> -> <32x16xf16>
        %nb = wg.load %sw at [1, 0] : <2x64x32xf16, chunks 32> -> <32x16xf16>
        wg.yield %d2, %na, %nb, %q
            : !wg.acc<64x64, lanes m>, !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16>, !wg.pieces<64x32xf16>
      } -> !wg.acc<64x64, lanes m>, !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16>, !wg.pieces<64x32xf16>
      %s3:4 = wg.step pinned {
        wg.put %s2#3 to %sw[0] : <64x32xf16> -> <2x64x32xf16, chunks 32>
        %tap = wg.tap %tw[%c2] : <64x32xf16>
        %q = wg.fetch %tap[%c64] : <64x32xf16> -> <64x32xf16>
        %a1 = wg.load %sx at [1, 16] of %tx tap 0 : <2x64x32xf16, planes 256> -> <32x16xf16>
        %b1 = wg.load %sw at [1, 16] : <2x64x32xf16, chunks 32> -> <32x16xf16>
        %d1 = wg.mma %s2#1, %s2#2 add %s2#0 {instruction = "mfma32"}
            : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <64x64, lanes m>
        %d2 = wg.mma %a1, %b1 add %d1 {instruction = "mfma32"}
            : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <64x64, lanes m>
        wg.barrier
        %na = wg.load %sx at [1, 0] of %tx tap 1 : <2x64x32xf16, planes 256> -> <32x16xf16>
        %nb = wg.load %sw at [0, 0] : <2x64x32xf16, chunks 32> -> <32x16xf16>
        wg.yield %d2, %na, %nb, %q
            : !wg.acc<64x64, lanes m>, !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16>, !wg.pieces<64x32xf16>
      } -> !wg.acc<64x64, lanes m>, !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16>, !wg.pieces<64x32xf16>
      %s4:3 = wg.step pinned {
        wg.put %s3#3 to %sw[1] : <64x32xf16> -> <2x64x32xf16, chunks 32>
        %a1 = wg.load %sx at [1, 16] of %tx tap 1 : <2x64x32xf16, planes 256> -> <32x16xf16>
        %b1 = wg.load %sw at [0, 16] : <2x64x32xf16, chunks 32> -> <32x16xf16>
        %d1 = wg.mma %s3#1, %s3#2 add %s3#0 {instruction = "mfma32"}
            : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <64x64, lanes m>
        %d2 = wg.mma %a1, %b1 add %d1 {instruction = "mfma32"}
            : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <64x64, lanes m>
        wg.barrier
        %na = wg.load %sx at [1, 0] of %tx tap 2 : <2x64x32xf16, planes 256> -> <32x16xf16>
        %nb = wg.load %sw at [1, 0] : <2x64x32xf16, chunks 32> -> <32x16xf16>
        wg.yield %d2, %na, %nb
            : !wg.acc<64x64, lanes m>, !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16>
      } -> !wg.acc<64x64, lanes m>, !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16>
      %s5:3 = wg.step pinned {
        %a1 = wg.load %sx at [1, 16] of %tx tap 2 : <2x64x32xf16, planes 256> -> <32x16xf16>
        %b1 = wg.load %sw at [1, 16] : <2x64x32xf16, chunks 32> -> <32x16xf16>
        %d1 = wg.mma %s4#1, %s4#2 add %s4#0 {instruction = "mfma32"}
            : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <64x64, lanes m>
        %d2 = wg.mma %a1, %b1 add %d1 {instruction = "mfma32"}
            : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <64x64, lanes m>
        wg.barrier
        %na = wg.load %sx at [1, 0] of %tx tap 2 : <2x64x32xf16, planes 256> -> <32x16xf16>
        %nb = wg.load %sw at [1, 0] : <2x64x32xf16, chunks 32> -> <32x16xf16>
        wg.yield %d2, %na, %nb
            : !wg.acc<64x64, lanes m>, !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16>
      } -> !wg.acc<64x64, lanes m>, !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16>
      %out = wg.result %d[%c0, %m, %c0] : <1x392x64xf16>
      wg.store %s5#0 to %out : <64x64, lanes m>
    }
    return
  }
}
