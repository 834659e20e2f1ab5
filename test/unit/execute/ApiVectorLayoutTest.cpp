//===- ApiVectorLayoutTest.cpp - Tensors with blocks of channels ----------===//
//
// NCHWc4, NCHWc8, CHWNc4 and CHWNc8 through the C API, on the device. Where an
// element lies is written out here, and results are computed on the host, in
// double, so nothing is shared with what is tested. The data are small
// integers, whose sums are exact.
//
//===----------------------------------------------------------------------===//

#include "test/unit/execute/ApiRowWiseFixture.h"

#include "dialect/Reference/Random.h"
#include "test/unit/execute/ConvFixture.h"

#include <miopen/miopen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

using namespace tessera;
using namespace tessera::test;
using reference::ElementType;

namespace {
/// N, C, H, W; of a filter K, C, Y, X.
using Four = std::array<int, 4>;
} // namespace

static DeviceBuffer allocate(size_t bytes) {
  ErrorOr<DeviceBuffer> made = DeviceBuffer::allocate(getGpu(), bytes);
  EXPECT_TRUE(made) << made.getStatus().getMessage();
  return std::move(*made);
}

static int getBlock(miopenTensorLayout_t layout) {
  return layout == miopenTensorNCHWc8 || layout == miopenTensorCHWNc8 ? 8 : 4;
}

static ElementType getElementType(miopenDataType_t type) {
  return type == miopenInt8    ? ElementType::I8
         : type == miopenInt32 ? ElementType::I32
         : type == miopenHalf  ? ElementType::F16
                               : ElementType::F32;
}

namespace {
/// A tensor on the host, in double by its lengths, and on the device.
class Blocked {
public:
  Blocked(miopenDataType_t type, miopenTensorLayout_t layout, Four lengths,
          uint64_t seed)
      : layout(layout), lengths(lengths), type(getElementType(type)) {
    const int count = lengths[0] * lengths[1] * lengths[2] * lengths[3];
    for (int i = 0; i < count; ++i)
      values.push_back(
          static_cast<int>(reference::getRandomBits(seed, i) >> 20 & 3) - 1);
    EXPECT_OK(miopenCreateTensorDescriptor(&desc));
    EXPECT_OK(miopenSetNdTensorDescriptorWithLayout(desc, type, layout,
                                                    lengths.data(), 4));
    size_t bytes = 0;
    EXPECT_OK(miopenGetTensorNumBytes(desc, &bytes));
    EXPECT_EQ(bytes, count * getByteSize(this->type));
    buffer.emplace(allocate(bytes));
    std::vector<char> memory(bytes);
    for (int i = 0; i < count; ++i)
      storeElement(this->type, memory.data(), getOffset(i), values[i]);
    EXPECT_TRUE(buffer->copyFromHost(memory.data(), bytes).isOk());
  }
  ~Blocked() { miopenDestroyTensorDescriptor(desc); }
  Blocked(const Blocked &) = delete;
  Blocked &operator=(const Blocked &) = delete;

  double &at(int n, int c, int h, int w) {
    return values[((n * lengths[1] + c) * lengths[2] + h) * lengths[3] + w];
  }
  void poison() { EXPECT_TRUE(buffer->fill(0x7f).isOk()); }
  void *getData() const { return buffer->get(); }

  /// Expects that the device has `wanted`, rounded to the type.
  void expect(const std::vector<double> &wanted) const {
    std::vector<char> memory(buffer->getByteSize());
    ASSERT_TRUE(buffer->copyToHost(memory.data(), memory.size()).isOk());
    int wrong = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const double found = loadElement(type, memory.data(), getOffset(i));
      if (found != roundTo(type, wanted[i]) && wrong++ < 3)
        ADD_FAILURE() << "element " << i << " is " << found << ", not "
                      << wanted[i];
    }
    EXPECT_EQ(wrong, 0);
  }

