// RUN: dnn-opt %s -split-input-file --dnn-expand-pipeline --dnn-lower-workgroup | FileCheck %s

// The epilogue region runs on a whole accumulator at once, before rounding.
// CHECK-LABEL: gpu.func @relu
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK: %[[RELU:.*]] = arith.maximumf %{{.*}}, %[[ZERO]] : vector<16xf32>
// CHECK: arith.truncf %[[RELU]] : vector<16xf32> to vector<16xf16>
module attributes {dnn.target = "gfx942"} {
  func.func @relu(%x: memref<64x64xf16>, %w: memref<64x64xf16>, %y: memref<64x64xf16>) attributes {dnn.kernel} {
    %a = dnn.view %x <[1], [64], [64] : (g, m, k) -> (m, k)> : memref<64x64xf16> -> <1x64x64xf16>
    %b = dnn.view %w <[1], [64], [64] : (g, n, k) -> (n, k)> : memref<64x64xf16> -> <1x64x64xf16>
    %d = dnn.view %y <[1], [64], [64] : (g, m, n) -> (m, n)> : memref<64x64xf16> -> <1x64x64xf16>
    dnn.for_each_tile [1, 1, 1] of [64, 64] {
    ^bb0(%g: index, %m: index, %n: index):
      %acc = dnn.pipeline reduce [64] step 32 buffers 2 copy registers
          sync barrier schedule pinned load {
      ^bb0(%k: index):
        %at = dnn.tile_load %a[%g, %m, %k] : <1x64x64xf16> -> <64x32xf16>
        %bt = dnn.tile_load %b[%g, %n, %k] : <1x64x64xf16> -> <64x32xf16>
        dnn.yield %at, %bt : !dnn.tile<64x32xf16>, !dnn.tile<64x32xf16>
      } compute {
      ^bb0(%at: !dnn.tile<64x32xf16>, %bt: !dnn.tile<64x32xf16>, %in: !dnn.tile<64x64xf32>):
        %out = dnn.tile_mma %at, %bt, %in using "mfma32" waves [2, 2] lanes n
             : <64x32xf16>, <64x32xf16>, <64x64xf32>
        dnn.yield %out : !dnn.tile<64x64xf32>
      } : <64x64xf32>
      dnn.tile_store %acc, %d[%g, %m, %n] epilogue {
      ^bb0(%v: f32):
        %zero = arith.constant 0.0 : f32
        %relu = arith.maximumf %v, %zero : f32
        dnn.yield %relu : f32
      } : <64x64xf32>, <1x64x64xf16>
    }
    return
  }
}

// -----

// A bias is one load for the four channels of a lane, shared by its rows. A residual
// is loaded for each element, and scalars are doubles. In the region everything is
// f32 and computed on a whole accumulator at once.
// CHECK-LABEL: gpu.func @bias_residual
// CHECK-SAME: %{{[^ ]+}}: f64 {dnn.arg = "alpha"}
// CHECK: %[[ALPHA:.*]] = arith.truncf %{{.*}} : f64 to f32
// CHECK: %[[ALPHAS:.*]] = vector.broadcast %[[ALPHA]] : f32 to vector<16xf32>
// CHECK-COUNT-4: rocdl.raw.ptr.buffer.load {{.*}} : vector<4xi32>
// CHECK: %[[BIAS:.*]] = vector.from_elements
// CHECK-COUNT-4: rocdl.raw.ptr.buffer.load {{.*}} : vector<2xi32>
// CHECK: %[[RESIDUAL:.*]] = vector.from_elements
// CHECK: %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[ALPHAS]] : vector<16xf32>
// CHECK: %[[BIASED:.*]] = arith.addf %[[SCALED]], %[[BIAS]] : vector<16xf32>
// CHECK: arith.addf %[[BIASED]], %[[RESIDUAL]] : vector<16xf32>
// CHECK-NOT: rocdl.raw.ptr.buffer.load {{.*}} : vector<4xi32>
// CHECK: gpu.return
module attributes {dnn.target = "gfx942"} {
  func.func @bias_residual(%x: memref<128x64xf16>, %w: memref<64x64xf16>, %y: memref<128x64xf16>, %bias: memref<64xf32>, %res: memref<128x64xf16>, %alpha: f64 {dnn.arg = "alpha"}) attributes {dnn.kernel} {
    %a = dnn.view %x <[1], [128], [64] : (g, m, k) -> (m, k)> : memref<128x64xf16> -> <1x128x64xf16>
    %b = dnn.view %w <[1], [64], [64] : (g, n, k) -> (n, k)> : memref<64x64xf16> -> <1x64x64xf16>
    %d = dnn.view %y <[1], [128], [64] : (g, m, n) -> (m, n)> : memref<128x64xf16> -> <1x128x64xf16>
    %e = dnn.view %bias <[1], [128], [64] : (g, m, n) -> (n)> : memref<64xf32> -> <1x128x64xf32>
    %f = dnn.view %res <[1], [128], [64] : (g, m, n) -> (m, n)> : memref<128x64xf16> -> <1x128x64xf16>
    dnn.for_each_tile [1, 1, 1] of [128, 64] {
    ^bb0(%g: index, %m: index, %n: index):
      %acc = dnn.pipeline reduce [64] step 32 buffers 2 copy registers
          sync barrier schedule pinned load {
      ^bb0(%k: index):
        %at = dnn.tile_load %a[%g, %m, %k] : <1x128x64xf16> -> <128x32xf16>
        %bt = dnn.tile_load %b[%g, %n, %k] : <1x64x64xf16> -> <64x32xf16>
        dnn.yield %at, %bt : !dnn.tile<128x32xf16>, !dnn.tile<64x32xf16>
      } compute {
      ^bb0(%at: !dnn.tile<128x32xf16>, %bt: !dnn.tile<64x32xf16>, %in: !dnn.tile<128x64xf32>):
        %out = dnn.tile_mma %at, %bt, %in using "mfma32" waves [2, 2] lanes n
             : <128x32xf16>, <64x32xf16>, <128x64xf32>
        dnn.yield %out : !dnn.tile<128x64xf32>
      } : <128x64xf32>
      dnn.tile_store %acc, %d[%g, %m, %n] ins(%e, %f : !dnn.view<1x128x64xf32>, !dnn.view<1x128x64xf16>) epilogue {
      ^bb0(%v: f32, %bi: f32, %re: f32):
        %al = arith.truncf %alpha : f64 to f32
        %s = arith.mulf %v, %al : f32
        %t = arith.addf %s, %bi : f32
        %u = arith.addf %t, %re : f32
        dnn.yield %u : f32
      } : <128x64xf32>, <1x128x64xf16>
    }
    return
  }
}

