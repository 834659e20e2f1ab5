// RUN: dnn-opt %s --dnn-lower-workgroup | FileCheck %s
// RUN: dnn-opt --start-from workgroup %s --target gfx942 -o %t.hsaco

// A main loop of waves that is written by hand, for MFMA: a 3x3 convolution, with a
// schedule that the compiler has not. A workgroup has several tiles although its copies
// go through registers, and one loop over the taps, of which each is two steps.
// test/lit/Tools/dnn-emu-waves.test runs it; lower-workgroup-waves-errors.test seeds faults.

// Of each operand two slots, which threads write and read; and four waves.
// CHECK: gpu.func @conv{{.*}} workgroup(%{{.*}} : memref<2048xf16, {{.*}}memref<2048xf16, {{.*}}memref<2048xf16, {{.*}}memref<2048xf16
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 7, 1, 1>
// CHECK: scf.for
// CHECK: amdgpu.lds_barrier
// CHECK: amdgpu.lds_barrier
// CHECK: scf.for {{.*}} iter_args
// CHECK: amdgpu.memory_counter_wait ds(0)
// CHECK: vector.load
// CHECK: vector.store
// CHECK: amdgpu.mfma 32x32x8
// CHECK: rocdl.raw.ptr.buffer.load
// CHECK: amdgpu.lds_barrier
// CHECK: amdgpu.lds_barrier
// CHECK: arith.maximumf
// CHECK: rocdl.raw.ptr.buffer.store
module attributes {dnn.target = "gfx942"} {
  func.func @conv(%x: memref<2x20x20x64xf16> {dnn.arg = "x"},
                  %w: memref<64x3x3x64xf16> {dnn.arg = "w"},
                  %y: memref<2x20x20x64xf16> {dnn.arg = "y"})
      attributes {dnn.kernel} {
    %a = dnn.view %x <[1], [2, 20, 20], [3, 3, 64] :
           (g, n, p, q, r, s, c) -> (n, p + r - 1, q + s - 1, g * 64 + c)>
       : memref<2x20x20x64xf16> -> <1x800x576xf16>
    %b = dnn.view %w <[1], [64], [3, 3, 64] :
           (g, k, r, s, c) -> (g * 64 + k, r, s, c)>
       : memref<64x3x3x64xf16> -> <1x64x576xf16>
    %d = dnn.view %y <[1], [2, 20, 20], [64] :
           (g, n, p, q, k) -> (n, p, q, g * 64 + k)>
       : memref<2x20x20x64xf16> -> <1x800x64xf16>
    wg.program workgroups 7 waves [2, 2] {
    ^bb0(%id: i32, %rank: i32):
      %sx = wg.alloc : <2x64x32xf16, chunks 32>
      %sw = wg.alloc : <2x64x32xf16, chunks 32>
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %ahead = arith.constant 64 : i32
      %behind = arith.constant 10 : i32
      %rows = arith.constant 64 : i32
      %tiles = arith.constant 13 : i32
      %stride = arith.constant 7 : i32
      scf.for %t = %id to %tiles step %stride : i32 {
        %m = arith.muli %t, %rows : i32
        // EXAMPLE: wg.tile
        %tx = wg.tile %a[%c0, %m] to %sx taps 2
            : <1x800x576xf16> -> <64x32xf16>, <2x64x32xf16, chunks 32>
        // EXAMPLE-END
        %tw = wg.tile %b[%c0, %c0] to %sw taps 2
            : <1x64x576xf16> -> <64x32xf16>, <2x64x32xf16, chunks 32>
        %z = wg.zero : <64x64>
        // EXAMPLE: wg.tap
        %x0 = wg.tap %tx[%c0] : <64x32xf16>
        // EXAMPLE-END
        %w0 = wg.tap %tw[%c0] : <64x32xf16>
        // EXAMPLE: wg.fetch
        %px = wg.fetch %x0[%c0] : <64x32xf16> -> <64x32xf16>
        // EXAMPLE-END
        %pw = wg.fetch %w0[%c0] : <64x32xf16> -> <64x32xf16>
        // Of the tile before, whose first fragments behind its last step nobody uses.
        wg.barrier
        // EXAMPLE: wg.put
        wg.put %px to %sx[0] : <64x32xf16> -> <2x64x32xf16, chunks 32>
        // EXAMPLE-END
        wg.put %pw to %sw[0] : <64x32xf16> -> <2x64x32xf16, chunks 32>
        %qx = wg.fetch %x0[%ahead] : <64x32xf16> -> <64x32xf16>
        %qw = wg.fetch %w0[%ahead] : <64x32xf16> -> <64x32xf16>
        // EXAMPLE: wg.barrier
        wg.barrier
        // EXAMPLE-END
        %fa = wg.load %sx at [0, 0] : <2x64x32xf16, chunks 32> -> <32x16xf16>
        %fb = wg.load %sw at [0, 0] : <2x64x32xf16, chunks 32> -> <32x16xf16>
        %sums:5 = scf.for %tap = %c1 to %behind step %c1
            iter_args(%d0 = %z, %vx = %qx, %vw = %qw, %a0 = %fa, %b0 = %fb)
            -> (!wg.acc<64x64>, !wg.pieces<64x32xf16>, !wg.pieces<64x32xf16>,
                !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16>) : i32 {
          %xt = wg.tap %tx[%tap] : <64x32xf16>
          %wt = wg.tap %tw[%tap] : <64x32xf16>
          // EXAMPLE: wg.step
          %s:5 = wg.step pinned {
            %a1 = wg.load %sx at [0, 16] : <2x64x32xf16, chunks 32> -> <32x16xf16>
            %b1 = wg.load %sw at [0, 16] : <2x64x32xf16, chunks 32> -> <32x16xf16>
            wg.put %vx to %sx[1] : <64x32xf16> -> <2x64x32xf16, chunks 32>
            wg.put %vw to %sw[1] : <64x32xf16> -> <2x64x32xf16, chunks 32>
            %nx = wg.fetch %xt[%c0] : <64x32xf16> -> <64x32xf16>
            %nw = wg.fetch %wt[%c0] : <64x32xf16> -> <64x32xf16>
            %d1 = wg.mma %a0, %b0 add %d0 {instruction = "mfma32"}
                : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <64x64>
            %d2 = wg.mma %a1, %b1 add %d1 {instruction = "mfma32"}
                : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <64x64>
            wg.barrier
            %a2 = wg.load %sx at [1, 0] : <2x64x32xf16, chunks 32> -> <32x16xf16>
            %b2 = wg.load %sw at [1, 0] : <2x64x32xf16, chunks 32> -> <32x16xf16>
            wg.yield %d2, %nx, %nw, %a2, %b2
                : !wg.acc<64x64>, !wg.pieces<64x32xf16>, !wg.pieces<64x32xf16>,
                  !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16>
          } -> !wg.acc<64x64>, !wg.pieces<64x32xf16>, !wg.pieces<64x32xf16>,
               !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16>
          // EXAMPLE-END
          %r:5 = wg.step pinned {
            // EXAMPLE: wg.load
            %a1 = wg.load %sx at [1, 16] : <2x64x32xf16, chunks 32> -> <32x16xf16>
            // EXAMPLE-END
            %b1 = wg.load %sw at [1, 16] : <2x64x32xf16, chunks 32> -> <32x16xf16>
            wg.put %s#1 to %sx[0] : <64x32xf16> -> <2x64x32xf16, chunks 32>
            wg.put %s#2 to %sw[0] : <64x32xf16> -> <2x64x32xf16, chunks 32>
            %nx = wg.fetch %xt[%ahead] : <64x32xf16> -> <64x32xf16>
            %nw = wg.fetch %wt[%ahead] : <64x32xf16> -> <64x32xf16>
            %d1 = wg.mma %s#3, %s#4 add %s#0 {instruction = "mfma32"}
                : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <64x64>
            // EXAMPLE: wg.mma
            %d2 = wg.mma %a1, %b1 add %d1 {instruction = "mfma32"}
                : !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16> -> <64x64>
            // EXAMPLE-END
            wg.barrier
            %a2 = wg.load %sx at [0, 0] : <2x64x32xf16, chunks 32> -> <32x16xf16>
            %b2 = wg.load %sw at [0, 0] : <2x64x32xf16, chunks 32> -> <32x16xf16>
            wg.yield %d2, %nx, %nw, %a2, %b2
                : !wg.acc<64x64>, !wg.pieces<64x32xf16>, !wg.pieces<64x32xf16>,
                  !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16>
          } -> !wg.acc<64x64>, !wg.pieces<64x32xf16>, !wg.pieces<64x32xf16>,
               !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16>
          scf.yield %r#0, %r#1, %r#2, %r#3, %r#4
              : !wg.acc<64x64>, !wg.pieces<64x32xf16>, !wg.pieces<64x32xf16>,
                !wg.fragment<32x16xf16>, !wg.fragment<32x16xf16>
        }
        // EXAMPLE: wg.result
        %out = wg.result %d[%c0, %m, %c0] : <1x800x64xf16>
        // EXAMPLE-END
        wg.store %sums#0 to %out epilogue {
        ^bb0(%v: f32):
          %zero = arith.constant 0.0 : f32
          %relu = arith.maximumf %v, %zero : f32
          wg.yield %relu : f32
        } : <64x64>
      }
    }
    return
  }
}
