// RUN: split-file %s %t
// RUN: dnn-opt %t/gpu.mlir --dnn-verify-stage=stage=gpu | FileCheck %s
// RUN: dnn-opt %t/dnn.mlir --dnn-verify-stage=stage=dnn | FileCheck %s --check-prefix=DNN

// A module that is at the named stage passes unchanged.
// CHECK: module attributes {dnn.target = "gfx942"}
// CHECK:   gpu.func @kernel
//--- gpu.mlir
module attributes {dnn.target = "gfx942"} {
  gpu.module @kernels {
    gpu.func @kernel(%x: !llvm.ptr<1>) kernel
        attributes {known_block_size = array<i32: 64, 1, 1>,
                    known_grid_size = array<i32: 1, 1, 1>} {
      %0 = arith.constant 1.0 : f32
      llvm.store %0, %x : f32, !llvm.ptr<1>
      gpu.return
    }
  }
}

// Stage dnn has arithmetic only inside an epilogue.
// DNN: epilogue
// DNN:   math.absf
//--- dnn.mlir
func.func @conv(%x: memref<1x8x8x32xf16>, %w: memref<32x1x1x32xf16>,
                %y: memref<1x8x8x32xf16>) attributes {dnn.kernel} {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1 epilogue {
  ^bb0(%sum: f32):
    %one = arith.constant 1.0 : f32
    %absolute = math.absf %sum : f32
    %result = arith.addf %absolute, %one : f32
    dnn.yield %result : f32
  } : memref<1x8x8x32xf16>, memref<32x1x1x32xf16>, memref<1x8x8x32xf16>
  return
}
