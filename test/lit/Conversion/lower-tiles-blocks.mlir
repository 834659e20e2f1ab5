// RUN: dnn-opt %s --dnn-expand-pipeline --dnn-lower-workgroup | FileCheck %s
// RUN: dnn-opt --start-from tiled %s --target gfx942 --stop-after isa \
// RUN:   | FileCheck %s --check-prefix=ISA

// Backward data of a strided 3x3 convolution, NHWC: (rho_h, rho_w) is part of the
// group coordinate of a tile of dx, so that a tap has the same coordinates in the
// filter for the whole workgroup. The filter is contiguous along its rows (input
// channels), not along its reduction (output channels).

// CHECK-LABEL: gpu.func @backward_data
// CHECK-SAME: %{{.*}}: !llvm.ptr<1> {dnn.arg = "x", llvm.noalias}

// A tap that does not exist for the workgroup has no steps.
// CHECK: scf.for %[[TAP:[^ ]+]] = %c0_i32 to %c5_i32
// CHECK: %[[COUNT:.*]] = arith.select %{{.*}}, %{{.*}}, %c0_i32
// CHECK: arith.select %{{.*}}, %[[COUNT]], %c128_i32

// Four elements of the reduction, of four rows each, become half chunks of four
// rows.
// CHECK: scf.for
// CHECK: %[[LOW:.*]] = vector.shuffle %{{.*}}, %{{.*}} [0, 4] : vector<4xf16>, vector<4xf16>
// CHECK: %[[HIGH:.*]] = vector.shuffle %{{.*}}, %{{.*}} [0, 4] : vector<4xf16>, vector<4xf16>
// CHECK: vector.shuffle %[[LOW]], %[[HIGH]] [0, 1, 2, 3]
// CHECK: vector.store {{.*}} vector<4xf16>
// CHECK: rocdl.raw.ptr.buffer.load {{.*}} : vector<2xi32>

// dx has an odd height and width, and pixels past them are not written.
// CHECK: arith.cmpi ult, %{{.*}}, %c15_i32
// CHECK: rocdl.raw.ptr.buffer.store

// The transpose needs one permute for each register of its result.
// ISA: v_mfma_f32_32x32x8
// ISA: v_perm_b32
// ISA: ds_write_b64
module attributes {dnn.target = "gfx942"} {
  func.func @backward_data(%x: memref<2x15x15x64xf16> {dnn.arg = "x"},
                           %w: memref<64x3x3x64xf16> {dnn.arg = "w"},
                           %y: memref<2x8x8x64xf16> {dnn.arg = "y"})
      attributes {dnn.kernel} {
    // h = 2 i + rho - 1 with rho in [1, 3), so r = rho + 2 t with t in [-1, 1).
    %a = dnn.view %y <[2, 2], [2, 8, 8], [2, 2, 64] :
           (rh, rw, n, i, j, t, u, k) -> (n, i + t, j + u, k)>
       : memref<2x8x8x64xf16> -> <4x128x256xf16>
    %b = dnn.view %w <[2, 2], [64], [2, 2, 64] :
           (rh, rw, c, t, u, k) -> (k, rh - t * 2 + 1, rw - u * 2 + 1, c)>
       : memref<64x3x3x64xf16> -> <4x64x256xf16>
    %d = dnn.view %x <[2, 2], [2, 8, 8], [64] :
           (rh, rw, n, i, j, c) -> (n, i * 2 + rh, j * 2 + rw, c)>
       : memref<2x15x15x64xf16> -> <4x128x64xf16>
    dnn.for_each_tile [4, 2, 1] of [64, 64] {
    ^bb0(%g: index, %m: index, %n: index):
      %acc = dnn.pipeline reduce [2, 2, 64] step 32 buffers 2 copy registers
          sync barrier schedule pinned load {
      ^bb0(%k: index):
        %at = dnn.tile_load %a[%g, %m, %k] : <4x128x256xf16> -> <64x32xf16>
        %bt = dnn.tile_load %b[%g, %n, %k] : <4x64x256xf16> -> <64x32xf16>
        dnn.yield %at, %bt : !dnn.tile<64x32xf16>, !dnn.tile<64x32xf16>
      } compute {
      ^bb0(%at: !dnn.tile<64x32xf16>, %bt: !dnn.tile<64x32xf16>, %in: !dnn.tile<64x64xf32>):
        %out = dnn.tile_mma %at, %bt, %in using "mfma32" waves [2, 1] lanes n
             : <64x32xf16>, <64x32xf16>, <64x64xf32>
        dnn.yield %out : !dnn.tile<64x64xf32>
      } : <64x64xf32>
      dnn.tile_store %acc, %d[%g, %m, %n] : <64x64xf32>, <4x128x64xf16>
    }
    return
  }
}
