// RUN: dnn-opt %S/../Dialect/tiled-sm90.mlir --dnn-expand-pipeline --dnn-lower-workgroup | FileCheck %s
// RUN: dnn-opt --problem "convbfp16 -n 2 -c 72 -H 9 -W 9 -k 40 -y 3 -x 3 -p 1 -q 1 -u 2 -v 2 -I NHWC -f NHWC -O NHWC" \
// RUN:   --target sm_90 --tile igemm-m192n64k64-w3x1-t4-wgmma --stop-after gpu | FileCheck %s --check-prefix=SHARED

// The layer of design 0001, in ping-pong: a persistent workgroup of three
// warpgroups. The images are an im2col map whose corners are the padding, the
// filter is a box of its own dimensions, and the result is a matrix.
// CHECK: llvm.mlir.global external @dynamic_shared() {addr_space = 3
// CHECK: gpu.func @conv3x3(%[[A:.*]]: !llvm.ptr, %[[B:.*]]: !llvm.ptr, %[[D:.*]]: !llvm.ptr)
// CHECK-SAME: dnn.tensor_maps = ["x:bf16:im2col:256,14,14,64:512,7168,100352:64,128:1,1,1,1:-1,-1:-1,-1",
// CHECK-SAME: "w:bf16:tiled:256,3,3,256:512,1536,4608:64,1,1,128:1,1,1,1",
// CHECK-SAME: "y:bf16:tiled:256,12544:512:64,16:1,1"]
// CHECK-SAME: known_block_size = array<i32: 384, 1, 1>, known_grid_size = array<i32: 132, 1, 1>

// The producer waits for an empty stage, announces its bytes, and copies both
// tiles.
// CHECK: nvvm.setmaxregister decrease 40
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}}, %[[A]], {{.*}} im2col
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}}, %[[B]], {{.*}} box

// A consumer waits until the other one has issued its products. Its first step
// overwrites the accumulators, the others add to them. It releases a stage once
// the products of the next stage have been issued.
// CHECK: nvvm.setmaxregister increase 232
// CHECK: nvvm.barrier id
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: nvvm.wgmma.mma_async {{.*}} D[<f32>, <zero>]
// CHECK: scf.for
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.wgmma.mma_async {{.*}} D[<f32>, <one>]
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: nvvm.mbarrier.arrive
// CHECK: nvvm.barrier.arrive
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0

// The epilogue is applied to the accumulators before they are rounded and staged.
// CHECK: arith.maximumf
// CHECK: arith.truncf {{.*}} vector<2xf32> to vector<2xbf16>
// CHECK: nvvm.stmatrix
// CHECK: nvvm.fence.proxy
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[D]]

// Three consumers share the rows of a tile. The 72 channels are two steps, of which
// the second is mostly past the end, and the map walks the stride.
// SHARED: dnn.tensor_maps = ["x:bf16:im2col:72,9,9,2:144,1296,11664:64,192:1,2,2,1:-1,-1:-1,-1",
// SHARED-SAME: "w:bf16:tiled:72,3,3,40:144,432,1296:64,1,1,40:1,1,1,1",
// SHARED-SAME: "y:bf16:tiled:40,50:80:64,16:1,1"]
// SHARED-SAME: known_block_size = array<i32: 512, 1, 1>, known_grid_size = array<i32: 1, 1, 1>
// SHARED: nvvm.setmaxregister decrease 32
// SHARED: nvvm.setmaxregister increase 160
