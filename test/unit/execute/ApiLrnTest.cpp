//===- ApiLrnTest.cpp - Local response normalisation on a device ----------===//
//
// The results are compared with loops over whole windows, which know nothing of
// how the launches treat borders.
//
//===----------------------------------------------------------------------===//

#include "test/unit/execute/ApiRowWiseFixture.h"

#include <cmath>

using namespace tessera;
using namespace tessera::test;

static float one = 1, zero = 0;
static constexpr double kAlpha = 0.75, kBeta = 0.75, kK = 1.5;

namespace {
constexpr int kLengths[] = {2, 7, 6, 9}; // N, C, H, W
using Values = std::vector<double>;

/// The elements that the normalisation of one element adds up.
struct Window {
  miopenLRNMode_t mode;
  int size;

  int getBefore() const { return (size - 1) / 2; }
  double getCount() const {
    return mode == miopenLRNWithinChannel ? size * size : size;
  }
  /// Whether element `b` is in the window of element `a`.
  bool contains(const int (&a)[4], const int (&b)[4]) const {
    auto isNear = [&](int dim) {
      const int at = b[dim] - a[dim] + getBefore();
      return at >= 0 && at < size;
    };
    if (a[0] != b[0])
      return false;
    if (mode == miopenLRNCrossChannel)
      return isNear(1) && a[2] == b[2] && a[3] == b[3];
    return a[1] == b[1] && isNear(2) && isNear(3);
  }
};
} // namespace

static int getCount() {
  int count = 1;
  for (int length : kLengths)
    count *= length;
  return count;
}

static void getCoordinates(int number, int (&coordinates)[4]) {
  for (int dim = 3; dim >= 0; --dim) {
    coordinates[dim] = number % kLengths[dim];
    number /= kLengths[dim];
  }
}

/// Returns the elements in the order N, C, H, W.
static Values getValues(const ApiTensor &tensor,
                        const std::vector<char> &bytes) {
  const reference::RowOperand operand =
      tensor.getOperand(reference::RowRole::Input, bytes);
  Values values;
  for (int i = 0; i < getCount(); ++i) {
    int at[4];
    getCoordinates(i, at);
    values.push_back(reference::loadElement(
        operand.type, bytes.data(),
        operand.getOffset({at[0], at[1], at[2], at[3], 0})));
  }
  return values;
}

/// Returns for each element the sum of `term` over its window or, backward,
/// over the elements whose windows contain it.
template <typename Term>
static Values addUp(const Window &window, bool isBackward, const Term &term) {
  Values sums(getCount());
  for (int i = 0; i < getCount(); ++i)
    for (int j = 0; j < getCount(); ++j) {
      int a[4], b[4];
      getCoordinates(i, a);
      getCoordinates(j, b);
      if (isBackward ? window.contains(b, a) : window.contains(a, b))
        sums[i] += term(j);
    }
  return sums;
}

static void expectNear(const Values &expected, const Values &found,
                       miopenDataType_t type) {
  // An f16 has 11 significant bits, a bf16 eight, and the scales are stored in
  // that type.
  const double tolerance = type == miopenFloat  ? 0x1p-16
                           : type == miopenHalf ? 0x1p-9
                                                : 0x1p-6;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!(std::fabs(expected[i] - found[i]) <=
          tolerance * (1 + std::fabs(expected[i]))))
      FAIL() << "element " << i << " is " << found[i] << ", not "
             << expected[i];
  }
}

class ApiLrn : public ApiRowWise {
protected:
  void SetUp() override {
    ApiRowWise::SetUp();
    ASSERT_OK(miopenCreateLRNDescriptor(&lrn));
  }
  void TearDown() override {
    EXPECT_OK(miopenDestroyLRNDescriptor(lrn));
    ApiRowWise::TearDown();
  }

