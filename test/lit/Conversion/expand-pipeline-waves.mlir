// RUN: dnn-opt %s --dnn-expand-pipeline | FileCheck %s

// A main loop becomes a program that all waves run: two slots of each operand, a loop over
// steps for both, and in each step the copies of those ahead. expand-pipeline-waves.test
// has other main loops.
// CHECK: wg.program workgroups 1 waves [2, 2] {
// CHECK: %[[A:.*]] = wg.alloc : <2x64x32xf16, chunks 32>
// CHECK: %[[B:.*]] = wg.alloc : <2x64x32xf16, chunks 32>
// CHECK: %[[TILE:.*]] = wg.tile %{{.*}} to %[[A]] taps 0
// CHECK: wg.put %{{.*}} to %[[A]][0]
// CHECK: wg.barrier
// CHECK: wg.load %[[A]] at [0, 0]
// CHECK: scf.for
// CHECK: wg.tap %[[TILE]]
// CHECK: scf.for
// CHECK: wg.step pinned {
// CHECK: wg.load %[[A]] at [0, 16]
// CHECK: wg.put %{{.*}} to %[[A]][1]
// CHECK: wg.fetch
// CHECK-COUNT-2: wg.mma
// CHECK: wg.barrier
// CHECK: wg.load %[[A]] at [1, 0]
// CHECK: wg.step pinned {
// CHECK: wg.put %{{.*}} to %[[A]][0]
// CHECK: wg.result %{{.*}} atomic : <1x64x64xf32>
module attributes {dnn.target = "gfx942"} {
  // EXAMPLE: dnn-expand-pipeline
  func.func @add(%x: memref<64x64xf16>, %w: memref<64x64xf16>, %y: memref<64x64xf32>) attributes {dnn.kernel} {
    %a = dnn.view %x <[1], [64], [64] : (g, m, k) -> (m, k)> : memref<64x64xf16> -> <1x64x64xf16>
    %b = dnn.view %w <[1], [64], [64] : (g, n, k) -> (n, k)> : memref<64x64xf16> -> <1x64x64xf16>
    %d = dnn.view %y <[1], [64], [64] : (g, m, n) -> (m, n)> : memref<64x64xf32> -> <1x64x64xf32>
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
      dnn.tile_store %acc, %d[%g, %m, %n] atomic : <64x64xf32>, <1x64x64xf32>
    }
    return
  }
  // EXAMPLE-AFTER: wg.program
  // EXAMPLE-AFTER: wg.alloc
  // EXAMPLE-AFTER: wg.alloc
  // EXAMPLE-AFTER: wg.tile
  // EXAMPLE-AFTER: wg.zero
  // EXAMPLE-AFTER: wg.tap
  // EXAMPLE-AFTER: wg.fetch
  // EXAMPLE-AFTER: wg.put
  // EXAMPLE-AFTER: wg.fetch
  // EXAMPLE-AFTER: wg.barrier
  // EXAMPLE-AFTER: wg.load
  // EXAMPLE-AFTER: scf.for
  // EXAMPLE-AFTER: scf.for
  // EXAMPLE-AFTER: wg.step
  // EXAMPLE-AFTER: wg.load
  // EXAMPLE-AFTER: wg.put
  // EXAMPLE-AFTER: wg.fetch
  // EXAMPLE-AFTER: wg.mma
  // EXAMPLE-AFTER: wg.mma
  // EXAMPLE-AFTER: wg.barrier
  // EXAMPLE-AFTER: wg.load
  // EXAMPLE-AFTER: wg.yield
  // EXAMPLE-AFTER: wg.store
  // EXAMPLE-END
}
