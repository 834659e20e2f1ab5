// RUN: dnn-opt %s --dnn-lower-workgroup | FileCheck %s
// RUN: dnn-opt --start-from workgroup %s --target sm_90 --stop-after isa -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx

// A kernel that is written by hand: a 3x3 convolution of which all taps share pixels, in
// a schedule that the compiler has not. Blocks of channels and their taps are two loops,
// and a consumer waits for the products of each tap. Pixels and filter have stages of
// their own, and a thread each that fills them. test/lit/Tools/run-ptx-workgroup.test
// runs it; lower-workgroup-errors.test seeds faults.

// The barriers of four stages and of two. The threads that copy are the first ones of two
// warps.
// CHECK: gpu.func @conv_fwd_bf16{{[a-z0-9_]*}}(%[[A:[a-z0-9]*]]: !llvm.ptr, %[[B:[a-z0-9]*]]: !llvm.ptr,
// CHECK-COUNT-12: nvvm.mbarrier.init
// CHECK-NOT: nvvm.mbarrier.init
// CHECK: nvvm.setmaxregister decrease 40
// CHECK: arith.cmpi eq, %{{.*}}, %c0_i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}}, %[[B]], {{.*}} box
// CHECK: arith.cmpi eq, %{{.*}}, %c32_i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}}, %[[A]], {{.*}} im2col
// CHECK-NOT: nvvm.setmaxregister decrease

// A tap's rows begin behind the consumer's own.
// CHECK: nvvm.setmaxregister increase 232
// CHECK: arith.muli %{{.*}}, %c21_i32
// CHECK: nvvm.wgmma.mma_async
// PTX: .entry conv_fwd
module attributes {dnn.target = "sm_90"} {
  func.func @conv_fwd_bf16_nhwc_nhwc_nhwc_n2c128h20w20_k64y3x3_p1x1_s1x1_d1x1_g1(%x: memref<2x20x20x128xbf16> {dnn.arg = "x"},
                  %w: memref<64x3x3x128xbf16> {dnn.arg = "w"},
                  %y: memref<2x20x20x64xbf16> {dnn.arg = "y"})
      attributes {dnn.kernel} {
    %a = dnn.view %x <[1], [2, 21, 21], [3, 3, 128] :
           (g, n, p, q, r, s, c) -> (n, p + r - 1, q + s - 1, g * 128 + c)>
       : memref<2x20x20x128xbf16> -> <1x882x1152xbf16>
    %b = dnn.view %w <[1], [64], [3, 3, 128] :
           (g, k, r, s, c) -> (g * 64 + k, r, s, c)>
       : memref<64x3x3x128xbf16> -> <1x64x1152xbf16>
    %d = dnn.view %y <[1], [2, 21, 21], [64] :
           (g, n, p, q, k) -> (n, p, q, g * 64 + k)>
       : memref<2x20x20x64xbf16> -> <1x882x64xbf16>
    wg.program workgroups 7 resident 1 {
    ^bb0(%id: i32, %rank: i32):
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %c3 = arith.constant 3 : i32
      %tiles = arith.constant 7 : i32
      %taps = arith.constant 9 : i32
      %line = arith.constant 21 : i32
      %rows = arith.constant 128 : i32
      %sa = wg.alloc : <2x176x64xbf16, row_major 128>
      %sb = wg.alloc : <4x64x64xbf16, row_major 128>
      %st = wg.alloc : <8x16x64xbf16, row_major 128>
      %filters = wg.stages %sb full 1 empty 2 : !wg.buffer<4x64x64xbf16, row_major 128>
      %pixels = wg.stages %sa full 1 empty 2 : !wg.buffer<2x176x64xbf16, row_major 128>
      wg.role "filter" thread registers 40 {
      ^bb0(%none: i32):
        scf.for %t = %id to %tiles step %tiles : i32 {
          %pb = wg.box %b[%c0, %c0] : <1x64x1152xbf16> -> <64x64xbf16>
          scf.for %block = %c0 to %c2 step %c1 : i32 {
            scf.for %tap = %c0 to %taps step %c1 : i32 {
              %before = arith.muli %tap, %c2 : i32
              %k = arith.addi %before, %block : i32
              wg.acquire %filters expect 8192
              wg.copy %pb[%k] to %sb signal %filters : <64x64xbf16> -> <4x64x64xbf16, row_major 128>
              wg.next %filters
            }
          }
        }
      }
      wg.role "pixels" thread registers 40 {
      ^bb0(%none: i32):
        scf.for %t = %id to %tiles step %tiles : i32 {
          %m = arith.muli %t, %rows : i32
          %pa = wg.box %a[%c0, %m] halo : <1x882x1152xbf16> -> <128x64xbf16>
          scf.for %block = %c0 to %c2 step %c1 : i32 {
            wg.acquire %pixels expect 22528
            wg.copy %pa[%block] to %sa signal %pixels : <128x64xbf16> -> <2x176x64xbf16, row_major 128>
            wg.next %pixels
          }
        }
      }
      wg.role "multiply" warpgroups 2 registers 232 {
      ^bb0(%consumer: i32):
        %own = arith.constant 64 : i32
        %row = arith.muli %consumer, %own : i32
        %mine = wg.slice %sa[%row] : <2x176x64xbf16, row_major 128> -> <2x112x64xbf16, row_major 128>
        scf.for %t = %id to %tiles step %tiles : i32 {
          %m = arith.muli %t, %rows : i32
          %first = arith.addi %m, %row : i32
          %out = wg.result %d[%c0, %first, %c0] via %st staged 128 by_rows
               : <1x882x64xbf16>, <8x16x64xbf16, row_major 128>
          %z = wg.zero : <64x64>
          %sum = scf.for %block = %c0 to %c2 step %c1 iter_args(%s = %z) -> (!wg.acc<64x64>) : i32 {
            wg.await %pixels
            %ofBlock = scf.for %tap = %c0 to %taps step %c1 iter_args(%c = %s) -> (!wg.acc<64x64>) : i32 {
              %r = arith.divui %tap, %c3 : i32
              %q = arith.remui %tap, %c3 : i32
              %lines = arith.muli %r, %line : i32
              %at = arith.addi %lines, %q : i32
              %seen = wg.slice %mine[%at] : <2x112x64xbf16, row_major 128> -> <2x64x64xbf16, row_major 128>
              wg.await %filters
              %e = wg.mma %seen, %sb add %c
                 : <2x64x64xbf16, row_major 128>, <4x64x64xbf16, row_major 128> -> <64x64>
              wg.wait 0
              wg.leave %filters
              scf.yield %e : !wg.acc<64x64>
            }
            wg.leave %pixels
            scf.yield %ofBlock : !wg.acc<64x64>
          }
          wg.store %sum to %out : <64x64>
        }
      }
    }
    return
  }
}
