// RUN: dnn-opt %s | dnn-opt | FileCheck %s

// The frame of a program: what its warpgroups share, and their roles.
// CHECK-LABEL: func.func @frame
// CHECK: wg.program workgroups 132 resident 1 {
// CHECK: wg.role "copy" thread registers 40 {
func.func @frame() {
  // EXAMPLE: wg.program
  wg.program workgroups 132 resident 1 {
  ^bb0(%id: i32, %rank: i32):
    %sa = wg.alloc : <4x128x64xbf16, row_major 128>
    %sb = wg.alloc : <4x64x64xbf16, column_major 128>
    %r = wg.stages %sa, %sb full 1 empty 2
       : !wg.buffer<4x128x64xbf16, row_major 128>, !wg.buffer<4x64x64xbf16, column_major 128>
    wg.role "copy" thread registers 40 {
    ^bb0(%none: i32):
      // Waits for empty stages, and fills them.
    }
    wg.role "multiply" warpgroups 2 registers 232 {
    ^bb0(%consumer: i32):
      // Waits for full stages, multiplies, and releases them.
    }
  }
  // EXAMPLE-END
  return
}

// Numbers of tiles that the launch computes of the tensors' sizes.
// CHECK-LABEL: func.func @sizes
// CHECK: wg.program workgroups 132 of "xd0.xd1.*.128.^" resident 1 {
// CHECK: wg.size "xd0.xd1.*.128.^"
func.func @sizes() {
  wg.program workgroups 132 of "xd0.xd1.*.128.^" resident 1 {
  ^bb0(%id: i32, %rank: i32):
    // EXAMPLE: wg.size
    %tiles = wg.size "xd0.xd1.*.128.^"
    // EXAMPLE-END
  }
  return
}

// A launch may walk its tiles from the last one on.
// CHECK-LABEL: func.func @walk
// CHECK: wg.walk %{{.*}} of 1568
func.func @walk() {
  wg.program workgroups 132 resident 1 {
  ^bb0(%id: i32, %rank: i32):
    wg.role "multiply" warpgroups 2 registers 232 {
    ^bb0(%consumer: i32):
      // EXAMPLE: wg.walk
      %at = wg.walk %id of 1568
      // EXAMPLE-END
    }
  }
  return
}

// Stages that are filled once, by one of two threads of a warpgroup.
// CHECK-LABEL: func.func @stays
// CHECK: wg.stages %{{.*}} full 1 : !wg.buffer<9x64x64xbf16, row_major 128>
// CHECK: wg.role "filter" thread registers 40 {
// CHECK: wg.box %{{.*}}[%{{.*}}, %{{.*}}] last_in_place halo : <1x12544x2304xbf16> -> <192x64xbf16>
func.func @stays(%x: memref<12544x2304xbf16>) {
  %a = dnn.view %x <[1], [12544], [2304] : (g, m, k) -> (m, k)> : memref<12544x2304xbf16> -> <1x12544x2304xbf16>
  wg.program workgroups 132 resident 1 {
  ^bb0(%id: i32, %rank: i32):
    %sb = wg.alloc : <9x64x64xbf16, row_major 128>
    %r = wg.stages %sb full 1 : !wg.buffer<9x64x64xbf16, row_major 128>
    wg.role "filter" thread registers 40 {
    ^bb0(%none: i32):
      %pa = wg.box %a[%id, %id] last_in_place halo : <1x12544x2304xbf16> -> <192x64xbf16>
    }
    wg.role "pixels" thread registers 40 {
    ^bb0(%none: i32):
    }
  }
  return
}

