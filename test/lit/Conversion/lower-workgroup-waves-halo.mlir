// RUN: dnn-opt %s --dnn-lower-workgroup | FileCheck %s
// RUN: dnn-opt --start-from workgroup %s --target sm_80 --stop-after isa -o %t.ptx

// Taps that share pixels which go directly to LDS, in a schedule that is written by hand:
// each barrier waits for all copies, the pixels of the block ahead come in one part with
// the first tap of a block, and the results of the tile before leave with its first two.
// test/lit/Tools/run-ptx-workgroup.test runs it.

// CHECK: gpu.func @conv{{.*}}known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 4, 1, 1>
// CHECK: scf.for %{{.*}} to %c7_i32 step %c4_i32
// CHECK: scf.for %{{.*}} to %c2_i32 step %c1_i32
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-NEXT: nvvm.barrier
// CHECK: st.global.v4.b32
// CHECK: scf.yield
// CHECK: llvm.store %{{.*}} : vector<4xi32>, !llvm.ptr<3>
// CHECK: scf.yield
module attributes {dnn.target = "sm_80"} {
  func.func @conv_fwd_f16_nhwc_nhwc_nhwc_n2c64h20w20_k64y3x1_p1x0_s1x1_d1x1_g1(
      %x: memref<2x20x20x64xf16> {dnn.arg = "x"}, %w: memref<64x3x1x64xf16> {dnn.arg = "w"},
      %y: memref<2x20x20x64xf16> {dnn.arg = "y"}) attributes {dnn.kernel} {
    %a = dnn.view %x <[1], [2, 20, 20], [3, 64] : (g, i, h, v, r, c) -> (i, h + r - 1, v, c)>
       : memref<2x20x20x64xf16> -> <1x800x192xf16>
    %b = dnn.view %w <[1], [64], [3, 64] : (g, n, r, c) -> (n, r, 0, c)>
       : memref<64x3x1x64xf16> -> <1x64x192xf16>
    %d = dnn.view %y <[1], [2, 20, 20], [64] : (g, i, h, v, n) -> (i, h, v, n)>
       : memref<2x20x20x64xf16> -> <1x800x64xf16>
    wg.program workgroups 4 waves [2, 2] {
    ^bb0(%id: i32, %rank: i32):
      %sx = wg.alloc : <2x128x32xf16, halo 192>
      %sw = wg.alloc : <3x64x32xf16, matrices>
      %sy = wg.alloc : <1x128x64xf16, mixed>
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %workgroups = arith.constant 4 : i32
      %tiles = arith.constant 7 : i32
      %step = arith.constant 64 : i32
      %rows = arith.constant 128 : i32
      %second = arith.constant 15360 : i32
      %m = arith.muli %id, %rows : i32
      %tw = wg.tile %b[%c0, %c0] to %sw taps 1
          : <1x64x192xf16> -> <64x32xf16>, <3x64x32xf16, matrices>
      %first = wg.tile %a[%c0, %m] to %sx taps 1
          : <1x800x192xf16> -> <128x32xf16>, <2x128x32xf16, halo 192>
      wg.fill %first[%c0] to %sx[0] : <128x32xf16> -> <2x128x32xf16, halo 192>
      %w0 = wg.tap %tw[%c0] : <64x32xf16>
      wg.fill %w0[%c0] to %sw[0] : <64x32xf16> -> <3x64x32xf16, matrices>
      %w1 = wg.tap %tw[%c1] : <64x32xf16>
      wg.fill %w1[%c0] to %sw[1] : <64x32xf16> -> <3x64x32xf16, matrices>
      wg.commit
      %w2 = wg.tap %tw[%c2] : <64x32xf16>
      wg.fill %w2[%c0] to %sw[2] : <64x32xf16> -> <3x64x32xf16, matrices>
      wg.commit
      wg.barrier ahead 1
      %last:2 = scf.for %tile = %id to %tiles step %workgroups
          iter_args(%slot = %c0, %before = %id) -> (i32, i32) : i32 {
        %hasBefore = arith.cmpi ne, %before, %tile : i32
        %row = arith.muli %tile, %rows : i32
        %tx = wg.tile %a[%c0, %row] to %sx taps 1
            : <1x800x192xf16> -> <128x32xf16>, <2x128x32xf16, halo 192>
        %behind = arith.addi %tile, %workgroups : i32
        %isTile = arith.cmpi ult, %behind, %tiles : i32
        %next = arith.select %isTile, %behind, %tile : i32
        %z = wg.zero : <128x64>
        // EXAMPLE: wg.load
        %fa = wg.load %sx at [0, 0] behind %slot of %tx tap 0
            : <2x128x32xf16, halo 192> -> <64x16xf16>
        // EXAMPLE-END
        %fb = wg.load %sw at [0, 0] : <3x64x32xf16, matrices> -> <32x16xf16>
        %sums:4 = scf.for %block = %c0 to %c2 step %c1
            iter_args(%d0 = %z, %va = %fa, %vb = %fb, %here = %slot)
            -> (!wg.acc<128x64>, !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16>, i32) : i32 {
          %other = arith.subi %second, %here : i32
          %isLast = arith.cmpi eq, %block, %c1 : i32
          %ahead = arith.select %isLast, %next, %tile : i32
          %blockAhead = arith.subi %c1, %block : i32
          %at = arith.muli %blockAhead, %step : i32
          %rowAhead = arith.muli %ahead, %rows : i32
          %ta = wg.tile %a[%c0, %rowAhead] to %sx taps 1
              : <1x800x192xf16> -> <128x32xf16>, <2x128x32xf16, halo 192>
          %rowBefore = arith.muli %before, %rows : i32
          %old = wg.result %d[%c0, %rowBefore, %c0] via %sy : <1x800x64xf16>, <1x128x64xf16, mixed>
          %s0:3 = wg.step pinned {
            %a1 = wg.load %sx at [0, 16] behind %here of %tx tap 0
                : <2x128x32xf16, halo 192> -> <64x16xf16>
            %b1 = wg.load %sw at [0, 16] : <3x64x32xf16, matrices> -> <32x16xf16>
            %d1 = wg.mma %va, %vb add %d0 {instruction = "mma16"}
                : !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16> -> <128x64>
            %d2 = wg.mma %a1, %b1 add %d1 {instruction = "mma16"}
                : !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16> -> <128x64>
            wg.barrier ahead 0
            %na = wg.load %sx at [0, 0] behind %here of %tx tap 1
                : <2x128x32xf16, halo 192> -> <64x16xf16>
            %nb = wg.load %sw at [1, 0] : <3x64x32xf16, matrices> -> <32x16xf16>
            %tap = wg.tap %tw[%c0] : <64x32xf16>
            wg.fill %tap[%at] to %sw[0] : <64x32xf16> -> <3x64x32xf16, matrices>
            // EXAMPLE: wg.fill
            wg.fill %ta[%at] to %sx[0] behind %other part [0, 2]
                : <128x32xf16> -> <2x128x32xf16, halo 192>
            // EXAMPLE-END
            wg.commit
            // EXAMPLE: wg.flush
            wg.flush of %old block %block share [0, 2, 2] if %hasBefore
            // EXAMPLE-END
            wg.yield %d2, %na, %nb : !wg.acc<128x64>, !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16>
          } -> !wg.acc<128x64>, !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16>
          %s1:3 = wg.step pinned {
            %a1 = wg.load %sx at [0, 16] behind %here of %tx tap 1
                : <2x128x32xf16, halo 192> -> <64x16xf16>
            %b1 = wg.load %sw at [1, 16] : <3x64x32xf16, matrices> -> <32x16xf16>
            %d1 = wg.mma %s0#1, %s0#2 add %s0#0 {instruction = "mma16"}
                : !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16> -> <128x64>
            %d2 = wg.mma %a1, %b1 add %d1 {instruction = "mma16"}
                : !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16> -> <128x64>
            wg.barrier ahead 0
            %na = wg.load %sx at [0, 0] behind %here of %tx tap 2
                : <2x128x32xf16, halo 192> -> <64x16xf16>
            %nb = wg.load %sw at [2, 0] : <3x64x32xf16, matrices> -> <32x16xf16>
            %tap = wg.tap %tw[%c1] : <64x32xf16>
            wg.fill %tap[%at] to %sw[1] : <64x32xf16> -> <3x64x32xf16, matrices>
            wg.fill %ta[%at] to %sx[0] behind %other part [1, 2]
                : <128x32xf16> -> <2x128x32xf16, halo 192>
            wg.commit
            wg.flush of %old block %block share [1, 2, 2] if %hasBefore
            wg.yield %d2, %na, %nb : !wg.acc<128x64>, !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16>
          } -> !wg.acc<128x64>, !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16>
          %s2:3 = wg.step pinned {
            %a1 = wg.load %sx at [0, 16] behind %here of %tx tap 2
                : <2x128x32xf16, halo 192> -> <64x16xf16>
            %b1 = wg.load %sw at [2, 16] : <3x64x32xf16, matrices> -> <32x16xf16>
            %d1 = wg.mma %s1#1, %s1#2 add %s1#0 {instruction = "mma16"}
                : !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16> -> <128x64>
            %d2 = wg.mma %a1, %b1 add %d1 {instruction = "mma16"}
                : !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16> -> <128x64>
            wg.barrier ahead 0
            %na = wg.load %sx at [0, 0] behind %other of %tx tap 0
                : <2x128x32xf16, halo 192> -> <64x16xf16>
            %nb = wg.load %sw at [0, 0] : <3x64x32xf16, matrices> -> <32x16xf16>
            %tap = wg.tap %tw[%c2] : <64x32xf16>
            wg.fill %tap[%at] to %sw[2] : <64x32xf16> -> <3x64x32xf16, matrices>
            wg.commit
            wg.yield %d2, %na, %nb : !wg.acc<128x64>, !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16>
          } -> !wg.acc<128x64>, !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16>
          scf.yield %s2#0, %s2#1, %s2#2, %other
              : !wg.acc<128x64>, !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16>, i32
        }
        %out = wg.result %d[%c0, %row, %c0] via %sy : <1x800x64xf16>, <1x128x64xf16, mixed>
        wg.store %sums#0 to %out : <128x64>
        scf.yield %sums#3, %tile : i32, i32
      }
      // What is left.
      wg.barrier
      %rowLast = arith.muli %last#1, %rows : i32
      %rest = wg.result %d[%c0, %rowLast, %c0] via %sy : <1x800x64xf16>, <1x128x64xf16, mixed>
      wg.flush of %rest
      wg.flush
    }
    return
  }
}
