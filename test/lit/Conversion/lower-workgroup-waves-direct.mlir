// RUN: dnn-opt %s --dnn-lower-workgroup | FileCheck %s
// RUN: dnn-opt --start-from workgroup %s --target gfx950 -o %t.hsaco

// Direct copies to LDS in a schedule that is written by hand: one loop over a convolution
// of 1x1, whose last copies are of a tap that there is not, and so bring zeros. Each
// barrier waits for all copies. test/lit/Tools/dnn-emu-waves.test runs it.

// CHECK: gpu.func @conv{{.*}}known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 7, 1, 1>
// CHECK: rocdl.raw.ptr.buffer.load.lds
// CHECK: scf.for
// CHECK: amdgpu.mfma
// CHECK: amdgpu.memory_counter_wait load(0)
// CHECK: rocdl.s.barrier
// CHECK: rocdl.raw.ptr.buffer.load.lds
module attributes {dnn.target = "gfx950"} {
  func.func @conv(%x: memref<800x256xf16> {dnn.arg = "x"},
                  %w: memref<64x256xf16> {dnn.arg = "w"},
                  %y: memref<800x64xf16> {dnn.arg = "y"}) attributes {dnn.kernel} {
    %a = dnn.view %x <[1], [800], [256] : (g, m, c) -> (m, c)>
       : memref<800x256xf16> -> <1x800x256xf16>
    %b = dnn.view %w <[1], [64], [256] : (g, n, c) -> (n, c)>
       : memref<64x256xf16> -> <1x64x256xf16>
    %d = dnn.view %y <[1], [800], [64] : (g, m, n) -> (m, n)>
       : memref<800x64xf16> -> <1x800x64xf16>
    wg.program workgroups 7 waves [2, 2] {
    ^bb0(%id: i32, %rank: i32):
      %sx = wg.alloc : <2x128x64xf16, chunks 64>
      %sw = wg.alloc : <2x64x64xf16, chunks 64>
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %step = arith.constant 128 : i32
      %stride = arith.constant 256 : i32
      %bytes = arith.constant 512 : i32
      %end = arith.constant 768 : i32
      %m = arith.muli %id, %step : i32
      %tx = wg.tile %a[%c0, %m] to %sx taps 0
          : <1x800x256xf16> -> <128x64xf16>, <2x128x64xf16, chunks 64>
      %tw = wg.tile %b[%c0, %c0] to %sw taps 0
          : <1x64x256xf16> -> <64x64xf16>, <2x64x64xf16, chunks 64>
      %z = wg.zero : <128x64>
      %x0 = wg.tap %tx[%c0] : <128x64xf16>
      %w0 = wg.tap %tw[%c0] : <64x64xf16>
      wg.fill %x0[%c0] to %sx[0] : <128x64xf16> -> <2x128x64xf16, chunks 64>
      wg.fill %w0[%c0] to %sw[0] : <64x64xf16> -> <2x64x64xf16, chunks 64>
      wg.commit
      wg.fill %x0[%step] to %sx[1] : <128x64xf16> -> <2x128x64xf16, chunks 64>
      wg.fill %w0[%step] to %sw[1] : <64x64xf16> -> <2x64x64xf16, chunks 64>
      wg.commit
      wg.barrier ahead 1
      %fa = wg.load %sx at [0, 0] : <2x128x64xf16, chunks 64> -> <64x16xf16>
      %fb = wg.load %sw at [0, 0] : <2x64x64xf16, chunks 64> -> <32x16xf16>
      %sums:3 = scf.for %k = %stride to %end step %stride
          iter_args(%d0 = %z, %va = %fa, %vb = %fb)
          -> (!wg.acc<128x64>, !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16>) : i32 {
        %isTap = arith.cmpi ult, %k, %bytes : i32
        %tap = arith.select %isTap, %c0, %c1 : i32
        %xt = wg.tap %tx[%tap] : <128x64xf16>
        %wt = wg.tap %tw[%tap] : <64x64xf16>
        %s:3 = wg.step pinned {
          %a1 = wg.load %sx at [0, 16] : <2x128x64xf16, chunks 64> -> <64x16xf16>
          %b1 = wg.load %sw at [0, 16] : <2x64x64xf16, chunks 64> -> <32x16xf16>
          %a2 = wg.load %sx at [0, 32] : <2x128x64xf16, chunks 64> -> <64x16xf16>
          %b2 = wg.load %sw at [0, 32] : <2x64x64xf16, chunks 64> -> <32x16xf16>
          %a3 = wg.load %sx at [0, 48] : <2x128x64xf16, chunks 64> -> <64x16xf16>
          %b3 = wg.load %sw at [0, 48] : <2x64x64xf16, chunks 64> -> <32x16xf16>
          %d1 = wg.mma %va, %vb add %d0 {instruction = "mfma32"}
              : !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16> -> <128x64>
          %d2 = wg.mma %a1, %b1 add %d1 {instruction = "mfma32"}
              : !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16> -> <128x64>
          %d3 = wg.mma %a2, %b2 add %d2 {instruction = "mfma32"}
              : !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16> -> <128x64>
          %d4 = wg.mma %a3, %b3 add %d3 {instruction = "mfma32"}
              : !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16> -> <128x64>
          // EXAMPLE: wg.barrier
          wg.barrier ahead 0
          // EXAMPLE-END
          %na = wg.load %sx at [1, 0] : <2x128x64xf16, chunks 64> -> <64x16xf16>
          %nb = wg.load %sw at [1, 0] : <2x64x64xf16, chunks 64> -> <32x16xf16>
          // EXAMPLE: wg.fill
          wg.fill %xt[%k] to %sx[0] : <128x64xf16> -> <2x128x64xf16, chunks 64>
          // EXAMPLE-END
          wg.fill %wt[%k] to %sw[0] : <64x64xf16> -> <2x64x64xf16, chunks 64>
          // EXAMPLE: wg.commit
          wg.commit
          // EXAMPLE-END
          wg.yield %d4, %na, %nb : !wg.acc<128x64>, !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16>
        } -> !wg.acc<128x64>, !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16>
        %k1 = arith.addi %k, %step : i32
        %r:3 = wg.step pinned {
          %a1 = wg.load %sx at [1, 16] : <2x128x64xf16, chunks 64> -> <64x16xf16>
          %b1 = wg.load %sw at [1, 16] : <2x64x64xf16, chunks 64> -> <32x16xf16>
          %a2 = wg.load %sx at [1, 32] : <2x128x64xf16, chunks 64> -> <64x16xf16>
          %b2 = wg.load %sw at [1, 32] : <2x64x64xf16, chunks 64> -> <32x16xf16>
          %a3 = wg.load %sx at [1, 48] : <2x128x64xf16, chunks 64> -> <64x16xf16>
          %b3 = wg.load %sw at [1, 48] : <2x64x64xf16, chunks 64> -> <32x16xf16>
          %d1 = wg.mma %s#1, %s#2 add %s#0 {instruction = "mfma32"}
              : !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16> -> <128x64>
          %d2 = wg.mma %a1, %b1 add %d1 {instruction = "mfma32"}
              : !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16> -> <128x64>
          %d3 = wg.mma %a2, %b2 add %d2 {instruction = "mfma32"}
              : !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16> -> <128x64>
          %d4 = wg.mma %a3, %b3 add %d3 {instruction = "mfma32"}
              : !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16> -> <128x64>
          wg.barrier ahead 0
          %na = wg.load %sx at [0, 0] : <2x128x64xf16, chunks 64> -> <64x16xf16>
          %nb = wg.load %sw at [0, 0] : <2x64x64xf16, chunks 64> -> <32x16xf16>
          wg.fill %xt[%k1] to %sx[1] : <128x64xf16> -> <2x128x64xf16, chunks 64>
          wg.fill %wt[%k1] to %sw[1] : <64x64xf16> -> <2x64x64xf16, chunks 64>
          wg.commit
          wg.yield %d4, %na, %nb : !wg.acc<128x64>, !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16>
        } -> !wg.acc<128x64>, !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16>
        scf.yield %r#0, %r#1, %r#2 : !wg.acc<128x64>, !wg.fragment<64x16xf16>, !wg.fragment<32x16xf16>
      }
      %out = wg.result %d[%c0, %m, %c0] : <1x800x64xf16>
      wg.store %sums#0 to %out : <128x64>
    }
    return
  }
}