// Each op of a program.
// CHECK-LABEL: func.func @program
// CHECK: wg.program workgroups 264 resident 1 cluster 2 {
// CHECK: %[[A:.*]] = wg.alloc : <4x192x64xbf16, row_major 128>
// CHECK: wg.box %{{.*}}[%{{.*}}, %{{.*}}] evict_first multicast : <1x12544x2304xbf16> -> <192x64xbf16>
// CHECK: wg.mma %{{.*}}, %{{.*}} add %{{.*}} : <4x64x64xbf16, row_major 128>, <4x128x64xbf16, row_major 128> -> <64x128>
// CHECK: wg.store %{{.*}} to %{{.*}} epilogue {
// CHECK: wg.zero : <64x128, lanes m>
func.func @program(%x: memref<12544x2304xbf16>, %w: memref<256x2304xbf16>,
                   %y: memref<12544x256xbf16>) {
  %a = dnn.view %x <[1], [12544], [2304] : (g, m, k) -> (m, k)> : memref<12544x2304xbf16> -> <1x12544x2304xbf16>
  %b = dnn.view %w <[1], [256], [2304] : (g, n, k) -> (n, k)> : memref<256x2304xbf16> -> <1x256x2304xbf16>
  %d = dnn.view %y <[1], [12544], [256] : (g, m, n) -> (m, n)> : memref<12544x256xbf16> -> <1x12544x256xbf16>
  wg.program workgroups 264 resident 1 cluster 2 {
  ^bb0(%id: i32, %rank: i32):
    %g = arith.constant 0 : i32
    // EXAMPLE: wg.alloc
    %sa = wg.alloc : <4x192x64xbf16, row_major 128>
    // EXAMPLE-END
    %sb = wg.alloc : <4x128x64xbf16, row_major 128>
    %st = wg.alloc : <24x16x64xbf16, row_major 128>
    // EXAMPLE: wg.stages
    %r = wg.stages %sa, %sb full 1 empty 3
       : !wg.buffer<4x192x64xbf16, row_major 128>, !wg.buffer<4x128x64xbf16, row_major 128>
    // EXAMPLE-END
    wg.role "copy" thread registers 32 {
    ^bb0(%m: i32):
      // EXAMPLE: wg.box
      %pa = wg.box %a[%g, %m] evict_first multicast : <1x12544x2304xbf16> -> <192x64xbf16>
      // EXAMPLE-END
      // EXAMPLE: wg.acquire
      wg.acquire %r expect 40960
      // EXAMPLE-END
      // EXAMPLE: wg.copy
      wg.copy %pa[%m] to %sa signal %r : <192x64xbf16> -> <4x192x64xbf16, row_major 128>
      // EXAMPLE-END
      // EXAMPLE: wg.leave
      wg.leave %r
      // EXAMPLE-END
      // EXAMPLE: wg.drain
      wg.drain %r
      // EXAMPLE-END
    }
    wg.role "multiply" warpgroups 3 registers 160 {
    ^bb0(%consumer: i32):
      %row = arith.muli %consumer, %id : i32
      // EXAMPLE: wg.slice
      %mine = wg.slice %sa[%row] : <4x192x64xbf16, row_major 128> -> <4x64x64xbf16, row_major 128>
      // EXAMPLE-END
      // EXAMPLE: wg.order_wait
      wg.order_wait %consumer
      // EXAMPLE-END
      // EXAMPLE: wg.await
      wg.await %r
      // EXAMPLE-END
      %c = wg.mma %mine, %sb : <4x64x64xbf16, row_major 128>, <4x128x64xbf16, row_major 128> -> <64x128>
      // EXAMPLE: wg.mma
      %e = wg.mma %mine, %sb add %c
         : <4x64x64xbf16, row_major 128>, <4x128x64xbf16, row_major 128> -> <64x128>
      // EXAMPLE-END
      // EXAMPLE: wg.order_arrive
      wg.order_arrive %consumer of 2
      // EXAMPLE-END
      // EXAMPLE: wg.wait
      wg.wait 1
      // EXAMPLE-END
      // EXAMPLE: wg.next
      wg.next %r
      wg.next %r by %row
      // EXAMPLE-END
      // EXAMPLE: wg.release
      wg.release %r
      // EXAMPLE-END
      // EXAMPLE: wg.add
      %s = wg.add %c, %e : <64x128>
      // EXAMPLE-END
      // EXAMPLE: wg.send
      %column, %has = wg.send %s : <64x128>
      // EXAMPLE-END
      // EXAMPLE: wg.receive
      %share = wg.receive : <64x64>
      // EXAMPLE-END
      // EXAMPLE: wg.result
      %out = wg.result %d[%g, %row, %column] via %st staged 128
           : <1x12544x256xbf16>, <24x16x64xbf16, row_major 128>
      // EXAMPLE-END
      // EXAMPLE: wg.store
      wg.store %share to %out epilogue {
      ^bb0(%v: f32):
        %zero = arith.constant 0.0 : f32
        %relu = arith.maximumf %v, %zero : f32
        wg.yield %relu : f32
      } : <64x64>
      // EXAMPLE-END
      // EXAMPLE: wg.flush
      wg.flush
      // EXAMPLE-END
      // EXAMPLE: wg.zero
      %z = wg.zero : <64x128, lanes m>
      // EXAMPLE-END
    }
  }
  return
}

