//===- TileProgramTest.cpp - Every row of the matrix instructions ---------===//
//
// Runs a 3x3 convolution as a hand-written tile program for each matrix
// instruction and type of the chip. It tests layouts, accumulator types and
// ways to copy without the algorithms that choose among them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/MatrixInstruction.h"
#include "test/unit/execute/TiledProgram.h"

#include <bit>

using namespace tessera;
using namespace tessera::test;

namespace {
/// A bfloat16 of a small integer, which needs no rounding.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(int value)
      : bits(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16) {}
  explicit operator double() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
};

/// An 8-bit float of a small integer, which needs no rounding.
template <reference::ElementType Type>
struct Float8 {
  char bits = 0;

  Float8() = default;
  explicit Float8(int value) { reference::storeElement(Type, &bits, 0, value); }
  explicit operator double() const {
    return reference::loadElement(Type, &bits, 0);
  }
};

struct Case {
  DataType type;
  std::string instruction;
  int m, n, wavesM, wavesN;
  int rowBytes = 64;
  int buffers = 2;
  std::string copy = "registers";
  char lanes = 'n';
  /// The number of channels in steps of the pipeline. The reduction is flat if
  /// two steps do not divide the channels.
  double stepsOfChannels = 2;
  bool isFloatResult = false;
};

class TileProgram : public TiledProgram {
protected:
  static constexpr int kBatch = 2, kHeight = 7, kWidth = 5, kOut = 40;
  static constexpr int kPixels = kBatch * kHeight * kWidth;

  template <typename Operand, typename Result>
  void check(const Case &test, const char *operand, const char *accumulator,
             const char *result) {
    int step = test.rowBytes / static_cast<int>(sizeof(Operand));
    int channels = static_cast<int>(step * test.stepsOfChannels);
    compile(makeText(test, operand, accumulator, result, channels, step));
    if (HasFatalFailure())
      return;
    auto x = count<Operand>(kPixels * channels);
    auto w = count<Operand>(kOut * 9 * channels);
    std::vector<Result> poison(kPixels * kOut);
    std::fill_n(reinterpret_cast<uint8_t *>(poison.data()),
                poison.size() * sizeof(Result), 0xff);
    DeviceBuffer dx = upload(x), dw = upload(w), dy = upload(poison);
    void *px = dx.get(), *pw = dw.get(), *py = dy.get();
    run({&px, &pw, &py});
    auto y = download<Result>(dy, kPixels * kOut);
    for (int pixel = 0; pixel < kPixels; ++pixel)
      for (int k = 0; k < kOut; ++k)
        ASSERT_EQ(static_cast<double>(y[pixel * kOut + k]),
                  static_cast<double>(
                      static_cast<Result>(convolve(x, w, pixel, k, channels))))
            << "pixel " << pixel << ", channel " << k;
  }

  template <typename Operand>
  static double convolve(const std::vector<Operand> &x,
                         const std::vector<Operand> &w, int pixel, int k,
                         int channels) {
    int image = pixel / (kHeight * kWidth);
    int row = pixel / kWidth % kHeight, column = pixel % kWidth;
    double total = 0;
    for (int tap = 0; tap < 9; ++tap) {
      int h = row + tap / 3 - 1, v = column + tap % 3 - 1;
      if (h < 0 || h >= kHeight || v < 0 || v >= kWidth)
        continue;
      const Operand *px = &x[((image * kHeight + h) * kWidth + v) * channels];
      const Operand *pw = &w[(k * 9 + tap) * channels];
      for (int c = 0; c < channels; ++c)
        total += static_cast<double>(px[c]) * static_cast<double>(pw[c]);
    }
    return total;
  }

