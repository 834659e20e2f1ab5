// RUN: dnn-opt %s --dnn-apply-tile="target=sm_80 tile=igemm-m64n64k32-w1x2-b2-mma16" --dnn-expand-pipeline --dnn-lower-workgroup | FileCheck %s
// RUN: dnn-opt %s --dnn-apply-tile="target=sm_80 tile=igemm-m64n64k32-w1x2-d4-mma16" --dnn-expand-pipeline --dnn-lower-workgroup | FileCheck %s --check-prefix=DIRECT
// RUN: dnn-opt --problem "convint8 -n 8 -c 256 -H 14 -W 14 -k 64 -I NHWC -O NHWC -f NHWC -F 1" --target sm_80 --tile igemm-m64n64k64-w1x2-b2-mma16 --stop-after gpu | FileCheck %s --check-prefix=BYTES

// RUN: dnn-opt --problem "conv -n 8 -c 64 -H 14 -W 14 -k 64 --math tf32 -F 1" --target sm_80 --tile igemm-m64n64k16-w1x2-b2-mma16_tf32 --stop-after gpu | FileCheck %s --check-prefix=TF32
// RUN: not dnn-opt --problem "conv -n 8 -c 64 -H 14 -W 14 -k 64 -F 1" --target sm_80 --tile igemm-m64n64k16-w1x2-b2-mma16_tf32 --stop-after gpu 2>&1 | FileCheck %s --check-prefix=EXACT
// RUN: not dnn-opt --problem "conv -n 8 -c 3 -H 64 -W 64 -k 64 -F 1" --target sm_80 --tile stem-h8w16n32-w4x1-mma16_tf32 --stop-after gpu 2>&1 | FileCheck %s --check-prefix=EXACT

// The main loop by mma.sync: a warp of 64 x 32 reads matrices of 8 rows by 16
// bytes, four at a time, and multiplies 4 x 4 instructions for each 16 of the
// reduction.

// CHECK-LABEL: gpu.func @conv
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>

// The loop over channels, of two steps.
// CHECK: scf.for
// CHECK: scf.for
// CHECK: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>}
// CHECK-COUNT-64: nvvm.mma.sync {{.*}}m = 16, n = 8, k = 16{{.*}}(vector<2xf16>, vector<2xf16>, f32)
// CHECK: scf.yield

// Each lane stores eight neighbouring channels of a pixel.
// CHECK: llvm.inline_asm {{.*}}st.global.v4.b32

// The same with direct copies to four buffers. Each step is a group of copies, of
// which two may be in flight when the next step is multiplied. Where a lane is out
// of range, nothing is read and zeros are written.
// DIRECT-LABEL: gpu.func @conv
// DIRECT-COUNT-4: nvvm.cp.async.commit.group
// DIRECT: nvvm.cp.async.wait.group 3
// DIRECT: nvvm.barrier
// DIRECT: scf.for
// DIRECT: scf.for
// DIRECT: nvvm.mma.sync
// DIRECT: nvvm.cp.async.wait.group 2
// DIRECT: nvvm.barrier
// DIRECT: %[[SIZE:.*]] = arith.select %{{.*}}, %c16_i32, %c0_i32
// DIRECT: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %[[SIZE]]
// DIRECT: nvvm.cp.async.commit.group
// DIRECT-NOT: vector.store

// i8 is multiplied 32 at a time, and accumulators wrap around as on other chips.
// BYTES: gpu.func @conv_fwd_i8
// BYTES: nvvm.mma.sync {{.*}}intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>{{.*}}k = 32{{.*}}(i32, i32, i32)
// BYTES-NOT: idp4a

// Where the convolution allows it, f32 is rounded to tf32 and multiplied 8 at a
// time.
// TF32: gpu.func @conv_fwd_tf32
// TF32: scf.for
// TF32: nvvm.ldmatrix
// TF32: llvm.call_intrinsic "llvm.nvvm.f2tf32.rna"
// TF32: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<tf32>{{.*}}k = 8{{.*}}(i32, i32, f32)
// EXACT: does not allow tf32, which tile '{{.*}}-mma16_tf32' computes in
func.func @conv(%x: memref<64x14x14x256xf16>, %w: memref<256x3x3x256xf16>, %y: memref<64x14x14x256xf16>) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [1, 1] strides [1, 1] dilations [1, 1] groups 1
      : memref<64x14x14x256xf16>, memref<256x3x3x256xf16>, memref<64x14x14x256xf16>
  return
}