// -----

// Sums of f64 have an epilogue of f64: scalars are not truncated, a bias of f32 is
// widened, and what is loaded as two words is one element.
// CHECK-LABEL: gpu.func @doubles
// CHECK-SAME: %[[GIVEN:[^ ]+]]: f64 {dnn.arg = "alpha"}
// CHECK-NOT: arith.truncf
// CHECK: %[[ALPHAS:.*]] = vector.broadcast %[[GIVEN]] : f64 to vector<4xf64>
// CHECK: arith.extf %{{.*}} : f32 to f64
// CHECK: %[[BIAS:.*]] = vector.from_elements {{.*}} : vector<4xf64>
// CHECK: %[[WORDS:.*]] = rocdl.raw.ptr.buffer.load {{.*}} : vector<2xi32>
// CHECK: vector.bitcast %[[WORDS]] : vector<2xi32> to vector<1xf64>
// CHECK: %[[RESIDUAL:.*]] = vector.from_elements {{.*}} : vector<4xf64>
// CHECK: %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[ALPHAS]] : vector<4xf64>
// CHECK: %[[BIASED:.*]] = arith.addf %[[SCALED]], %[[BIAS]] : vector<4xf64>
// CHECK: arith.addf %[[BIASED]], %[[RESIDUAL]] : vector<4xf64>
// CHECK: gpu.return
module attributes {dnn.target = "gfx942"} {
  func.func @doubles(%x: memref<64x64xf64>, %w: memref<64x64xf64>, %y: memref<64x64xf64>, %bias: memref<64xf32>, %res: memref<64x64xf64>, %alpha: f64 {dnn.arg = "alpha"}) attributes {dnn.kernel} {
    %a = dnn.view %x <[1], [64], [64] : (g, m, k) -> (m, k)> : memref<64x64xf64> -> <1x64x64xf64>
    %b = dnn.view %w <[1], [64], [64] : (g, n, k) -> (n, k)> : memref<64x64xf64> -> <1x64x64xf64>
    %d = dnn.view %y <[1], [64], [64] : (g, m, n) -> (m, n)> : memref<64x64xf64> -> <1x64x64xf64>
    %e = dnn.view %bias <[1], [64], [64] : (g, m, n) -> (n)> : memref<64xf32> -> <1x64x64xf32>
    %f = dnn.view %res <[1], [64], [64] : (g, m, n) -> (m, n)> : memref<64x64xf64> -> <1x64x64xf64>
    dnn.for_each_tile [1, 1, 1] of [64, 64] {
    ^bb0(%g: index, %m: index, %n: index):
      %acc = dnn.pipeline reduce [64] step 8 buffers 2 copy registers
          sync barrier schedule pinned load {
      ^bb0(%k: index):
        %at = dnn.tile_load %a[%g, %m, %k] : <1x64x64xf64> -> <64x8xf64>
        %bt = dnn.tile_load %b[%g, %n, %k] : <1x64x64xf64> -> <64x8xf64>
        dnn.yield %at, %bt : !dnn.tile<64x8xf64>, !dnn.tile<64x8xf64>
      } compute {
      ^bb0(%at: !dnn.tile<64x8xf64>, %bt: !dnn.tile<64x8xf64>, %in: !dnn.tile<64x64xf64>):
        %out = dnn.tile_mma %at, %bt, %in using "mfma16" waves [2, 2] lanes n
             : <64x8xf64>, <64x8xf64>, <64x64xf64>
        dnn.yield %out : !dnn.tile<64x64xf64>
      } : <64x64xf64>
      dnn.tile_store %acc, %d[%g, %m, %n] ins(%e, %f : !dnn.view<1x64x64xf32>, !dnn.view<1x64x64xf64>) epilogue {
      ^bb0(%v: f64, %bi: f64, %re: f64):
        %s = arith.mulf %v, %alpha : f64
        %t = arith.addf %s, %bi : f64
        %u = arith.addf %t, %re : f64
        dnn.yield %u : f64
      } : <64x64xf64>, <1x64x64xf64>
    }
    return
  }
}