// Operands that are changed between their copies and products.
// CHECK-LABEL: func.func @changed
// CHECK: wg.stages %{{.*}}, %[[B:.*]] full 1 ready 3 empty 2 :
// CHECK: wg.role "split" warps 3 registers 88 {
// CHECK: wg.prepare %[[B]] : <4x128x32xf32, row_major 128, split>
// CHECK: wg.load %{{.*}} : <4x64x32xf32, row_major 128> -> <64x32xf32, split>
// CHECK: wg.await %{{.*}} ready
// CHECK: wg.mma %{{.*}}, %[[B]] : !wg.fragment<64x32xf32, split>, <4x128x32xf32, row_major 128, split> -> <64x128>
func.func @changed() {
  wg.program workgroups 132 resident 1 {
  ^bb0(%id: i32, %rank: i32):
    %sa = wg.alloc : <4x128x32xf32, row_major 128>
    %sb = wg.alloc : <4x128x32xf32, row_major 128, split>
    %r = wg.stages %sa, %sb full 1 ready 3 empty 2
       : !wg.buffer<4x128x32xf32, row_major 128>, !wg.buffer<4x128x32xf32, row_major 128, split>
    // EXAMPLE: wg.role
    wg.role "split" warps 3 registers 88 {
    ^bb0(%warp: i32):
      // Waits for full stages, and makes them ready.
    }
    // EXAMPLE-END
    wg.role "one" warps 1 registers 88 {
    ^bb0(%warp: i32):
      // EXAMPLE: wg.prepare
      wg.prepare %sb : <4x128x32xf32, row_major 128, split>
      // EXAMPLE-END
      // EXAMPLE: wg.arrive
      wg.arrive %r
      // EXAMPLE-END
    }
    wg.role "multiply" warpgroups 2 registers 208 {
    ^bb0(%row: i32):
      %mine = wg.slice %sa[%row] : <4x128x32xf32, row_major 128> -> <4x64x32xf32, row_major 128>
      // EXAMPLE: wg.load
      %fa = wg.load %mine : <4x64x32xf32, row_major 128> -> <64x32xf32, split>
      // EXAMPLE-END
      // EXAMPLE: wg.await
      wg.await %r ready
      // EXAMPLE-END
      // EXAMPLE: wg.mma
      %s = wg.mma %fa, %sb
         : !wg.fragment<64x32xf32, split>, <4x128x32xf32, row_major 128, split> -> <64x128>
      // EXAMPLE-END
    }
  }
  return
}

// Rows that slide through stages.
// CHECK-LABEL: func.func @slides
// CHECK: wg.alloc : <8x64x64xbf16, column_major 128, mirror>
// CHECK: wg.box %{{.*}}[%{{.*}}, %{{.*}}] pixels slides : <1x576x242xbf16> -> <576x64xbf16>
// CHECK: wg.slide %{{.*}}[%{{.*}}] pitch 1 ahead 2 : <8x64x64xbf16, column_major 128, mirror> -> <8x192x64xbf16, column_major 128>
func.func @slides(%x: memref<242x576xbf16>) {
  %b = dnn.view %x <[1], [576], [242] : (g, n, k) -> (k, n)> : memref<242x576xbf16> -> <1x576x242xbf16>
  wg.program workgroups 1 resident 1 {
  ^bb0(%id: i32, %rank: i32):
    %sx = wg.alloc : <8x64x64xbf16, column_major 128, mirror>
    %r = wg.stages %sx full 1 empty 3 : !wg.buffer<8x64x64xbf16, column_major 128, mirror>
    wg.role "multiply" warpgroups 3 registers 160 {
    ^bb0(%column: i32):
      %px = wg.box %b[%id, %column] pixels slides : <1x576x242xbf16> -> <576x64xbf16>
      // EXAMPLE: wg.slide
      %seen = wg.slide %sx[%column] pitch 1 ahead 2
         : <8x64x64xbf16, column_major 128, mirror> -> <8x192x64xbf16, column_major 128>
      // EXAMPLE-END
    }
  }
  return
}

// What all waves of a workgroup run: as many workgroups as tiles, a table of planes, and
// whether a tap has anything.
// CHECK-LABEL: func.func @waves
// CHECK: wg.program workgroups ? of "xd0.64.^" waves [1, 2] {
// CHECK: wg.alloc : <2x64x32xf16, blocks 4>
// CHECK: wg.alloc : <2x64x32xf16, chunks 64>
// CHECK: wg.alloc : <1x1x512xf16, plain>
// CHECK: wg.tile %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} taps 1 pixels table %{{.*}} : <1x64x242xf16> -> <64x32xf16>, <2x64x32xf16, blocks 4>, <1x1x512xf16, plain>
// CHECK: wg.has_tap %{{.*}}[%{{.*}}] : <64x32xf16>
func.func @waves(%x: memref<242x64xf16>) {
  %b = dnn.view %x <[1], [64], [2, 121] : (g, n, i, k) -> (i * 121 + k, n)>
     : memref<242x64xf16> -> <1x64x242xf16>
  wg.program workgroups ? of "xd0.64.^" waves [1, 2] {
  ^bb0(%id: i32, %rank: i32):
    %sx = wg.alloc : <2x64x32xf16, blocks 4>
    %sw = wg.alloc : <2x64x32xf16, chunks 64>
    %table = wg.alloc : <1x1x512xf16, plain>
    %tx = wg.tile %b[%id, %id] to %sx taps 1 pixels table %table
        : <1x64x242xf16> -> <64x32xf16>, <2x64x32xf16, blocks 4>, <1x1x512xf16, plain>
    // EXAMPLE: wg.has_tap
    %exists = wg.has_tap %tx[%id] : <64x32xf16>
    // EXAMPLE-END
  }
  return
}

