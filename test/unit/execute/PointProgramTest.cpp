//===- PointProgramTest.cpp - Point programs written by hand --------------===//
//
// Tests the ops and their lowering without the algorithms that are built on
// them: each program is text of stage `tiled`, is run on the device that
// TESSERA_DEVICE names and compared with loops on the host.
//
//===----------------------------------------------------------------------===//

#include "test/unit/execute/TiledProgram.h"

#include <cmath>

using namespace tessera;
using namespace tessera::test;

using PointProgram = TiledProgram;

// Sums a strided window with padding, with vectors, bounds checks at both ends,
// two loops, a scalar argument, threads without a point, and gaps between rows.
TEST_F(PointProgram, SumsAPaddedWindow) {
  compile(R"(
  func.func @window(%x: memref<2x9x7x16xf16, strided<[1200, 128, 16, 1]>>,
                    %w: memref<3x3x16xf32>, %alpha: f32,
                    %y: memref<2x5x4x16xf16>) attributes {dnn.kernel} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %three = arith.constant 3 : index
    %eight = arith.constant 8 : index
    dnn.for_each_point [2, 5, 4, 2] threads 64 {
    ^bb0(%n: index, %p: index, %q: index, %block: index):
      %c = arith.muli %block, %eight : index
      %p2 = arith.muli %p, %two : index
      %q2 = arith.muli %q, %two : index
      %none = arith.constant dense<0.0> : vector<8xf32>
      %sum = scf.for %r = %zero to %three step %one
          iter_args(%row = %none) -> vector<8xf32> {
        %hr = arith.addi %p2, %r : index
        %h = arith.subi %hr, %one : index
        %next = scf.for %s = %zero to %three step %one
            iter_args(%acc = %row) -> vector<8xf32> {
          %ws = arith.addi %q2, %s : index
          %v = arith.subi %ws, %one : index
          %xv, %ok = dnn.point_load %x[%n, %h, %v, %c]
              : memref<2x9x7x16xf16, strided<[1200, 128, 16, 1]>> -> vector<8xf16>
          %wv, %wok = dnn.point_load %w[%r, %s, %c]
              : memref<3x3x16xf32> -> vector<8xf32>
          %xf = arith.extf %xv : vector<8xf16> to vector<8xf32>
          %fma = math.fma %xf, %wv, %acc : vector<8xf32>
          scf.yield %fma : vector<8xf32>
        }
        scf.yield %next : vector<8xf32>
      }
      %av = vector.broadcast %alpha : f32 to vector<8xf32>
      %scaled = arith.mulf %sum, %av : vector<8xf32>
      %r16 = arith.truncf %scaled : vector<8xf32> to vector<8xf16>
      dnn.point_store %r16, %y[%n, %p, %q, %c]
          : vector<8xf16>, memref<2x5x4x16xf16>
    }
    return
  })");
  auto x = count<_Float16>(2 * 1200);
  auto w = count<float>(9 * 16);
  DeviceBuffer dx = upload(x), dw = upload(w),
               dy = upload(std::vector<_Float16>(2 * 5 * 4 * 16, NAN));
  void *px = dx.get(), *pw = dw.get(), *py = dy.get();
  float alpha = 0.5f;
  run({&px, &pw, &alpha, &py});
  auto y = download<_Float16>(dy, 2 * 5 * 4 * 16);
  size_t i = 0;
  for (int n = 0; n < 2; ++n)
    for (int p = 0; p < 5; ++p)
      for (int q = 0; q < 4; ++q)
        for (int c = 0; c < 16; ++c, ++i) {
          float sum = 0;
          for (int r = 0; r < 3; ++r)
            for (int s = 0; s < 3; ++s) {
              int h = 2 * p + r - 1, v = 2 * q + s - 1;
              if (h >= 0 && h < 9 && v >= 0 && v < 7)
                sum += static_cast<float>(x[n * 1200 + h * 128 + v * 16 + c]) *
                       w[(r * 3 + s) * 16 + c];
            }
          ASSERT_EQ(static_cast<float>(y[i]), sum * alpha) << i;
        }
}