  void check(const Case &test) {
    switch (test.type) {
    case DataType::F16:
      return check<_Float16, _Float16>(test, "f16", "f32", "f16");
    case DataType::BF16:
      return check<BFloat16, float>(test, "bf16", "f32", "f32");
    case DataType::F32:
      return check<float, float>(test, "f32", "f32", "f32");
    case DataType::F64:
      return check<double, double>(test, "f64", "f64", "f64");
    case DataType::I8:
      return test.isFloatResult
                 ? check<int8_t, float>(test, "i8", "i32", "f32")
                 : check<int8_t, int32_t>(test, "i8", "i32", "i32");
    case DataType::E4M3FNUZ:
      return check<Float8<reference::ElementType::E4M3FNUZ>, float>(
          test, "f8E4M3FNUZ", "f32", "f32");
    case DataType::E5M2FNUZ:
      return check<Float8<reference::ElementType::E5M2FNUZ>, float>(
          test, "f8E5M2FNUZ", "f32", "f32");
    case DataType::E4M3FN:
      return check<Float8<reference::ElementType::E4M3FN>, float>(
          test, "f8E4M3FN", "f32", "f32");
    case DataType::E5M2:
      return check<Float8<reference::ElementType::E5M2>, float>(test, "f8E5M2",
                                                                "f32", "f32");
    default:
      FAIL() << "no operands are of this type";
    }
  }

private:
  static std::string makeText(const Case &test, const std::string &operand,
                              const std::string &accumulator,
                              const std::string &result, int channels,
                              int step) {
    // Capital letters stand for the numbers and types of the case.
    std::string text = R"(
  func.func @conv(%x: memref<2x7x5xCxF>, %w: memref<40x3x3xCxF>,
                  %y: memref<2x7x5x40xR>) attributes {dnn.kernel} {
    %a = dnn.view %x <[1], [2, 7, 5], [3, 3, C] :
           (g, n, p, q, r, s, c) -> (n, p + r - 1, q + s - 1, c)>
       : memref<2x7x5xCxF> -> <1x70xEXF>
    %b = dnn.view %w <[1], [40], [3, 3, C] : (g, k, r, s, c) -> (k, r, s, c)>
       : memref<40x3x3xCxF> -> <1x40xEXF>
    %d = dnn.view %y <[1], [2, 7, 5], [40] : (g, n, p, q, k) -> (n, p, q, k)>
       : memref<2x7x5x40xR> -> <1x70x40xR>
    dnn.for_each_tile [1, I, J] of [M, N] {
    ^bb0(%g: index, %m: index, %n: index):
      %acc = dnn.pipeline reduce [3, 3, C] step K buffers B copy O
          sync barrier schedule pinned load {
      ^bb0(%k: index):
        %at = dnn.tile_load %a[%g, %m, %k] : <1x70xEXF> -> <MxKxF>
        %bt = dnn.tile_load %b[%g, %n, %k] : <1x40xEXF> -> <NxKxF>
        dnn.yield %at, %bt : !dnn.tile<MxKxF>, !dnn.tile<NxKxF>
      } compute {
      ^bb0(%at: !dnn.tile<MxKxF>, %bt: !dnn.tile<NxKxF>,
           %in: !dnn.tile<MxNxS>):
        %out = dnn.tile_mma %at, %bt, %in using "T" waves [U, V] lanes L
             : <MxKxF>, <NxKxF>, <MxNxS>
        dnn.yield %out : !dnn.tile<MxNxS>
      } : <MxNxS>
      dnn.tile_store %acc, %d[%g, %m, %n] : <MxNxS>, <1x70x40xR>
    }
    return
  })";
    const std::pair<char, std::string> kWords[] = {
        {'C', std::to_string(channels)},
        {'E', std::to_string(9 * channels)},
        {'X', "x"},
        {'I', std::to_string((kPixels + test.m - 1) / test.m)},
        {'J', std::to_string((kOut + test.n - 1) / test.n)},
        {'M', std::to_string(test.m)},
        {'N', std::to_string(test.n)},
        {'K', std::to_string(step)},
        {'B', std::to_string(test.buffers)},
        {'O', test.copy},
        {'T', test.instruction},
        {'U', std::to_string(test.wavesM)},
        {'V', std::to_string(test.wavesN)},
        {'L', std::string(1, test.lanes)},
        {'F', operand},
        {'S', accumulator},
        {'R', result},
    };
    std::string filled;
    for (char letter : text) {
      auto word = std::find_if(
          std::begin(kWords), std::end(kWords),
          [&](const auto &entry) { return entry.first == letter; });
      filled +=
          word == std::end(kWords) ? std::string(1, letter) : word->second;
    }
    return filled;
  }
};

constexpr DataType kTypes[] = {
    DataType::F16,      DataType::BF16,   DataType::F32,
    DataType::F64,      DataType::I8,     DataType::E4M3FNUZ,
    DataType::E5M2FNUZ, DataType::E4M3FN, DataType::E5M2};
} // namespace

// Tests each matrix instruction of the chip with both assignments of lanes,
// nested and flat reductions, and one, two and four fragments for each wave.
// The data are integers, so that the results are exact.
TEST_F(TileProgram, MultipliesByEveryInstruction) {
  for (DataType type : kTypes)
    for (std::string name : {"mfma32", "mfma16", "wmma16", "fma"}) {
      auto instruction = findMatrixInstruction(getTarget(), name, type);
      if (!instruction)
        continue;
      // The tile has enough rows for every thread of the four waves to copy a
      // chunk.
      int m = std::max({2 * instruction->rows, 2 * instruction->columns,
                        static_cast<int>(getTarget().waveSize)});
      int n = m;
      if (name == "fma")
        m = n = 64;
      for (char lanes : {'n', 'm'})
        for (double steps : {2.0, 1.5}) {
          if (!isTurn((lanes == 'n') + (steps == 2)))
            continue;
          Case test{type, name, m, n, 2, 2};
          test.lanes = lanes;
          test.stepsOfChannels = steps;
          SCOPED_TRACE(name + " type " +
                       std::to_string(static_cast<int>(type)) + " lanes " +
                       lanes + " steps " + std::to_string(steps));
          check(test);
          if (HasFatalFailure())
            return;
        }
      Case large{type, name, 2 * m, 2 * n, 2, 2};
      large.rowBytes = 128;
      SCOPED_TRACE("rows of 128 bytes");
      if (name != "fma")
        check(large);
      if (HasFatalFailure())
        return;
    }
}

// The i32 accumulators of i8 operands may be stored as f32.
TEST_F(TileProgram, ConvertsIntegerAccumulators) {
  Case test{DataType::I8, "fma", 64, 64, 2, 2};
  test.isFloatResult = true;
  check(test);
}

// Tiles are copied directly to LDS, with two and four buffers, both row
// lengths, several loads with one base address, and tails of both kinds.
TEST_F(TileProgram, CopiesDirectlyToLds) {
  if (getTarget().directLdsBytes < 16)
    GTEST_SKIP() << "the chip loads no 16 bytes a lane to LDS";
  for (Case test : {Case{DataType::F16, "mfma32", 128, 64, 2, 2},
                    Case{DataType::BF16, "mfma16", 128, 64, 2, 2},
                    Case{DataType::F32, "mfma32", 256, 64, 4, 1},
                    Case{DataType::I8, "mfma32", 64, 128, 2, 2}})
    for (auto [buffers, rowBytes] : {std::pair(2, 64), {4, 64}, {2, 128}}) {
      test.copy = "direct_to_lds";
      test.buffers = buffers;
      test.rowBytes = rowBytes;
      test.stepsOfChannels = 2 * buffers;
      SCOPED_TRACE(test.instruction + ", " + std::to_string(buffers) +
                   " buffers, rows of " + std::to_string(rowBytes));
      check(test);
      if (HasFatalFailure())
        return;
    }
}