  void check(const Window &window, miopenDataType_t type, bool isChannelsLast) {
    SCOPED_TRACE(testing::Message()
                 << "mode " << window.mode << " size " << window.size
                 << " type " << type << " last " << isChannelsLast);
    ASSERT_OK(miopenSetLRNDescriptor(lrn, window.mode, window.size, kAlpha,
                                     kBeta, kK));
    const std::vector<int> lengths(kLengths, kLengths + 4);
    const std::vector<int> strides =
        isChannelsLast ? getChannelsLast(lengths) : std::vector<int>();
    ApiTensor x(type, lengths, strides, -1, 1), y(type, lengths, strides);
    ApiTensor dy(type, lengths, strides, -1, 1), dx(type, lengths, strides);
    ApiTensor scale(type, lengths, strides);
    for (ApiTensor *result : {&y, &dx, &scale})
      result->poison();
    ASSERT_OK(miopenLRNForward(handle, lrn, &one, x.getDesc(), x.getData(),
                               &zero, y.getDesc(), y.getData(), true,
                               scale.getData()));
    const Values vx = getValues(x, x.getHost()), vy = getValues(y, y.read());
    const Values vs = getValues(scale, scale.read());
    Values wanted = addUp(window, false, [&](int j) { return vx[j] * vx[j]; });
    for (double &sum : wanted)
      sum = kK + kAlpha / window.getCount() * sum;
    expectNear(wanted, vs, type);
    for (size_t i = 0; i < wanted.size(); ++i)
      wanted[i] = vx[i] * std::pow(wanted[i], -kBeta);
    expectNear(wanted, vy, type);

    ASSERT_OK(miopenLRNBackward(handle, lrn, &one, y.getDesc(), y.getData(),
                                dy.getDesc(), dy.getData(), x.getDesc(),
                                x.getData(), &zero, dx.getDesc(), dx.getData(),
                                scale.getData()));
    const Values vdy = getValues(dy, dy.getHost());
    wanted = addUp(window, true, [&](int j) { return vdy[j] * vy[j] / vs[j]; });
    for (size_t i = 0; i < wanted.size(); ++i)
      wanted[i] = vdy[i] * std::pow(vs[i], -kBeta) -
                  2 * kAlpha * kBeta / window.getCount() * vx[i] * wanted[i];
    expectNear(wanted, getValues(dx, dx.read()), type);
  }

  miopenLRNDescriptor_t lrn = nullptr;
};

// Tests windows across channels, of odd and even sizes and one that is larger
// than the tensor.
TEST_F(ApiLrn, CrossChannel) {
  for (int size : {1, 3, 4, 5, 15})
    check({miopenLRNCrossChannel, size}, miopenFloat, size == 4);
  for (miopenDataType_t type : {miopenHalf, miopenBFloat16})
    check({miopenLRNCrossChannel, 5}, type, type == miopenHalf);
}

// Tests windows within channels, which are summed along columns and then along
// rows.
TEST_F(ApiLrn, WithinChannel) {
  for (int size : {1, 3, 4})
    check({miopenLRNWithinChannel, size}, miopenFloat, size == 3);
  check({miopenLRNWithinChannel, 3}, miopenHalf, false);
}

// Forward needs memory for the scales only if it is asked to keep them for
// backward. K may not be 0.
TEST_F(ApiLrn, WithoutWorkspace) {
  ASSERT_OK(
      miopenSetLRNDescriptor(lrn, miopenLRNCrossChannel, 5, kAlpha, kBeta, kK));
  ApiTensor x(miopenFloat, {2, 7, 6, 9}), y(miopenFloat, {2, 7, 6, 9});
  auto forward = [&](bool keeps) {
    return miopenLRNForward(handle, lrn, &one, x.getDesc(), x.getData(), &zero,
                            y.getDesc(), y.getData(), keeps, nullptr);
  };
  EXPECT_OK(forward(false));
  EXPECT_EQ(forward(true), miopenStatusBadParm);
  size_t bytes = 0;
  EXPECT_OK(miopenLRNGetWorkSpaceSize(y.getDesc(), &bytes));
  EXPECT_EQ(bytes, 2u * 7 * 6 * 9 * 4);
  ASSERT_OK(
      miopenSetLRNDescriptor(lrn, miopenLRNCrossChannel, 5, kAlpha, kBeta, 0));
  EXPECT_EQ(forward(false), miopenStatusUnknownError);
}