// Moves elements of one and of eight bytes in accesses from two bytes to four
// elements of eight. One load is the same for all lanes of a row, another one
// reports whether it was inside, and stores outside must not happen.
TEST_F(PointProgram, MovesEverySize) {
  compile(R"(
  func.func @sizes(%x: memref<4x64xi8>, %d: memref<4xf64>, %y: memref<4x64xi8>,
                   %z: memref<4x64xf64>) attributes {dnn.kernel} {
    %two = arith.constant 2 : index
    %four = arith.constant 4 : index
    %one = arith.constant 1.0 : f64
    %none = arith.constant 0.0 : f64
    dnn.for_each_point [4, 32] threads 32 {
    ^bb0(%a: index, %i: index):
      %j = arith.muli %i, %two : index
      %pair, %0 = dnn.point_load %x[%a, %j] : memref<4x64xi8> -> vector<2xi8>
      %twice = arith.addi %pair, %pair : vector<2xi8>
      dnn.point_store %twice, %y[%a, %j] : vector<2xi8>, memref<4x64xi8>
      %k = arith.muli %i, %four : index
      %s, %1 = dnn.point_load %d[%a] : memref<4xf64> -> f64
      %next = arith.addi %a, %two : index
      %t, %inside = dnn.point_load %d[%next] : memref<4xf64> -> f64
      %flag = arith.select %inside, %one, %none : f64
      %v = vector.from_elements %s, %t, %flag, %one : vector<4xf64>
      dnn.point_store %v, %z[%a, %k] : vector<4xf64>, memref<4x64xf64>
    }
    return
  })");
  auto x = count<int8_t>(4 * 64);
  std::vector<double> d = {1.5, 2.5, 3.5, 4.5};
  DeviceBuffer dx = upload(x), dd = upload(d),
               dy = upload(std::vector<int8_t>(4 * 64, 99)),
               dz = upload(std::vector<double>(4 * 64, NAN));
  void *px = dx.get(), *pd = dd.get(), *py = dy.get(), *pz = dz.get();
  run({&px, &pd, &py, &pz});
  auto y = download<int8_t>(dy, 4 * 64);
  auto z = download<double>(dz, 4 * 64);
  for (int i = 0; i < 4 * 64; ++i) {
    int a = i / 64;
    ASSERT_EQ(y[i], static_cast<int8_t>(2 * x[i])) << i;
    double expected[] = {d[a], a < 2 ? d[a + 2] : 0, a < 2 ? 1.0 : 0.0, 1.0};
    ASSERT_EQ(z[i], expected[i % 4]) << i;
  }
}

// A tensor that is too large for a buffer descriptor needs 64-bit addresses.
// Loads outside it find nothing, and stores outside it must not happen.
TEST_F(PointProgram, ReachesBeyond32Bits) {
  compile(R"(
  func.func @large(%x: memref<3x8xf32, strided<[300000000, 1]>>)
      attributes {dnn.kernel} {
    %four = arith.constant 4 : index
    %two = arith.constant 2 : index
    dnn.for_each_point [2, 2] threads 64 {
    ^bb0(%a: index, %i: index):
      %j = arith.muli %i, %four : index
      %last = arith.addi %a, %two : index
      %v, %ok = dnn.point_load %x[%a, %j]
          : memref<3x8xf32, strided<[300000000, 1]>> -> vector<4xf32>
      %none, %no = dnn.point_load %x[%last, %j] inside [1]
          : memref<3x8xf32, strided<[300000000, 1]>> -> vector<4xf32>
      %old = arith.select %no, %none, %v : vector<4xf32>
      %double = arith.addf %v, %old : vector<4xf32>
      dnn.point_store %double, %x[%last, %j]
          : vector<4xf32>, memref<3x8xf32, strided<[300000000, 1]>>
    }
    return
  })");
  constexpr size_t kRowBytes = 300000000 * sizeof(float);
  auto dx = DeviceBuffer::allocate(getGpu(), 2 * kRowBytes + 32);
  if (!dx)
    GTEST_SKIP() << dx.getStatus().getMessage();
  auto at = [&](size_t row) {
    return static_cast<char *>(dx->get()) + row * kRowBytes;
  };
  auto x = count<float>(24);
  for (size_t row = 0; row < 3; ++row)
    ASSERT_EQ(
        getGpu().hipMemcpy(at(row), &x[row * 8], 32, hipMemcpyHostToDevice),
        hipSuccess);
  void *px = dx->get();
  run({&px});
  std::vector<float> y(8);
  ASSERT_EQ(getGpu().hipMemcpy(y.data(), at(2), 32, hipMemcpyDeviceToHost),
            hipSuccess);
  for (size_t i = 0; i < 8; ++i)
    EXPECT_EQ(y[i], x[i] + x[16 + i]) << i;
}
