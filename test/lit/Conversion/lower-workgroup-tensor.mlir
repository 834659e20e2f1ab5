// RUN: dnn-opt %s --dnn-lower-workgroup | FileCheck %s
// RUN: dnn-opt --start-from workgroup %s --target sm_100 --stop-after isa -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx

// A kernel that is written by hand for a chip that no pass serves yet: a 3x3 convolution and ReLU,
// whose products sm_100 adds up in its tensor memory. One thread copies, one issues the products,
// and a warpgroup stores a tile while the products of the next run.
// test/lit/Tools/run-ptx-workgroup.test runs it, lower-workgroup-tensor-errors.test seeds faults.

// A warp allocates tensor memory before the workgroup's first barrier, behind which all threads
// find it.
// CHECK: gpu.func @conv_fwd_bf16
// CHECK: nvvm.tcgen05.alloc
// CHECK: nvvm.tcgen05.relinquish_alloc_permit
// CHECK: nvvm.barrier
// CHECK: llvm.load

// The thread that multiplies waits for empty sums, and for full operands, which the tensor cores
// release; then they say that the sums are full.
// CHECK: nvvm.setmaxregister decrease 40
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: nvvm.tcgen05.fence <after>
// CHECK-COUNT-4: nvvm.tcgen05.mma {{.*}} kind = #nvvm.tcgen05_mma_kind<f16>
// CHECK-NOT: nvvm.tcgen05.mma
// CHECK: nvvm.tcgen05.commit
// CHECK: nvvm.tcgen05.commit

// Each warp loads 16 of its 32 rows, then the other 16, as wgmma would have left them.
// CHECK: nvvm.setmaxregister increase 200
// Nothing may come between the loads and the wait for them, which are one text.
// CHECK: llvm.inline_asm has_side_effects
// CHECK-SAME: tcgen05.ld.sync.aligned.16x256b.x8.b32 {$0, {{.*}}, $31}, [$64];
// CHECK-SAME: tcgen05.ld.sync.aligned.16x256b.x8.b32 {$32, {{.*}}, $63}, [$65];
// CHECK-SAME: tcgen05.wait::ld.sync.aligned;
// CHECK: nvvm.mbarrier.arrive
// CHECK: arith.maximumf
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
// CHECK: nvvm.tcgen05.dealloc

// PTX: .target sm_100a
// PTX: tcgen05.mma.cta_group::1.kind::f16
module attributes {dnn.target = "sm_100"} {
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
    wg.program workgroups 3 resident 1 {
    ^bb0(%id: i32, %rank: i32):
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tiles = arith.constant 7 : i32
      %stride = arith.constant 3 : i32
      %steps = arith.constant 9 : i32
      %rows = arith.constant 128 : i32
      %sa = wg.alloc : <4x128x64xbf16, row_major 128>
      %sb = wg.alloc : <4x64x64xbf16, row_major 128>
      %st = wg.alloc : <4x16x64xbf16, row_major 128>
      // EXAMPLE: wg.alloc_sums
      %sums = wg.alloc_sums : <2x128x64>
      // EXAMPLE-END
      %r = wg.stages %sa, %sb full 1 empty 1
         : !wg.buffer<4x128x64xbf16, row_major 128>, !wg.buffer<4x64x64xbf16, row_major 128>
      %t = wg.stages %sums full 1 empty 1 : !wg.sums<2x128x64>
      wg.role "copy" thread registers 40 {
      ^bb0(%none: i32):
        scf.for %tile = %id to %tiles step %stride : i32 {
          %m = arith.muli %tile, %rows : i32
          %pa = wg.box %a[%c0, %m] : <1x800x576xbf16> -> <128x64xbf16>
          %pb = wg.box %b[%c0, %c0] : <1x64x576xbf16> -> <64x64xbf16>
          scf.for %k = %c0 to %steps step %c1 : i32 {
            wg.acquire %r expect 24576
            wg.copy %pa[%k] to %sa signal %r : <128x64xbf16> -> <4x128x64xbf16, row_major 128>
            wg.copy %pb[%k] to %sb signal %r : <64x64xbf16> -> <4x64x64xbf16, row_major 128>
            wg.next %r
          }
        }
      }
      wg.role "multiply" thread registers 40 {
      ^bb0(%none: i32):
        scf.for %tile = %id to %tiles step %stride : i32 {
          wg.acquire %t expect 0
          scf.for %k = %c0 to %steps step %c1 : i32 {
            %adds = arith.cmpi ne, %k, %c0 : i32
            wg.await %r
            // EXAMPLE: wg.mma_sums
            wg.mma_sums %sa, %sb to %sums add %adds
               : <4x128x64xbf16, row_major 128>, <4x64x64xbf16, row_major 128> -> <2x128x64>
            // EXAMPLE-END
            wg.leave %r
          }
          wg.next %t
        }
      }
      wg.role "store" warpgroups 1 registers 200 {
      ^bb0(%none: i32):
        scf.for %tile = %id to %tiles step %stride : i32 {
          %m = arith.muli %tile, %rows : i32
          %out = wg.result %d[%c0, %m, %c0] via %st staged 128
               : <1x800x64xbf16>, <4x16x64xbf16, row_major 128>
          wg.await %t
          // EXAMPLE: wg.load_sums
          %sum = wg.load_sums %sums : <2x128x64> -> <128x64>
          // EXAMPLE-END
          wg.leave %t
          wg.store %sum to %out epilogue {
          ^bb0(%v: f32):
            %zero = arith.constant 0.0 : f32
            %relu = arith.maximumf %v, %zero : f32
            wg.yield %relu : f32
          } : <128x64>
        }
        wg.flush
      }
    }
    return
  }
}