  miopenTensorLayout_t layout;
  Four lengths;
  std::vector<double> values; ///< In the order of the lengths.
  miopenTensorDescriptor_t desc = nullptr;

private:
  /// Where element `i` lies: [N][C/v][H][W][v] or [C/v][H][W][N][v]; NHWC
  /// else.
  int64_t getOffset(int64_t i) const {
    const auto [allN, allC, allH, allW] = lengths;
    const int64_t w = i % allW, h = i / allW % allH, c = i / allW / allH % allC,
                  n = i / allW / allH / allC;
    if (layout == miopenTensorNHWC)
      return ((n * allH + h) * allW + w) * allC + c;
    const int64_t v = getBlock(layout), block = c / v, within = c % v;
    const bool hasBatchLast =
        layout == miopenTensorCHWNc4 || layout == miopenTensorCHWNc8;
    return hasBatchLast
               ? (((block * allH + h) * allW + w) * allN + n) * v + within
               : (((n * allC / v + block) * allH + h) * allW + w) * v + within;
  }

  ElementType type;
  std::optional<DeviceBuffer> buffer;
};

/// A convolution with its tensors: x and w of one type and layout each.
struct Case {
  miopenDataType_t type, result;
  miopenTensorLayout_t x, w, y;
  Four input, filter; ///< Filter K, C / groups, Y, X.
  int pad = 1, stride = 1, groups = 1;
};

class ApiVectorLayout : public ApiRowWise {
protected:
  void SetUp() override {
    ApiRowWise::SetUp();
    ASSERT_OK(miopenCreateConvolutionDescriptor(&conv));
    ASSERT_OK(miopenCreatePoolingDescriptor(&pool));
  }
  void TearDown() override {
    EXPECT_OK(miopenDestroyConvolutionDescriptor(conv));
    EXPECT_OK(miopenDestroyPoolingDescriptor(pool));
    ApiRowWise::TearDown();
  }
  void setConv(const Case &c) {
    ASSERT_OK(miopenInitConvolutionDescriptor(conv, miopenConvolution, c.pad,
                                              c.pad, c.stride, c.stride, 1, 1));
    ASSERT_OK(miopenSetConvolutionGroupCount(conv, c.groups));
  }

  miopenConvolutionDescriptor_t conv = nullptr;
  miopenPoolingDescriptor_t pool = nullptr;
};
} // namespace

/// Calls `visit(n, k, ho, wo, c, cOfGroup, h, w, r, s)` for each product.
template <typename Visitor>
static void visitProducts(const Case &c, const Four &output, Visitor visit) {
  const int outGroup = c.filter[0] / c.groups;
  for (int n = 0; n < output[0]; ++n)
    for (int k = 0; k < output[1]; ++k)
      for (int ho = 0; ho < output[2]; ++ho)
        for (int wo = 0; wo < output[3]; ++wo)
          for (int i = 0; i < c.filter[1]; ++i)
            for (int r = 0; r < c.filter[2]; ++r)
              for (int s = 0; s < c.filter[3]; ++s) {
                const int h = ho * c.stride - c.pad + r,
                          w = wo * c.stride - c.pad + s;
                if (h >= 0 && h < c.input[2] && w >= 0 && w < c.input[3])
                  visit(n, k, ho, wo, k / outGroup * c.filter[1] + i, i, h, w,
                        r, s);
              }
}

static const Case kCases[] = {
    {miopenInt8,
     miopenInt8,
     miopenTensorNCHWc4,
     miopenTensorNCHWc4,
     miopenTensorNCHWc4,
     {2, 12, 5, 7},
     {8, 12, 3, 3}},
    {miopenInt8,
     miopenInt32,
     miopenTensorCHWNc4,
     miopenTensorCHWNc4,
     miopenTensorCHWNc4,
     {3, 8, 6, 4},
     {12, 8, 3, 3},
     0,
     2},
    {miopenHalf,
     miopenHalf,
     miopenTensorNCHWc8,
     miopenTensorNCHWc8,
     miopenTensorNCHWc8,
     {2, 32, 5, 6},
     {16, 16, 3, 3},
     1,
     1,
     2},
    {miopenHalf,
     miopenHalf,
     miopenTensorCHWNc8,
     miopenTensorNCHWc4,
     miopenTensorNCHWc8,
     {3, 16, 5, 5},
     {24, 16, 1, 1},
     0},
    {miopenFloat,
     miopenFloat,
     miopenTensorNCHWc4,
     miopenTensorNHWC,
     miopenTensorNHWC,
     {1, 20, 4, 9},
     {7, 20, 2, 3}},
};

