// RUN: dnn-opt %s --dnn-lower-workgroup | FileCheck %s

// Narrow groups by hand: a 3x3 filter on 64 channels in groups of 8, with a schedule that the
// compiler has not. A workgroup goes down an image of 12 lines of 16 pixels, two blocks of two lines
// an iteration; the lines of the block after the next are under way while one is multiplied.
// test/lit/Tools/run-ptx-workgroup.test runs it.

// A circular buffer of 8 lines of 18 pixels of 144 bytes, a filter of 64 rows of 144 bytes, and 1024
// bytes to align.
// CHECK: gpu.func @conv_fwd_f16
// CHECK-SAME: dnn.shared_bytes = 30976
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 2, 1, 1>
// The filter, four lines, and the two that the next block sees beside them.
// CHECK-COUNT-17: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: nvvm.barrier
// What a loop carries is where the first line of its block lies.
// CHECK: scf.for {{.*}} iter_args(%[[FIRST:.*]] = %c0_i32) -> (i32)
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: nvvm.barrier
// CHECK: scf.if
// CHECK: arith.addi %[[FIRST]], %c15552_i32
// CHECK: arith.minui
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// Each line is read by three ldmatrix, and meets up to two lines of results.
// CHECK: scf.for
// CHECK-COUNT-3: nvvm.ldmatrix
// CHECK: nvvm.shfl.sync bfly
// CHECK: st.global
// CHECK: nvvm.barrier
// CHECK: scf.if
// CHECK: nvvm.cp.async.shared.global
// CHECK: scf.for
// CHECK: nvvm.ldmatrix
// CHECK: scf.yield
module attributes {dnn.target = "sm_80"} {
  func.func @conv_fwd_f16_nhwc_nhwc_nhwc_n2c64h12w16_k64y3x3_p1x1_s1x1_d1x1_g8(
                  %x: memref<2x12x16x64xf16> {dnn.arg = "x"},
                  %w: memref<64x3x3x8xf16> {dnn.arg = "w"},
                  %y: memref<2x12x16x64xf16> {dnn.arg = "y"})
      attributes {dnn.kernel} {
    %a = dnn.view %x <[2, 1], [1, 6, 2, 16], [3, 3, 8, 8] :
           (n, c, j, i, p, q, r, s, g, k) -> (n, i * 2 + p + r - 1, j * 16 + q + s - 1, c * 64 + g * 8 + k)>
       : memref<2x12x16x64xf16> -> <2x192x576xf16>
    %b = dnn.view %w <[2, 1], [8, 8], [3, 3, 8, 8] :
           (n, c, h, m, r, s, g, k) -> (c * 64 + h * 8 + m, r, s, (g - h) * 8 + k)>
       : memref<64x3x3x8xf16> -> <2x64x576xf16>
    %d = dnn.view %y <[2, 1], [1, 6, 2, 16], [64] :
           (n, c, j, i, p, q, m) -> (n, i * 2 + p, j * 16 + q, c * 64 + m)>
       : memref<2x12x16x64xf16> -> <2x192x64xf16>
    wg.program workgroups 2 waves [1, 4] {
    ^bb0(%id: i32, %rank: i32):
      %sx = wg.alloc : <8x32x576xf16, circular 18>
      %sw = wg.alloc : <1x64x576xf16, diagonal 8>
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %c4 = arith.constant 4 : i32
      %end = arith.constant 6 : i32
      %pixels = arith.constant 16 : i32
      %rows = arith.constant 32 : i32
      // EXAMPLE: wg.wave
      %m = wg.wave along m
      // EXAMPLE-END
      %tw = wg.tile %b[%id, %c0] to %sw : <2x64x576xf16> -> <64x576xf16>, <1x64x576xf16, diagonal 8>
      wg.fill %tw[%c0] to %sw[0] : <64x576xf16> -> <1x64x576xf16, diagonal 8>
      %tx = wg.tile %a[%id, %c0] to %sx : <2x192x576xf16> -> <32x576xf16>, <8x32x576xf16, circular 18>
      wg.fill %tx[%c0] to %sx[0] lines 4 : <32x576xf16> -> <8x32x576xf16, circular 18>
      wg.fill %tx[%c4] to %sx[4] lines 2 : <32x576xf16> -> <8x32x576xf16, circular 18>
      wg.commit
      wg.barrier ahead 0
      %f = wg.load %sw at [0, 0] : <1x64x576xf16, diagonal 8> -> <16x576xf16>
      %f0 = wg.columns %f[0] : !wg.fragment<16x576xf16> -> !wg.fragment<16x192xf16>
      // EXAMPLE: wg.columns
      %f1 = wg.columns %f[192] : !wg.fragment<16x576xf16> -> !wg.fragment<16x192xf16>
      // EXAMPLE-END
      %f2 = wg.columns %f[384] : !wg.fragment<16x576xf16> -> !wg.fragment<16x192xf16>
      %z = wg.zero : <16x64>
      scf.for %block = %c0 to %end step %c2 : i32 {
        wg.barrier ahead 0
        %next = arith.addi %block, %c2 : i32
        %exists = arith.cmpi ult, %next, %end : i32
        scf.if %exists {
          %at = arith.muli %next, %c2 : i32
          %line = arith.addi %at, %c2 : i32
          wg.fill %tx[%line] to %sx[6] lines 2 : <32x576xf16> -> <8x32x576xf16, circular 18>
        }
        wg.commit
        %row = arith.muli %block, %rows : i32
        scf.for %i = %m to %c1 step %c1 : i32 {
          %p = arith.muli %i, %pixels : i32
          %out = wg.result %d[%id, %row, %c0] from %p : <2x192x64xf16>
          %s0 = wg.step {
            %l0 = wg.load %sx at [0, 0] pixel %p : <8x32x576xf16, circular 18> -> <16x192xf16>
            %d0 = wg.mma %l0, %f0 add %z {instruction = "mma8"} : !wg.fragment<16x192xf16>, !wg.fragment<16x192xf16> -> <16x64>
            wg.yield %d0 : !wg.acc<16x64>
          } -> !wg.acc<16x64>
          %s1:2 = wg.step {
            %l1 = wg.load %sx at [1, 0] pixel %p : <8x32x576xf16, circular 18> -> <16x192xf16>
            %d1 = wg.mma %l1, %f1 add %s0 {instruction = "mma8"} : !wg.fragment<16x192xf16>, !wg.fragment<16x192xf16> -> <16x64>
            %e1 = wg.mma %l1, %f0 add %z {instruction = "mma8"} : !wg.fragment<16x192xf16>, !wg.fragment<16x192xf16> -> <16x64>
            wg.yield %d1, %e1 : !wg.acc<16x64>, !wg.acc<16x64>
          } -> !wg.acc<16x64>, !wg.acc<16x64>
          %s2:2 = wg.step {
            // EXAMPLE: wg.load
            %l2 = wg.load %sx at [2, 0] pixel %p : <8x32x576xf16, circular 18> -> <16x192xf16>
            // EXAMPLE-END
            %d2 = wg.mma %l2, %f2 add %s1#0 {instruction = "mma8"} : !wg.fragment<16x192xf16>, !wg.fragment<16x192xf16> -> <16x64>
            %e2 = wg.mma %l2, %f1 add %s1#1 {instruction = "mma8"} : !wg.fragment<16x192xf16>, !wg.fragment<16x192xf16> -> <16x64>
            wg.yield %d2, %e2 : !wg.acc<16x64>, !wg.acc<16x64>
          } -> !wg.acc<16x64>, !wg.acc<16x64>
          wg.store %s2#0 to %out : <16x64>
          %s3 = wg.step {
            %l3 = wg.load %sx at [3, 0] pixel %p : <8x32x576xf16, circular 18> -> <16x192xf16>
            %e3 = wg.mma %l3, %f2 add %s2#1 {instruction = "mma8"} : !wg.fragment<16x192xf16>, !wg.fragment<16x192xf16> -> <16x64>
            wg.yield %e3 : !wg.acc<16x64>
          } -> !wg.acc<16x64>
          wg.store %s3 to %out behind 16 : <16x64>
        }
        wg.rotate %sx by 2 : <8x32x576xf16, circular 18>
        // All are done with the two lines that the next block does not see.
        wg.barrier
        scf.if %exists {
          %at = arith.muli %next, %c2 : i32
          %line = arith.addi %at, %c4 : i32
          wg.fill %tx[%line] to %sx[6] lines 2 : <32x576xf16> -> <8x32x576xf16, circular 18>
        }
        wg.commit
        %lower = arith.addi %block, %c1 : i32
        %below = arith.muli %lower, %rows : i32
        scf.for %i = %m to %c1 step %c1 : i32 {
          %p = arith.muli %i, %pixels : i32
          %out = wg.result %d[%id, %below, %c0] from %p : <2x192x64xf16>
          %s0 = wg.step {
            %l0 = wg.load %sx at [0, 0] pixel %p : <8x32x576xf16, circular 18> -> <16x192xf16>
            %d0 = wg.mma %l0, %f0 add %z {instruction = "mma8"} : !wg.fragment<16x192xf16>, !wg.fragment<16x192xf16> -> <16x64>
            wg.yield %d0 : !wg.acc<16x64>
          } -> !wg.acc<16x64>
          %s1:2 = wg.step {
            %l1 = wg.load %sx at [1, 0] pixel %p : <8x32x576xf16, circular 18> -> <16x192xf16>
            %d1 = wg.mma %l1, %f1 add %s0 {instruction = "mma8"} : !wg.fragment<16x192xf16>, !wg.fragment<16x192xf16> -> <16x64>
            %e1 = wg.mma %l1, %f0 add %z {instruction = "mma8"} : !wg.fragment<16x192xf16>, !wg.fragment<16x192xf16> -> <16x64>
            wg.yield %d1, %e1 : !wg.acc<16x64>, !wg.acc<16x64>
          } -> !wg.acc<16x64>, !wg.acc<16x64>
          %s2:2 = wg.step {
            %l2 = wg.load %sx at [2, 0] pixel %p : <8x32x576xf16, circular 18> -> <16x192xf16>
            %d2 = wg.mma %l2, %f2 add %s1#0 {instruction = "mma8"} : !wg.fragment<16x192xf16>, !wg.fragment<16x192xf16> -> <16x64>
            %e2 = wg.mma %l2, %f1 add %s1#1 {instruction = "mma8"} : !wg.fragment<16x192xf16>, !wg.fragment<16x192xf16> -> <16x64>
            wg.yield %d2, %e2 : !wg.acc<16x64>, !wg.acc<16x64>
          } -> !wg.acc<16x64>, !wg.acc<16x64>
          wg.store %s2#0 to %out : <16x64>
          %s3 = wg.step {
            %l3 = wg.load %sx at [3, 0] pixel %p : <8x32x576xf16, circular 18> -> <16x192xf16>
            %e3 = wg.mma %l3, %f2 add %s2#1 {instruction = "mma8"} : !wg.fragment<16x192xf16>, !wg.fragment<16x192xf16> -> <16x64>
            wg.yield %e3 : !wg.acc<16x64>
          } -> !wg.acc<16x64>
          wg.store %s3 to %out behind 16 : <16x64>
        }
        // EXAMPLE: wg.rotate
        wg.rotate %sx by 2 : <8x32x576xf16, circular 18>
        // EXAMPLE-END
      }
    }
    return
  }
}
