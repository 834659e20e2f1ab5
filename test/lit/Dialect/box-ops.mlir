// RUN: dnn-opt %s | dnn-opt | FileCheck %s
// RUN: dnn-opt %s --mlir-print-op-generic | dnn-opt | FileCheck %s

// Boxes and matrices are printed and parsed without loss.
!raw = memref<2x8x32xbf16, #gpu.address_space<workgroup>>
!out = memref<1x8x32xbf16, #gpu.address_space<workgroup>>
!plain = memref<2x16x24xbf16, #gpu.address_space<workgroup>>
!plane = memref<32x68xvector<2xbf16>, #gpu.address_space<workgroup>>

// CHECK-LABEL: func.func @boxes
func.func @boxes(%x: memref<3x9x7x64xbf16>, %y: memref<3x9x7x64xbf16>,
                 %raw: !raw, %out: !out, %planes: !plane, %plain: !plain,
                 %i: index, %wanted: i1) {
  // CHECK: dnn.box_load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] box [1, 2, 4, 32] to %{{.*}}[%{{.*}}] : memref<3x9x7x64xbf16> to memref<2x8x32xbf16, #gpu.address_space<workgroup>>
  dnn.box_load %x[%i, %i, %i, %i] box [1, 2, 4, 32] to %raw[%i] : memref<3x9x7x64xbf16> to !raw
  // CHECK: dnn.box_load {{.*}} to %{{.*}}[%{{.*}}] {dnn.streamed} :
  dnn.box_load %x[%i, %i, %i, %i] box [1, 2, 4, 32] to %raw[%i] {dnn.streamed} : memref<3x9x7x64xbf16> to !raw
  // CHECK: dnn.box_load {{.*}} box [1, 3, 5, 24] plain to
  dnn.box_load %x[%i, %i, %i, %i] box [1, 3, 5, 24] plain to %plain[%i] : memref<3x9x7x64xbf16> to !plain
  // CHECK: dnn.box_load {{.*}} to %{{.*}}[%{{.*}}] if %{{.*}} {dnn.streamed} :
  dnn.box_load %x[%i, %i, %i, %i] box [1, 2, 4, 32] to %raw[%i] if %wanted {dnn.streamed} : memref<3x9x7x64xbf16> to !raw
  // CHECK: dnn.box_wait %{{.*}}[%{{.*}}] round %{{.*}} : memref<2x8x32xbf16, #gpu.address_space<workgroup>>
  dnn.box_wait %raw[%i] round %i : !raw
  // CHECK: %[[A:.*]] = dnn.load_matrices transposed %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : {{.*}} -> vector<4x2xbf16>
  %a = dnn.load_matrices transposed %raw[%i, %i, %i] : !raw -> vector<4x2xbf16>
  // CHECK: dnn.load_matrices %{{.*}}[%{{.*}}, %{{.*}}] : memref<32x68xvector<2xbf16>, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
  %b = dnn.load_matrices %planes[%i, %i] : !plane -> vector<4x2xbf16>
  // CHECK: dnn.store_matrices transposed %[[A]], %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : vector<4x2xbf16>, memref<1x8x32xbf16, #gpu.address_space<workgroup>>
  dnn.store_matrices transposed %a, %out[%i, %i, %i] : vector<4x2xbf16>, !out
  // CHECK: dnn.box_store %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] box [1, 2, 4, 32] : memref<1x8x32xbf16, #gpu.address_space<workgroup>> to memref<3x9x7x64xbf16>
  dnn.box_store %out to %y[%i, %i, %i, %i] box [1, 2, 4, 32] : !out to memref<3x9x7x64xbf16>
  // CHECK: dnn.box_store_wait
  dnn.box_store_wait
  return
}

// The examples of the descriptions, of a depthwise convolution's sizes.
// CHECK-LABEL: func.func @depthwise
func.func @depthwise(%x: memref<64x56x56x192xbf16>, %y: memref<64x56x56x192xbf16>,
                     %raw: memref<2x1280x32xbf16, #gpu.address_space<workgroup>>,
                     %out: memref<1x784x32xbf16, #gpu.address_space<workgroup>>,
                     %n: index, %h: index, %w: index, %c: index, %slot: index,
                     %round: index, %pixel: index, %zero: index) {
  // CHECK: dnn.box_load {{.*}} box [1, 20, 64, 32] to
  // EXAMPLE: dnn.box_load
  dnn.box_load %x[%n, %h, %w, %c] box [1, 20, 64, 32] to %raw[%slot]
      : memref<64x56x56x192xbf16>
      to memref<2x1280x32xbf16, #gpu.address_space<workgroup>>
  // EXAMPLE-END
  // CHECK: dnn.box_wait
  // EXAMPLE: dnn.box_wait
  dnn.box_wait %raw[%slot] round %round
      : memref<2x1280x32xbf16, #gpu.address_space<workgroup>>
  // EXAMPLE-END
  // CHECK: dnn.load_matrices transposed
  // EXAMPLE: dnn.load_matrices
  %words = dnn.load_matrices transposed %raw[%slot, %pixel, %c]
      : memref<2x1280x32xbf16, #gpu.address_space<workgroup>>
      -> vector<4x2xbf16>
  // EXAMPLE-END
  // CHECK: dnn.store_matrices transposed
  // EXAMPLE: dnn.store_matrices
  dnn.store_matrices transposed %words, %out[%zero, %pixel, %c]
      : vector<4x2xbf16>, memref<1x784x32xbf16, #gpu.address_space<workgroup>>
  // EXAMPLE-END
  // CHECK: dnn.box_store {{.*}} box [1, 14, 56, 32] :
  // EXAMPLE: dnn.box_store
  dnn.box_store %out to %y[%n, %h, %w, %c] box [1, 14, 56, 32]
      : memref<1x784x32xbf16, #gpu.address_space<workgroup>>
      to memref<64x56x56x192xbf16>
  // EXAMPLE-END
  return
}

// CHECK-LABEL: func.func @plain
func.func @plain(%x: memref<64x56x56x144xbf16>,
                 %raw: memref<3x116x144xbf16, #gpu.address_space<workgroup>>,
                 %n: index, %h: index, %w: index, %c: index, %slot: index,
                 %pixel: index, %channel: index) {
  // CHECK: dnn.box_load {{.*}} box [1, 2, 57, 144] plain to
  // EXAMPLE: dnn.box_load
  dnn.box_load %x[%n, %h, %w, %c] box [1, 2, 57, 144] plain to %raw[%slot]
      : memref<64x56x56x144xbf16>
      to memref<3x116x144xbf16, #gpu.address_space<workgroup>>
  %v = vector.load %raw[%slot, %pixel, %channel]
      : memref<3x116x144xbf16, #gpu.address_space<workgroup>>, vector<4xbf16>
  // EXAMPLE-END
  return
}