// Forward, as clients of Find and of immediate mode call it, with a workspace
// of the size that they were told, beside which the device has no memory.
TEST_F(ApiVectorLayout, ConvolvesForward) {
  const float one = 1, zero = 0;
  for (const Case &c : kCases) {
    setConv(c);
    Blocked x(c.type, c.x, c.input, 1), w(c.type, c.w, c.filter, 2);
    Four output;
    ASSERT_OK(miopenGetConvolutionForwardOutputDim(
        conv, x.desc, w.desc, &output[0], &output[1], &output[2], &output[3]));
    EXPECT_EQ(output[1], c.filter[0]);
    Blocked y(c.result, c.y, output, 3);
    std::vector<double> wanted(y.values.size());
    y.values.assign(wanted.size(), 0);
    visitProducts(c, output,
                  [&](int n, int k, int ho, int wo, int i, int inGroup, int h,
                      int l, int r, int s) {
                    y.at(n, k, ho, wo) +=
                        x.at(n, i, h, l) * w.at(k, inGroup, r, s);
                  });
    size_t bytes = 0, solutionBytes = 0, count = 0;
    ASSERT_OK(miopenConvolutionForwardGetWorkSpaceSize(handle, w.desc, x.desc,
                                                       conv, y.desc, &bytes));
    auto workspace = allocate(bytes);
    miopenConvAlgoPerf_t perf;
    int found = 0;
    ASSERT_OK(miopenFindConvolutionForwardAlgorithm(
        handle, x.desc, x.getData(), w.desc, w.getData(), conv, y.desc,
        y.getData(), 1, &found, &perf, workspace.get(), bytes, false));
    EXPECT_EQ(perf.memory, bytes);
    y.poison();
    ASSERT_OK(miopenConvolutionForward(
        handle, &one, x.desc, x.getData(), w.desc, w.getData(), conv,
        perf.fwd_algo, &zero, y.desc, y.getData(), workspace.get(), bytes));
    y.expect(y.values);

    miopenConvSolution_t solution;
    ASSERT_OK(miopenConvolutionForwardGetSolution(
        handle, w.desc, x.desc, conv, y.desc, 1, &count, &solution));
    ASSERT_OK(miopenConvolutionForwardGetSolutionWorkspaceSize(
        handle, w.desc, x.desc, conv, y.desc, solution.solution_id,
        &solutionBytes));
    EXPECT_EQ(solutionBytes, solution.workspace_size);
    y.poison();
    ASSERT_OK(miopenConvolutionForwardImmediate(
        handle, w.desc, w.getData(), x.desc, x.getData(), conv, y.desc,
        y.getData(), workspace.get(), bytes, solution.solution_id));
    y.expect(y.values);
    x.expect(x.values);
    w.expect(w.values);

    EXPECT_EQ(miopenConvolutionForward(handle, &one, x.desc, x.getData(),
                                       w.desc, w.getData(), conv, perf.fwd_algo,
                                       &zero, y.desc, y.getData(),
                                       workspace.get(), 64),
              miopenStatusBadParm);
  }
}