// Rows that taps share, in slots that are known by their number or by where they begin, and
// in parts; and results that wait in LDS.
// CHECK-LABEL: func.func @shared
// CHECK: %[[X:.*]] = wg.alloc : <2x64x32xf16, halo 160>
// CHECK: wg.alloc : <2x64x32xf16, planes 256>
// CHECK: wg.alloc : <1x64x64xf16, mixed>
// CHECK: %[[T:.*]] = wg.tile %{{.*}}[%{{.*}}, %{{.*}}] to %[[X]] taps 1 : <1x64x96xf16> -> <64x32xf16>, <2x64x32xf16, halo 160>
// CHECK: wg.fill %[[T]][%{{.*}}] to %[[X]][0] behind %{{.*}} part [1, 4] : <64x32xf16> -> <2x64x32xf16, halo 160>
// CHECK: wg.load %[[X]] at [1, 16] of %[[T]] tap 2 : <2x64x32xf16, halo 160> -> <32x16xf16>
// CHECK: wg.load %[[X]] at [0, 16] behind %{{.*}} of %[[T]] tap 2 : <2x64x32xf16, halo 160> -> <32x16xf16>
// CHECK: %[[P:.*]] = wg.fetch %{{.*}}[%{{.*}}] part [0, 2] : <64x32xf16> -> <64x32xf16>
// CHECK: wg.fetch %{{.*}}[%{{.*}}] part [1, 2] with %[[P]] : <64x32xf16> -> <64x32xf16>
// CHECK: wg.put %[[P]] to %{{.*}}[1] part [0, 2] : <64x32xf16> -> <2x64x32xf16, planes 256>
// CHECK: %[[R:.*]] = wg.result %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] via %{{.*}} : <1x64x64xf16>, <1x64x64xf16, mixed>
// CHECK: wg.flush of %[[R]] block %{{.*}} share [0, 2, 3] if %{{.*}}
// CHECK: wg.flush of %[[R]]{{$}}
// CHECK: wg.flush{{$}}
func.func @shared(%x: memref<66x32xf16>, %y: memref<64x64xf16>) {
  %b = dnn.view %x <[1], [64], [3, 32] : (g, m, r, c) -> (m + r, c)>
     : memref<66x32xf16> -> <1x64x96xf16>
  %d = dnn.view %y <[1], [64], [64] : (g, m, n) -> (m, n)> : memref<64x64xf16> -> <1x64x64xf16>
  wg.program workgroups 1 waves [2, 2] {
  ^bb0(%id: i32, %rank: i32):
    %sx = wg.alloc : <2x64x32xf16, halo 160>
    %sp = wg.alloc : <2x64x32xf16, planes 256>
    %sy = wg.alloc : <1x64x64xf16, mixed>
    %tx = wg.tile %b[%id, %id] to %sx taps 1
        : <1x64x96xf16> -> <64x32xf16>, <2x64x32xf16, halo 160>
    wg.fill %tx[%id] to %sx[0] behind %id part [1, 4] : <64x32xf16> -> <2x64x32xf16, halo 160>
    %f = wg.load %sx at [1, 16] of %tx tap 2 : <2x64x32xf16, halo 160> -> <32x16xf16>
    %g = wg.load %sx at [0, 16] behind %id of %tx tap 2
        : <2x64x32xf16, halo 160> -> <32x16xf16>
    %tp = wg.tile %b[%id, %id] to %sp taps 1
        : <1x64x96xf16> -> <64x32xf16>, <2x64x32xf16, planes 256>
    %p = wg.fetch %tp[%id] part [0, 2] : <64x32xf16> -> <64x32xf16>
    %q = wg.fetch %tp[%id] part [1, 2] with %p : <64x32xf16> -> <64x32xf16>
    wg.put %p to %sp[1] part [0, 2] : <64x32xf16> -> <2x64x32xf16, planes 256>
    %out = wg.result %d[%id, %id, %id] via %sy : <1x64x64xf16>, <1x64x64xf16, mixed>
    %exists = arith.cmpi ne, %id, %rank : i32
    wg.flush of %out block %id share [0, 2, 3] if %exists
    wg.flush of %out
    wg.flush
  }
  return
}
