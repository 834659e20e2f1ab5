// RUN: dnn-opt %s --dnn-apply-tile="target=gfx942 tile=rowwise-v4t16r4" | FileCheck %s
// RUN: dnn-opt %s --dnn-apply-tile="target=gfx942 tile=rowsplit-v4t16r4p32" | FileCheck %s --check-prefix=SPLIT

// 16 threads share each of a workgroup's four rows. A row of 256 elements is four
// blocks for each thread, which stay in registers for the map. The threads of a row
// exchange their partial results in shared memory once, and each combines all of
// them.
// CHECK-LABEL: func.func @center
// CHECK:         dnn.for_each_point [2, 4, 16] threads 64
// CHECK-COUNT-4: dnn.point_load %{{.*}} : memref<8x256xf32> -> vector<4xf32>
// CHECK-NOT:     dnn.point_load
// CHECK:         memref.alloca() : memref<4x16xf32, #gpu.address_space<workgroup>>
// CHECK:         memref.store
// CHECK-COUNT-1: gpu.barrier
// CHECK-NOT:     gpu.barrier
// CHECK-COUNT-4: dnn.point_store %{{.*}} : vector<4xf32>, memref<8x256xf32>

// Two launches reduce through the workspace, which has 32 partial results and the
// result of each of eight rows; a third launch maps the elements.
// SPLIT-LABEL: func.func @center(
// SPLIT-SAME:    memref<33x8xi32> {dnn.arg = "workspace", dnn.bytes = 1056 : i64}
// SPLIT:         dnn.for_each_point [2, 32, 4, 16] threads 64
// SPLIT-LABEL: func.func @center_results0(
// SPLIT:         dnn.for_each_point [8, 32] threads 32
// SPLIT-LABEL: func.func @center_map(
// SPLIT:         dnn.for_each_point [8, 64] threads 256
func.func @center(%x: memref<8x256xf32>, %y: memref<8x256xf32>) attributes {dnn.kernel} {
  dnn.row_wise [8, 256] reduced [1] ins(%x : memref<8x256xf32>) outs(%y : memref<8x256xf32>)
    reduce sum {
    ^bb0(%e: f32):
      dnn.yield %e : f32
    }
    map {
    ^bb0(%e: f32, %sum: f32):
      %r = arith.subf %e, %sum : f32
      dnn.yield %r : f32
    }
  return
}
