// RUN: dnn-opt %s --dnn-lower-workgroup | FileCheck %s

// A kernel that is written by hand, of f32 in terms of bf16: three warps split the filter of each
// stage where it lies, the consumers pixels in registers. They add to the same accumulators in all
// steps, and issue products when they have split, in no order.
// test/lit/Tools/run-ptx-workgroup.test runs it; lower-workgroup-errors.test seeds faults.

// Stages have three barriers: of the bytes that come, the warps that split, the consumers.
// CHECK: gpu.func @conv_fwd_f32{{[a-z0-9_]*}}
// CHECK-COUNT-2: nvvm.mbarrier.init %{{.*}}, %c1_i32
// CHECK: nvvm.setmaxregister decrease 88
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: arith.cmpi uge, %{{.*}}, %c1_i32
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.bar.warp.sync
// CHECK: nvvm.fence.proxy
// CHECK: nvvm.mbarrier.arrive
// CHECK: nvvm.setmaxregister increase 208
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: llvm.load {{.*}} -> vector<2xf32>
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK-NOT: nvvm.barrier id
// CHECK: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
module attributes {dnn.target = "sm_90"} {
  func.func @conv_fwd_f32_nhwc_nhwc_nhwc_n2c64h10w10_k64y3x3_p1x1_s1x1_d1x1_g1(%x: memref<2x10x10x64xf32> {dnn.arg = "x"},
                  %w: memref<64x3x3x64xf32> {dnn.arg = "w"},
                  %y: memref<2x10x10x64xf32> {dnn.arg = "y"})
      attributes {dnn.kernel} {
    %a = dnn.view %x <[1], [2, 10, 10], [3, 3, 64] :
           (g, n, p, q, r, s, c) -> (n, p + r - 1, q + s - 1, g * 64 + c)>
       : memref<2x10x10x64xf32> -> <1x200x576xf32>
    %b = dnn.view %w <[1], [64], [3, 3, 64] :
           (g, k, r, s, c) -> (g * 64 + k, r, s, c)>
       : memref<64x3x3x64xf32> -> <1x64x576xf32>
    %d = dnn.view %y <[1], [2, 10, 10], [64] :
           (g, n, p, q, k) -> (n, p, q, g * 64 + k)>
       : memref<2x10x10x64xf32> -> <1x200x64xf32>
    wg.program workgroups 2 resident 1 {
    ^bb0(%id: i32, %rank: i32):
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %steps = arith.constant 18 : i32
      %rows = arith.constant 128 : i32
      %sa = wg.alloc : <4x128x32xf32, row_major 128>
      %sb = wg.alloc : <4x64x32xf32, row_major 128, split>
      %st = wg.alloc : <8x16x32xf32, row_major 128>
      %r = wg.stages %sa, %sb full 1 ready 3 empty 2
         : !wg.buffer<4x128x32xf32, row_major 128>, !wg.buffer<4x64x32xf32, row_major 128, split>
      wg.role "copy" thread registers 88 {
      ^bb0(%none: i32):
        %m = arith.muli %id, %rows : i32
        %pa = wg.box %a[%c0, %m] : <1x200x576xf32> -> <128x32xf32>
        %pb = wg.box %b[%c0, %c0] : <1x64x576xf32> -> <64x32xf32>
        scf.for %k = %c0 to %steps step %c1 : i32 {
          wg.acquire %r expect 24576
          wg.copy %pa[%k] to %sa signal %r : <128x32xf32> -> <4x128x32xf32, row_major 128>
          wg.copy %pb[%k] to %sb signal %r : <64x32xf32> -> <4x64x32xf32, row_major 128, split>
          wg.next %r
        }
      }
      wg.role "split" warps 3 registers 88 {
      ^bb0(%warp: i32):
        scf.for %k = %c0 to %steps step %c1 : i32 {
          wg.await %r
          wg.prepare %sb : <4x64x32xf32, row_major 128, split>
          wg.arrive %r
          wg.next %r
        }
      }
      wg.role "multiply" warpgroups 2 registers 208 {
      ^bb0(%consumer: i32):
        %own = arith.constant 64 : i32
        %row = arith.muli %consumer, %own : i32
        %mine = wg.slice %sa[%row] : <4x128x32xf32, row_major 128> -> <4x64x32xf32, row_major 128>
        %m = arith.muli %id, %rows : i32
        %first = arith.addi %m, %row : i32
        %out = wg.result %d[%c0, %first, %c0] via %st staged 128
             : <1x200x64xf32>, <8x16x32xf32, row_major 128>
        %z = wg.zero : <64x64>
        %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%c = %z) -> (!wg.acc<64x64>) : i32 {
          wg.await %r
          %fa = wg.load %mine : <4x64x32xf32, row_major 128> -> <64x32xf32, split>
          wg.await %r ready
          %s = wg.mma %fa, %sb add %c
             : !wg.fragment<64x32xf32, split>, <4x64x32xf32, row_major 128, split> -> <64x64>
          wg.wait 0
          wg.leave %r
          scf.yield %s : !wg.acc<64x64>
        }
        wg.store %sum to %out : <64x64>
        wg.flush
      }
    }
    return
  }
}
