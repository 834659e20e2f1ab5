// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=rowwise-v8t64" 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=rowwise-v3t64r1" 2>&1 | FileCheck %s --check-prefix=POWER
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=rowwise-v4t1024r2" 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=rowwise-v8t64r1" 2>&1 | FileCheck %s --check-prefix=BLOCK
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=rowwise-v4t64r1n2m1" 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=map-v4" 2>&1 | FileCheck %s --check-prefix=MAP
// RUN: not dnn-opt %s --dnn-apply-tile="target=gfx942 tile=pool-c1h1w1" 2>&1 | FileCheck %s --check-prefix=POOL
// RUN: sed '/^ *row {/,/}/d; s/reduce sum/map/; s/rowouts/outs/; s/memref<4x1xf32>/memref<4x12xf32>/g' %s | not dnn-opt --dnn-apply-tile="target=gfx942 tile=rowsplit-v4t64r1p32" 2>&1 | FileCheck %s --check-prefix=SPLIT

// These texts are no tiles of row-wise operations.

// TEXT: error: 'dnn.row_wise' op 'rowwise-v8t64' is not a tile for rows, which looks like 'rowwise-v8t64r4'
// POWER: error: 'dnn.row_wise' op tile 'rowwise-v3t64r1' has a number that is no power of two
// LARGE: error: 'dnn.row_wise' op tile 'rowwise-v4t1024r2' is too large for a workgroup
// BLOCK: error: 'dnn.row_wise' op has 12 elements side by side, which tile 'rowwise-v8t64r1' does not divide into blocks of 8
// SHARED: error: 'dnn.row_wise' op has no blocks of 2 rows that share what they load, which tile 'rowwise-v4t64r1n2m1' has
// MAP: error: 'dnn.row_wise' op has rows of 12 elements, but tile 'map-v4' reduces nothing
// POOL: error: 'dnn.row_wise' op is no pooling, but tile 'pool-c1h1w1' is for one
// SPLIT: error: 'dnn.row_wise' op reduces nothing, but tile 'rowsplit-v4t64r1p32' splits reductions
func.func @rows(%x: memref<4x12xf32>, %s: memref<4x1xf32>) attributes {dnn.kernel} {
  dnn.row_wise [4, 12] reduced [1] ins(%x : memref<4x12xf32>) rowouts(%s : memref<4x1xf32>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    row {
    ^bb0(%sum: f32):
      dnn.yield %sum : f32
    }
  return
}
