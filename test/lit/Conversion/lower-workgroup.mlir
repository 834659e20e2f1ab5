// RUN: dnn-opt %s --dnn-lower-workgroup | FileCheck %s
// RUN: dnn-opt --start-from workgroup %s --target sm_90 --stop-after isa -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx

// A kernel that is written by hand: a 3x3 convolution and ReLU. Two roles, and a
// schedule that the compiler has not: a consumer waits for the products of each stage,
// goes on, and then releases the stage behind it, in one loop over all steps, into sums
// that begin as zeros. test/lit/Tools/run-ptx-workgroup.test runs it;
// lower-workgroup-errors.test seeds faults.

// The roles share the registers out, after one thread has made the barriers of four
// stages, each with three consumers.
// CHECK: gpu.func @conv_fwd_bf16{{[a-z0-9_]*}}(%[[A:[a-z0-9]*]]: !llvm.ptr, %[[B:[a-z0-9]*]]: !llvm.ptr, %[[D:[a-z0-9]*]]: !llvm.ptr)
// CHECK-SAME: known_block_size = array<i32: 512, 1, 1>, known_grid_size = array<i32: 5, 1, 1>
// CHECK-COUNT-8: nvvm.mbarrier.init
// CHECK: nvvm.setmaxregister decrease 32

// A role's current stage is its number and a parity, which its loops carry.
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (i32, i32)
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (i32, i32)
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}}, %[[A]], {{.*}} im2col
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}}, %[[B]], {{.*}} box
// CHECK: nvvm.setmaxregister increase 160
// CHECK: nvvm.wgmma.mma_async {{.*}} D[<f32>, <one>]
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: nvvm.mbarrier.arrive
// CHECK: arith.maximumf
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[D]]
// PTX: .entry conv_fwd
module attributes {dnn.target = "sm_90"} {
  func.func @conv_fwd_bf16_nhwc_nhwc_nhwc_n2c64h20w20_k64y3x3_p1x1_s1x1_d1x1_g1(%x: memref<2x20x20x64xbf16> {dnn.arg = "x"},
                  %w: memref<64x3x3x64xbf16> {dnn.arg = "w"},
                  %y: memref<2x20x20x64xbf16> {dnn.arg = "y"})
      attributes {dnn.kernel} {
    %a = dnn.view %x <[1], [2, 20, 20], [3, 3, 64] :
           (g, n, p, q, r, s, c) -> (n, p + r - 1, q + s - 1, g * 64 + c)>
       : memref<2x20x20x64xbf16> -> <1x800x576xbf16>
    %b = dnn.view %w <[1], [64], [3, 3, 64] :
           (g, k, r, s, c) -> (g * 64 + k, r, s, c)>
       : memref<64x3x3x64xbf16> -> <1x64x576xbf16>
    %d = dnn.view %y <[1], [2, 20, 20], [64] :
           (g, n, p, q, k) -> (n, p, q, g * 64 + k)>
       : memref<2x20x20x64xbf16> -> <1x800x64xbf16>
    wg.program workgroups 5 resident 1 {
    ^bb0(%id: i32, %rank: i32):
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles = arith.constant 5 : i32
      %steps = arith.constant 9 : i32
      %sa = wg.alloc : <4x192x64xbf16, row_major 128>
      %sb = wg.alloc : <4x64x64xbf16, row_major 128>
      %st = wg.alloc : <12x16x64xbf16, row_major 128>
      %r = wg.stages %sa, %sb full 1 empty 3
         : !wg.buffer<4x192x64xbf16, row_major 128>, !wg.buffer<4x64x64xbf16, row_major 128>
      wg.role "copy" thread registers 32 {
      ^bb0(%none: i32):
        scf.for %t = %id to %tiles step %tiles : i32 {
          %rows = arith.constant 192 : i32
          %m = arith.muli %t, %rows : i32
          %pa = wg.box %a[%c0, %m] : <1x800x576xbf16> -> <192x64xbf16>
          %pb = wg.box %b[%c0, %c0] : <1x64x576xbf16> -> <64x64xbf16>
          scf.for %k = %c0 to %steps step %c1 : i32 {
            wg.acquire %r expect 32768
            wg.copy %pa[%k] to %sa signal %r : <192x64xbf16> -> <4x192x64xbf16, row_major 128>
            wg.copy %pb[%k] to %sb signal %r : <64x64xbf16> -> <4x64x64xbf16, row_major 128>
            wg.next %r
          }
        }
      }
      wg.role "multiply" warpgroups 3 registers 160 {
      ^bb0(%consumer: i32):
        %own = arith.constant 64 : i32
        %row = arith.muli %consumer, %own : i32
        %mine = wg.slice %sa[%row] : <4x192x64xbf16, row_major 128> -> <4x64x64xbf16, row_major 128>
        scf.for %t = %id to %tiles step %tiles : i32 {
          %rows = arith.constant 192 : i32
          %m = arith.muli %t, %rows : i32
          %first = arith.addi %m, %row : i32
          %out = wg.result %d[%c0, %first, %c0] via %st staged 128
               : <1x800x64xbf16>, <12x16x64xbf16, row_major 128>
          %z = wg.zero : <64x64>
          %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%c = %z) -> (!wg.acc<64x64>) : i32 {
            wg.await %r
            %e = wg.mma %mine, %sb add %c
               : <4x64x64xbf16, row_major 128>, <4x64x64xbf16, row_major 128> -> <64x64>
            wg.wait 0
            wg.next %r
            wg.release %r
            scf.yield %e : !wg.acc<64x64>
          }
          wg.store %sum to %out epilogue {
          ^bb0(%v: f32):
            %zero = arith.constant 0.0 : f32
            %relu = arith.maximumf %v, %zero : f32
            wg.yield %relu : f32
          } : <64x64>
        }
        wg.flush
      }
    }
    return
  }
}