// A scale, and the old result added to it: the old result is copied, too.
TEST_F(ApiVectorLayout, Scales) {
  const float half = 0.5f, two = 2;
  const Case &c = kCases[2];
  setConv(c);
  Blocked x(c.type, c.x, c.input, 1), w(c.type, c.w, c.filter, 2),
      y(c.type, c.y, {2, 16, 5, 6}, 3);
  for (double &value : y.values)
    value *= 2;
  std::vector<double> old = y.values;
  visitProducts(c, y.lengths,
                [&](int n, int k, int ho, int wo, int i, int inGroup, int h,
                    int l, int r, int s) {
                  y.at(n, k, ho, wo) +=
                      0.5 * x.at(n, i, h, l) * w.at(k, inGroup, r, s);
                });
  size_t bytes = 0;
  ASSERT_OK(miopenConvolutionForwardGetWorkSpaceSize(handle, w.desc, x.desc,
                                                     conv, y.desc, &bytes));
  auto workspace = allocate(bytes);
  ASSERT_OK(miopenConvolutionForward(
      handle, &half, x.desc, x.getData(), w.desc, w.getData(), conv,
      miopenConvolutionFwdAlgoDirect, &two, y.desc, y.getData(),
      workspace.get(), bytes));
  y.expect(y.values);
}

// Both gradients, of float, whose sums of small integers are exact.
TEST_F(ApiVectorLayout, ConvolvesBackward) {
  const float one = 1, zero = 0;
  const Case c{miopenFloat,
               miopenFloat,
               miopenTensorNCHWc4,
               miopenTensorCHWNc4,
               miopenTensorNCHWc8,
               {2, 8, 6, 5},
               {16, 8, 3, 3},
               1,
               2};
  setConv(c);
  Blocked x(c.type, c.x, c.input, 1), w(c.type, c.w, c.filter, 2),
      y(c.type, c.y, {2, 16, 3, 3}, 3);
  Blocked dx(c.type, c.x, c.input, 1), dw(c.type, c.w, c.filter, 2);
  dx.values.assign(dx.values.size(), 0);
  dw.values.assign(dw.values.size(), 0);
  visitProducts(c, y.lengths,
                [&](int n, int k, int ho, int wo, int i, int inGroup, int h,
                    int l, int r, int s) {
                  dx.at(n, i, h, l) +=
                      y.at(n, k, ho, wo) * w.at(k, inGroup, r, s);
                  dw.at(k, inGroup, r, s) +=
                      y.at(n, k, ho, wo) * x.at(n, i, h, l);
                });
  dx.poison();
  dw.poison();
  size_t dataBytes = 0, weightBytes = 0;
  ASSERT_OK(miopenConvolutionBackwardDataGetWorkSpaceSize(
      handle, y.desc, w.desc, conv, dx.desc, &dataBytes));
  ASSERT_OK(miopenConvolutionBackwardWeightsGetWorkSpaceSize(
      handle, y.desc, x.desc, conv, dw.desc, &weightBytes));
  auto workspace = allocate(std::max(dataBytes, weightBytes));
  ASSERT_OK(miopenConvolutionBackwardData(
      handle, &one, y.desc, y.getData(), w.desc, w.getData(), conv,
      miopenConvolutionBwdDataAlgoDirect, &zero, dx.desc, dx.getData(),
      workspace.get(), dataBytes));
  ASSERT_OK(miopenConvolutionBackwardWeights(
      handle, &one, y.desc, y.getData(), x.desc, x.getData(), conv,
      miopenConvolutionBwdWeightsAlgoDirect, &zero, dw.desc, dw.getData(),
      workspace.get(), weightBytes));
  dx.expect(dx.values);
  dw.expect(dw.values);
}

