//===- ApiGetitemTest.cpp - The gradient of indexing on a device ----------===//
//
// Compared with a loop over dy in double that adds to a copy of dx, as the
// definition says; the library reduces over positions instead. The data are
// small integers, whose sums are exact in every type.
//
//===----------------------------------------------------------------------===//

#define MIOPEN_BETA_API 1
#include "test/unit/execute/ApiRowWiseFixture.h"

#include "dialect/Reference/Random.h"
#include "test/unit/execute/ConvFixture.h"

#include <miopen/miopen.h>

#include <functional>
#include <memory>
#include <numeric>

using namespace tessera;
using namespace tessera::test;

namespace {
using Ints = std::vector<int>;

/// y = x[..., i1, i2, ...] along `count` dimensions from `first` on.
struct Case {
  miopenDataType_t type, indexType;
  Ints dx;
  int first, count, positions;
  std::vector<int> slice = {}; ///< Dimension, begin, end, step.
};

class ApiGetitem : public ApiRowWise {};
} // namespace

static int64_t getProduct(const Ints &lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), int64_t(1),
                         std::multiplies<>());
}

/// Small integers, from `seed` on, set in `tensor`, whose elements lie
/// together.
static std::vector<double> setIntegers(ApiTensor &tensor, uint64_t seed,
                                       int least, int most) {
  const int64_t count = getProduct(tensor.getLengths());
  std::vector<double> values(count);
  std::vector<char> bytes(count * getByteSize(tensor.getType()));
  for (int64_t i = 0; i < count; ++i) {
    values[i] = least + static_cast<int>(reference::getRandomBits(seed, i) %
                                         (most - least + 1));
    storeElement(tensor.getType(), bytes.data(), i, values[i]);
  }
  tensor.setBytes(bytes);
  return values;
}

