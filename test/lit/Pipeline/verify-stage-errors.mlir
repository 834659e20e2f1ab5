// RUN: split-file %s %t
// RUN: not dnn-opt %t/conv.mlir --dnn-verify-stage=stage=tiled 2>&1 | FileCheck %s --check-prefix=CONV
// RUN: not dnn-opt %t/conv.mlir --dnn-verify-stage=stage=gpu 2>&1 | FileCheck %s --check-prefix=FUNC
// RUN: not dnn-opt %t/dialect.mlir --dnn-verify-stage=stage=dnn 2>&1 | FileCheck %s --check-prefix=DIALECT
// RUN: not dnn-opt %t/epilogue.mlir --dnn-verify-stage=stage=dnn 2>&1 | FileCheck %s --check-prefix=EPILOGUE
// RUN: not dnn-opt %t/target.mlir --dnn-verify-stage=stage=tiled 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not dnn-opt %t/launch.mlir --dnn-verify-stage=stage=gpu 2>&1 | FileCheck %s --check-prefix=LAUNCH
// RUN: not dnn-opt %t/launch.mlir --dnn-verify-stage=stage=llvm 2>&1 | FileCheck %s --check-prefix=STAGE
// RUN: not dnn-opt %t/unused.mlir --dnn-verify-stage=stage=gpu 2>&1 | FileCheck %s --check-prefix=UNUSED

// A convolution that was not tiled belongs neither to stage tiled nor to stage gpu.
// CONV: error: 'dnn.conv' op does not belong to stage tiled
// FUNC: error: 'dnn.conv' op does not belong to stage gpu
//--- conv.mlir
module attributes {dnn.target = "gfx942"} {
  func.func @conv(%x: memref<1x8x8x32xf16>, %w: memref<32x1x1x32xf16>,
                  %y: memref<1x8x8x32xf16>) {
    dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
        pads [0, 0] strides [1, 1] dilations [1, 1] groups 1
        : memref<1x8x8x32xf16>, memref<32x1x1x32xf16>, memref<1x8x8x32xf16>
    return
  }
}

// The stage does not have this dialect.
// DIALECT: error: 'arith.constant' op does not belong to stage dnn
//--- dialect.mlir
module {
  func.func @f() {
    %0 = arith.constant 1 : i32
    return
  }
}

// An epilogue has control flow, whose innermost operation is visited first.
// EPILOGUE: error: 'scf.yield' op does not belong to stage dnn
//--- epilogue.mlir
func.func @conv(%x: memref<1x8x8x32xf16>, %w: memref<32x1x1x32xf16>,
                %y: memref<1x8x8x32xf16>, %c: i1) {
  dnn.conv forward x(%x) w(%w) y(%y) layouts(nhwc, nhwc, nhwc)
      pads [0, 0] strides [1, 1] dilations [1, 1] groups 1 epilogue {
  ^bb0(%sum: f32):
    %result = scf.if %c -> f32 {
      scf.yield %sum : f32
    } else {
      scf.yield %sum : f32
    }
    dnn.yield %result : f32
  } : memref<1x8x8x32xf16>, memref<32x1x1x32xf16>, memref<1x8x8x32xf16>
  return
}

// A tiled module does not name its chip.
// TARGET: error: stage tiled needs the string attribute 'dnn.target' on the module
//--- target.mlir
module {}

// A kernel lacks what its launch needs.
// LAUNCH: error: 'gpu.func' op needs known_block_size and known_grid_size to be launched
// STAGE: error: dnn-verify-stage: 'stage' must be dnn, tiled, workgroup or gpu, not 'llvm'
//--- launch.mlir
module attributes {dnn.target = "gfx942"} {
  gpu.module @kernels {
    gpu.func @kernel() kernel
        attributes {known_block_size = array<i32: 64, 1, 1>} {
      gpu.return
    }
  }
}

// A kernel that is said to be simplified has an op that nothing uses.
// UNUSED: error: 'arith.addi' op is unused, but its kernel has the attribute 'dnn.simplified'
//--- unused.mlir
module attributes {dnn.target = "gfx942"} {
  gpu.module @kernels {
    gpu.func @kernel(%n: i32) kernel
        attributes {dnn.simplified, known_block_size = array<i32: 64, 1, 1>,
                    known_grid_size = array<i32: 1, 1, 1>} {
      %0 = arith.addi %n, %n : i32
      gpu.return
    }
  }
}
