// RUN: dnn-opt %s --dnn-lower-workgroup | FileCheck %s

// A kernel that is written by hand: backward weights of 3x3 whose taps share pixels. 242 positions
// are 4 steps of 64, and taps reach into the chunk behind a step's own, so that a consumer has two
// of four stages at once. It goes on, waits for the products of each step, and releases the oldest
// chunk, in one loop over all steps. test/lit/Tools/run-ptx-workgroup.test runs it;
// lower-workgroup-errors.test seeds faults.

// The first chunk comes a second time, to the mirror behind the last slot.
// CHECK: gpu.func @conv_wrw_bf16{{[a-z0-9_]*}}
// CHECK: nvvm.setmaxregister decrease 32
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c8192_i32
// CHECK: arith.select %{{.*}}, %c16384_i32, %c8192_i32
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global

// A share of a step's reduction begins 11 positions behind that of the warpgroup before, and is
// located again from the first slot on, if it begins behind the last one.
// CHECK: nvvm.setmaxregister increase 160
// CHECK: scf.for
// CHECK: arith.cmpi ult, %{{.*}}, %c256_i32
// CHECK: nvvm.wgmma.mma_async {{.*}}n = 192
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
module attributes {dnn.target = "sm_90"} {
  func.func @conv_wrw_bf16_nhwc_nhwc_nhwc_n2c64h10w10_k64y3x3_p1x1_s1x1_d1x1_g1(%x: memref<2x10x10x64xbf16> {dnn.arg = "x"},
                  %w: memref<64x3x3x64xbf16> {dnn.arg = "w"},
                  %y: memref<2x10x10x64xbf16> {dnn.arg = "y"})
      attributes {dnn.kernel} {
    %a = dnn.view %y <[1], [64], [2, 11, 11] :
           (g, k, n, p, q) -> (n, p, q, g * 64 + k)>
       : memref<2x10x10x64xbf16> -> <1x64x242xbf16>
    %b = dnn.view %x <[1], [1, 3, 3, 64], [2, 11, 11] :
           (g, i, r, s, c, n, p, q) -> (n, r + p - 1, s + q - 1, g * 64 + c)>
       : memref<2x10x10x64xbf16> -> <1x576x242xbf16>
    %d = dnn.view %w <[1], [64], [1, 3, 3, 64] :
           (g, k, i, r, s, c) -> (g * 64 + k, r, s, c)>
       : memref<64x3x3x64xbf16> -> <1x64x576xbf16>
    wg.program workgroups 1 resident 1 {
    ^bb0(%id: i32, %rank: i32):
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %steps = arith.constant 4 : i32
      %chunks = arith.constant 5 : i32
      %sy = wg.alloc : <3x64x64xbf16, column_major 128>
      %sx = wg.alloc : <4x64x64xbf16, column_major 128, mirror>
      %st = wg.alloc : <12x16x64xbf16, row_major 128>
      %r = wg.stages %sy full 1 empty 3 : !wg.buffer<3x64x64xbf16, column_major 128>
      %q = wg.stages %sx full 1 empty 3 : !wg.buffer<4x64x64xbf16, column_major 128, mirror>
      wg.role "gradient" thread registers 32 {
      ^bb0(%none: i32):
        %py = wg.box %a[%c0, %c0] pixels : <1x64x242xbf16> -> <64x64xbf16>
        scf.for %k = %c0 to %steps step %c1 : i32 {
          wg.acquire %r expect 8192
          wg.copy %py[%k] to %sy signal %r : <64x64xbf16> -> <3x64x64xbf16, column_major 128>
          wg.next %r
        }
      }
      wg.role "input" thread registers 32 {
      ^bb0(%none: i32):
        %px = wg.box %b[%c0, %c0] pixels slides : <1x576x242xbf16> -> <576x64xbf16>
        scf.for %k = %c0 to %chunks step %c1 : i32 {
          wg.acquire %q expect 8192
          wg.copy %px[%k] to %sx signal %q : <576x64xbf16> -> <4x64x64xbf16, column_major 128, mirror>
          wg.next %q
        }
      }
      wg.role "multiply" warpgroups 3 registers 160 {
      ^bb0(%consumer: i32):
        %line = arith.constant 11 : i32
        %own = arith.constant 192 : i32
        %position = arith.muli %consumer, %line : i32
        %column = arith.muli %consumer, %own : i32
        %out = wg.result %d[%c0, %c0, %column] via %st staged 128
             : <1x64x576xbf16>, <12x16x64xbf16, row_major 128>
        wg.await %q
        %z = wg.zero : <64x192>
        %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%c = %z) -> (!wg.acc<64x192>) : i32 {
          wg.next %q
          wg.await %q
          wg.await %r
          %seen = wg.slide %sx[%position] pitch 1 ahead 1
             : <4x64x64xbf16, column_major 128, mirror> -> <4x192x64xbf16, column_major 128>
          %e = wg.mma %sy, %seen add %c
             : <3x64x64xbf16, column_major 128>, <4x192x64xbf16, column_major 128> -> <64x192>
          wg.wait 0
          wg.leave %r
          wg.release %q
          scf.yield %e : !wg.acc<64x192>
        }
        wg.leave %q
        wg.store %sum to %out : <64x192>
        wg.flush
      }
    }
    return
  }
}