static std::vector<double> readValues(const ApiTensor &tensor) {
  const std::vector<char> bytes = tensor.read();
  std::vector<double> values(getProduct(tensor.getLengths()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] =
        loadElement(tensor.getType(), bytes.data(), static_cast<int64_t>(i));
  return values;
}

/// The lengths of dy: dx without the indexed dimensions, of which the first one
/// becomes that of the positions, and with the slice.
static Ints getGradientLengths(const Case &c) {
  Ints lengths = c.dx;
  if (!c.slice.empty())
    lengths[c.slice[0]] =
        (std::min(c.slice[2], c.dx[c.slice[0]]) + c.slice[3] - 1) / c.slice[3];
  lengths.erase(lengths.begin() + c.first + 1,
                lengths.begin() + c.first + c.count);
  lengths[c.first] = c.positions;
  return lengths;
}

/// Adds each element of dy to where its indices lead. All tensors are packed.
static void addUp(const Case &c, const Ints &dyLengths,
                  const std::vector<double> &dy,
                  const std::vector<std::vector<double>> &indices,
                  std::vector<double> &dx) {
  Ints at(dyLengths.size());
  for (const double value : dy) {
    Ints to;
    bool isInside = true;
    for (int dim = 0; dim < static_cast<int>(at.size()); ++dim) {
      if (dim != c.first) {
        const bool isSliced =
            !c.slice.empty() && c.slice[0] == static_cast<int>(to.size());
        to.push_back(isSliced ? at[dim] * c.slice[3] : at[dim]);
        continue;
      }
      for (int i = 0; i < c.count; ++i) {
        const int length = c.dx[c.first + i];
        int index = static_cast<int>(indices[i][at[dim]]);
        index += index < 0 ? length : 0;
        isInside &= index >= 0 && index < length;
        to.push_back(index);
      }
    }
    if (isInside) {
      int64_t offset = 0;
      for (size_t dim = 0; dim < to.size(); ++dim)
        offset = offset * c.dx[dim] + to[dim];
      dx[offset] += value;
    }
    for (size_t dim = at.size(); dim-- > 0 && ++at[dim] == dyLengths[dim];)
      at[dim] = 0;
  }
}

static const Case kCases[] = {
    {miopenFloat, miopenInt32, {34, 4}, 0, 1, 16},
    {miopenHalf, miopenInt64, {3, 9, 10}, 1, 1, 23},
    {miopenBFloat16, miopenInt32, {5, 4, 6}, 0, 2, 19},
    {miopenDouble, miopenInt64, {3, 4, 2, 7}, 0, 3, 31},
    {miopenFloat, miopenInt32, {300}, 0, 1, 257},
    {miopenHalf, miopenInt32, {6, 5, 8}, 0, 1, 4, {2, 0, 7, 3}},
    {miopenFloat, miopenInt32, {2, 3, 5, 4}, 2, 2, 40},
};

// Random indices of both signs, each of which is drawn several times, and some
// outside, whose errors are reported.
TEST_F(ApiGetitem, AddsWhatIndicesLeadTo) {
  uint64_t seed = 100;
  for (const Case &c : kCases)
    for (bool hasOutside : {false, true}) {
      const Ints dyLengths = getGradientLengths(c);
      ApiTensor dy(c.type, dyLengths), dx(c.type, c.dx),
          error(miopenInt32, {c.count});
      const std::vector<double> dyValues = setIntegers(dy, ++seed, -3, 3);
      std::vector<double> wanted = setIntegers(dx, ++seed, -3, 3);
      std::vector<double> errors = setIntegers(error, ++seed, 3, 7);
      std::vector<std::unique_ptr<ApiTensor>> indices;
      std::vector<std::vector<double>> indexValues;
      std::vector<miopenTensorDescriptor_t> descs;
      std::vector<const void *> data;
      std::vector<int32_t> dims;
      for (int i = 0; i < c.count; ++i) {
        // One index more than dy has positions.
        indices.push_back(
            std::make_unique<ApiTensor>(c.indexType, Ints{c.positions + 1}));
        const int length = c.dx[c.first + i];
        const bool isWide = hasOutside && i == c.count - 1;
        indexValues.push_back(setIntegers(*indices[i], ++seed,
                                          isWide ? -length - 2 : -length,
                                          isWide ? length + 1 : length - 1));
        for (double index : indexValues[i])
          if (index < -length || index >= length)
            errors[i] = -1;
        descs.push_back(indices[i]->getDesc());
        data.push_back(indices[i]->getData());
        dims.push_back(c.first + i);
      }
      EXPECT_EQ(errors.back() == -1, hasOutside);
      addUp(c, dyLengths, dyValues, indexValues, wanted);
      size_t bytes = 1;
      ASSERT_OK(miopenGetGetitemWorkspaceSize(handle, descs.size(),
                                              descs.data(), &bytes));
      EXPECT_EQ(bytes, 0u);
      ASSERT_OK(miopenGetitemBackward(
          handle, nullptr, 0, dy.getDesc(), dy.getData(), descs.size(),
          descs.data(), data.data(), dx.getDesc(), dx.getData(),
          error.getDesc(), error.getData(), dims.size(), dims.data(),
          c.slice.size() / 4, c.slice.data(), 0));
      EXPECT_EQ(readValues(dx), wanted) << "case " << &c - kCases;
      EXPECT_EQ(readValues(error), errors);
      EXPECT_EQ(readValues(dy), dyValues);
    }
}

// What does not fit is a mistake, what fits and has no kernel is not
// implemented; both leave memory alone.
TEST_F(ApiGetitem, Refuses) {
  ApiTensor dy(miopenFloat, {4, 3}), dx(miopenFloat, {5, 3}),
      index(miopenInt32, {4}), shorter(miopenInt32, {3}),
      square(miopenInt32, {2, 2}), error(miopenInt32, {3}),
      half(miopenHalf, {4, 3}), integer(miopenInt32, {4, 3}),
      other(miopenInt32, {5, 3});
  const std::vector<double> before = setIntegers(dx, 1, -3, 3);
  const auto run = [&](const ApiTensor &gradient, const ApiTensor &target,
                       const ApiTensor &position, std::vector<int32_t> dims,
                       std::vector<int32_t> slices = {}, uint32_t offset = 0) {
    const std::vector<miopenTensorDescriptor_t> descs(dims.size(),
                                                      position.getDesc());
    const std::vector<const void *> data(dims.size(), position.getData());
    return miopenGetitemBackward(
        handle, nullptr, 0, gradient.getDesc(), gradient.getData(),
        descs.size(), descs.data(), data.data(), target.getDesc(),
        target.getData(), error.getDesc(), error.getData(), dims.size(),
        dims.data(), slices.size() / 4, slices.data(), offset);
  };
  EXPECT_EQ(run(dy, dx, index, {}), miopenStatusBadParm);
  EXPECT_EQ(run(dy, dx, index, {2}), miopenStatusBadParm);
  EXPECT_EQ(run(dy, dx, index, {-1}), miopenStatusBadParm);
  EXPECT_EQ(run(dy, dx, index, {0, 1}), miopenStatusBadParm);
  EXPECT_EQ(run(dy, dx, shorter, {0}), miopenStatusBadParm);
  EXPECT_EQ(run(dy, dx, dy, {0}), miopenStatusBadParm);
  EXPECT_EQ(run(half, dx, index, {0}), miopenStatusBadParm);
  EXPECT_EQ(run(dy, dx, index, {0}, {1, 0, 0, 1}), miopenStatusBadParm);
  EXPECT_EQ(run(dy, dx, index, {0}, {1, 0, 3, 0}), miopenStatusBadParm);
  EXPECT_EQ(run(dy, dx, index, {0}, {1, 0, 3, 2}), miopenStatusBadParm);
  EXPECT_EQ(run(dy, dx, square, {0}), miopenStatusNotImplemented);
  EXPECT_EQ(run(integer, other, index, {0}), miopenStatusNotImplemented);
  EXPECT_EQ(run(dy, dx, index, {0}, {0, 0, 3, 1}), miopenStatusNotImplemented);
  EXPECT_EQ(run(dy, dx, index, {0}, {1, 1, 3, 1}), miopenStatusNotImplemented);
  EXPECT_EQ(run(dy, dx, index, {0}, {}, 1), miopenStatusNotImplemented);
  EXPECT_EQ(run(dy, dx, index, {1, 0}), miopenStatusNotImplemented);
  ApiTensor deep(miopenFloat, {2, 2, 2, 2, 2}), cube(miopenFloat, {2, 2, 2});
  EXPECT_EQ(run(cube, deep, index, {1, 2, 3}), miopenStatusNotImplemented);
  EXPECT_EQ(readValues(dx), before);
}