// Maxima and averages of half, and the gradient of an average; the indices of
// maxima lead their gradients back.
TEST_F(ApiVectorLayout, Pools) {
  const float one = 1, zero = 0;
  for (miopenTensorLayout_t layout : {miopenTensorNCHWc4, miopenTensorNCHWc8,
                                      miopenTensorCHWNc4, miopenTensorCHWNc8})
    for (miopenPoolingMode_t mode :
         {miopenPoolingMax, miopenPoolingAverageInclusive}) {
      ASSERT_OK(miopenSet2dPoolingDescriptor(pool, mode, 2, 2, 0, 0, 2, 2));
      Blocked x(miopenHalf, layout, {3, 16, 6, 8}, 5);
      Four output;
      ASSERT_OK(miopenGetPoolingForwardOutputDim(
          pool, x.desc, &output[0], &output[1], &output[2], &output[3]));
      EXPECT_EQ(output, (Four{3, 16, 3, 4}));
      Blocked y(miopenHalf, layout, output, 6),
          dx(miopenHalf, layout, x.lengths, 7),
          dy(miopenHalf, layout, output, 8);
      dx.values.assign(dx.values.size(), 0);
      for (int n = 0; n < 3; ++n)
        for (int k = 0; k < 16; ++k)
          for (int h = 0; h < 3; ++h)
            for (int w = 0; w < 4; ++w) {
              double sum = 0, most = -10;
              int best = 0;
              for (int i = 0; i < 4; ++i) {
                const double value = x.at(n, k, 2 * h + i / 2, 2 * w + i % 2);
                sum += value;
                if (value > most)
                  most = value, best = i;
                if (mode != miopenPoolingMax)
                  dx.at(n, k, 2 * h + i / 2, 2 * w + i % 2) =
                      dy.at(n, k, h, w) / 4;
              }
              y.at(n, k, h, w) = mode == miopenPoolingMax ? most : sum / 4;
              if (mode == miopenPoolingMax)
                dx.at(n, k, 2 * h + best / 2, 2 * w + best % 2) =
                    dy.at(n, k, h, w);
            }
      y.poison();
      dx.poison();
      size_t bytes = 0;
      ASSERT_OK(miopenPoolingGetWorkSpaceSizeV2(pool, y.desc, &bytes));
      auto indices = allocate(bytes);
      ASSERT_OK(miopenPoolingForward(handle, pool, &one, x.desc, x.getData(),
                                     &zero, y.desc, y.getData(), true,
                                     indices.get(), bytes));
      y.expect(y.values);
      ASSERT_OK(miopenPoolingBackward(
          handle, pool, &one, y.desc, y.getData(), dy.desc, dy.getData(),
          x.desc, x.getData(), &zero, dx.desc, dx.getData(), indices.get()));
      dx.expect(dx.values);
    }
}

// Functions that know no blocks say so, by the name of the tensor, and leave
// memory alone; layouts that do not fit each other are mistakes.
TEST_F(ApiVectorLayout, OthersRefuse) {
  const float one = 1, zero = 0;
  Blocked x(miopenHalf, miopenTensorNCHWc4, {2, 8, 4, 4}, 1),
      y(miopenHalf, miopenTensorNCHWc8, {2, 8, 4, 4}, 2);
  EXPECT_EQ(miopenTransformTensor(handle, &one, x.desc, x.getData(), &zero,
                                  y.desc, y.getData()),
            miopenStatusNotImplemented);
  EXPECT_NE(
      std::string(tesseraGetLastErrorMessage()).find("xDesc has a layout"),
      std::string::npos)
      << tesseraGetLastErrorMessage();
  EXPECT_EQ(miopenSoftmaxForward(handle, &one, x.desc, x.getData(), &zero,
                                 x.desc, x.getData()),
            miopenStatusNotImplemented);
  const miopenTensorDescriptor_t parts[] = {x.desc, x.desc};
  const void *data[] = {x.getData(), x.getData()};
  ApiTensor both(miopenHalf, {2, 16, 4, 4});
  EXPECT_EQ(miopenCatForward(handle, 2, parts, data, both.getDesc(),
                             both.getData(), 1),
            miopenStatusNotImplemented);
  ASSERT_OK(
      miopenSet2dPoolingDescriptor(pool, miopenPoolingMax, 1, 1, 0, 0, 1, 1));
  EXPECT_EQ(miopenPoolingForward(handle, pool, &one, x.desc, x.getData(), &zero,
                                 y.desc, y.getData(), false, nullptr, 0),
            miopenStatusBadParm);
  x.expect(x.values);
  y.expect(y.values);
}
