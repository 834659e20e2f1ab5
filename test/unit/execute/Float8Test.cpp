//===- Float8Test.cpp - Convolutions of 8-bit floats ----------------------===//
//
// Random problems draw these types, too (DrawProblem.h). Here every number of a
// format is multiplied by every other, so that no code is decoded, and no
// product rounded, in another way than the reference does.
//
//===----------------------------------------------------------------------===//

#include "dialect/Reference/Tensor.h"
#include "runtime/Reference/ReferenceShape.h"
#include "test/unit/Support/DeviceTensors.h"
#include "test/unit/execute/ConvFixture.h"

#include <array>
#include <cmath>

using namespace tessera;
using namespace tessera::test;

static constexpr DataType kFloats8[] = {DataType::E4M3FNUZ, DataType::E5M2FNUZ,
                                        DataType::E4M3FN, DataType::E5M2};
static constexpr int64_t kCodes = 256;

/// A pointwise convolution of 256 pixels and output channels. Of the inputs the
/// first channel has all codes, the others are zero.
static ConvProblem makeTable(DataType type, DataType result, int64_t channels) {
  ConvProblem p;
  p.dataType = type;
  p.byteResult = result;
  p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
  p.inChannels = channels;
  p.outChannels = kCodes;
  p.in = {1, kCodes};
  return p;
}

static Status launchTable(Engine &engine, const ConvProblem &p,
                          std::vector<char> &result) {
  std::vector<char> codes(kCodes * p.inChannels, 0);
  for (int64_t code = 0; code < kCodes; ++code)
    codes[code * p.inChannels] = static_cast<char>(code);
  result.assign(kCodes * kCodes * getByteSize(p.byteResult), '\x55');
  ErrorOr<const LoadedKernel *> kernel = engine.prepare(p);
  if (!kernel)
    return kernel.getStatus();
  DeviceTensors tensors(engine.getGpu());
  LaunchArgs args;
  args.x = tensors.add(codes);
  args.w = tensors.add(codes);
  args.y = tensors.add(result);
  args.workspace = tensors.add(nullptr, (*kernel)->getKernel().workspaceBytes);
  if (!tensors.getStatus().isOk())
    return tensors.getStatus();
  Status status = engine.launch(**kernel, nullptr, args);
  return status.isOk() ? readBack(engine.getGpu(), args.y, result) : status;
}

/// Checks that element i, j is the product of codes i and j.
static void checkTable(const ConvProblem &p, const std::vector<char> &result) {
  const reference::ElementType type = getReferenceType(p.dataType);
  const reference::ElementType written = getReferenceType(p.byteResult);
  std::array<char, kCodes> codes;
  for (int64_t code = 0; code < kCodes; ++code)
    codes[code] = static_cast<char>(code);
  int wrong = 0;
  for (int64_t i = 0; i < kCodes; ++i)
    for (int64_t j = 0; j < kCodes; ++j) {
      const double value = loadElement(type, codes.data(), i) *
                           loadElement(type, codes.data(), j);
      const double wanted = roundTo(written, value);
      const double found = loadElement(written, result.data(), i * kCodes + j);
      const bool isRight =
          std::isnan(wanted) ? std::isnan(found) : found == wanted;
      if (!isRight && wrong++ < 3)
        ADD_FAILURE() << "codes " << i << " and " << j << " give " << found
                      << ", not " << wanted;
    }
  EXPECT_EQ(wrong, 0);
}

// One channel goes the general way on every chip, 32 the way of a matrix unit
// where the chip multiplies the type. Results of 8 bits saturate, and
// infinities and NaNs are what they should be.
TEST(Float8, MultipliesEveryNumberByEveryOther) {
  auto engine = makeEngine(createJitCompiler());
  for (DataType type : kFloats8)
    for (DataType written : {type, DataType::F16, DataType::F32})
      for (int64_t channels : {1, 32}) {
        const ConvProblem p = makeTable(type, written, channels);
        SCOPED_TRACE(p.toNetworkConfig());
        std::vector<char> result;
        Status status = launchTable(*engine, p, result);
        ASSERT_TRUE(status.isOk()) << status.getMessage();
        checkTable(p, result);
      }
}

// Sums are exact where data are integers, in all directions, with two types of
// results and an epilogue in front of the rounding.
TEST(Float8, IsExactOnIntegers) {
  auto engine = makeEngine(createJitCompiler());
  for (DataType type : kFloats8)
    for (Direction direction : {Direction::Forward, Direction::BackwardData,
                                Direction::BackwardWeights})
      for (bool isWide : {false, true}) {
        ConvProblem p;
        p.direction = direction;
        p.dataType = type;
        p.byteResult = isWide ? DataType::F32 : type;
        p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
        p.batch = 2;
        p.inChannels = 96;
        p.outChannels = 80;
        p.in = {9, 7};
        p.filter = {3, 3};
        p.pad = {1, 1};
        p.epilogue.alpha = !isWide;
        p.epilogue.bias = isWide;
        checkConv(*engine, p, reference::DataKind::Integer);
      }
}

// The matrix unit is used where the chip multiplies the type, in all
// directions.
TEST(Float8, TakesTheMatrixUnit) {
  const MatrixUnit unit = getTarget().matrixUnit;
  auto engine = makeEngine(createJitCompiler());
  for (DataType type : kFloats8) {
    const bool isFnuz =
        type == DataType::E4M3FNUZ || type == DataType::E5M2FNUZ;
    const bool hasUnit =
        isFnuz ? unit == MatrixUnit::MfmaCdna3
               : unit == MatrixUnit::MfmaCdna4 || unit == MatrixUnit::WmmaGfx12;
    for (Direction direction : {Direction::Forward, Direction::BackwardData,
                                Direction::BackwardWeights}) {
      ConvProblem p;
      p.direction = direction;
      p.dataType = type;
      p.byteResult = DataType::BF16;
      p.xLayout = p.wLayout = p.yLayout = Layout::NHWC;
      p.batch = 4;
      p.inChannels = p.outChannels = 128;
      p.in = {14, 14};
      p.filter = {3, 3};
      p.pad = {1, 1};
      auto kernel = engine->prepare(p);
      ASSERT_TRUE(kernel) << kernel.getStatus().getMessage();
      const std::string tile = (*kernel)->getKernel().tile;
      const bool hasProduct = tile.starts_with("igemm-") &&
                              tile.find("-fma") == std::string::npos;
      EXPECT_EQ(hasProduct, hasUnit) << tile;
    }
  }
}
