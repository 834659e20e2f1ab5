//===- PoolCase.h - A pooling with data and a check -------------*- C++ -*-===//
//
// What a test, tuner or tool needs to run a pooling and check its result:
// inputs to copy to a device, poisoned outputs, and a comparison with the
// reference. The data have few distinct numbers, so that maxima tie, and
// optionally NaNs and infinities.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_REFERENCE_POOLCASE_H
#define TESSERA_RUNTIME_REFERENCE_POOLCASE_H

#include "dialect/Reference/Random.h"
#include "dialect/Reference/TestData.h"
#include "runtime/Reference/ReferencePool.h"

#include <limits>
#include <string>

namespace tessera {

/// The kinds of data.
enum class PoolData {
  Ties,    ///< integers from -3 to 3
  Uniform, ///< in [-1, 1]
  /// Ties mixed with NaN, infinities, the lowest number and the least positive
  /// one.
  Specials,
};

/// Chips and compilers often flush this number to zero.
inline double getLeastSubnormal(reference::ElementType type) {
  switch (type) {
  case reference::ElementType::F16:
    return 0x1p-24;
  case reference::ElementType::BF16:
    return 0x1p-133;
  default:
    return 0x1p-149;
  }
}

/// Owns the host's copies of one problem's tensors.
class PoolCase {
public:
  /// `problem` must be valid.
  PoolCase(const PoolProblem &problem, PoolData data, uint64_t seed)
      : problem(problem), shape(getReferencePool(problem)) {
    type = getReferenceType(problem.dataType);
    xSpan = getSpan(problem.getInputStrides(), problem.getInputLengths());
    ySpan = getSpan(problem.getOutputStrides(), problem.getOutputLengths());
    const bool isForward = problem.direction == Direction::Forward;
    x = isForward ? makeElements(xSpan, data, seed)
                  : reference::makePoison(type, xSpan);
    y = isForward ? reference::makePoison(type, ySpan)
                  : makeElements(ySpan, data, seed);
    const int64_t outputs = problem.getOutputLengths().getElements();
    indices.assign(outputs * getByteSize(problem.indexType), '\xff');
    if (!isForward && !indices.empty())
      fillIndices(seed);
  }

  /// Returns what is wrong with the result, or an empty string. Checks about
  /// `sample` elements, or all of them if it is 0.
  std::string check(int64_t sample, uint64_t seed) const {
    const reference::Sizes sizes = problem.direction == Direction::Forward
                                       ? shape.getOutputSizes()
                                       : shape.getInputSizes();
    std::vector<int64_t> elements;
    if (sample)
      elements = reference::sampleElements(sizes, sample, seed);
    if (problem.direction == Direction::Forward)
      return checkForward(
          reference::poolForward(shape, getX(), std::move(elements)));
    return compareWith(reference::poolBackward(shape, getY(), getIndices(),
                                               std::move(elements)),
                       getX());
  }

  /// Checks all elements against values that were computed elsewhere, in the
  /// order of flat indices.
  std::string check(std::vector<double> values, std::vector<double> magnitudes,
                    std::vector<uint64_t> maxima) const {
    const bool isForward = problem.direction == Direction::Forward;
    reference::PoolOutputs expected;
    expected.y.sizes =
        isForward ? shape.getOutputSizes() : shape.getInputSizes();
    expected.y.values = std::move(values);
    expected.y.magnitudes = std::move(magnitudes);
    expected.y.reductionLength =
        isForward ? shape.getWindowSize() : shape.getBackwardLength();
    expected.y.mayBeNonFinite = true;
    expected.indices = std::move(maxima);
    return isForward ? checkForward(expected) : compareWith(expected.y, getX());
  }

  std::vector<char> x;
  std::vector<char> y;
  std::vector<char> indices;

private:
  std::vector<char> makeElements(int64_t count, PoolData data, uint64_t seed) {
    auto elements =
        makeData(type, count,
                 data == PoolData::Uniform ? reference::DataKind::Uniform
                                           : reference::DataKind::Integer,
                 seed);
    const double specials[] = {std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity(),
                               reference::getLowest(type),
                               getLeastSubnormal(type)};
    if (data == PoolData::Specials)
      for (int64_t i = 0; i < count; ++i)
        if (uint64_t bits = reference::getRandomBits(~seed, i); bits % 3 == 0)
          storeElement(type, elements.data(), i, specials[(bits >> 20) % 5]);
    return elements;
  }

  /// Fills in the indices of a forward pass over random data, and some that do
  /// not name any element.
  void fillIndices(uint64_t seed) {
    const std::vector<char> input =
        makeElements(xSpan, PoolData::Specials, seed + 1);
    const reference::PoolOutputs forward = reference::poolForward(
        shape,
        {type, input.data(), getReferenceStrides(problem.getInputStrides())});
    const reference::IndexView view = getIndices();
    reference::Coord at;
    const reference::Sizes sizes = shape.getOutputSizes();
    for (size_t i = 0; i < forward.indices.size(); ++i, sizes.advance(at)) {
      const uint64_t bits = reference::getRandomBits(seed + 2, i);
      reference::storeIndex(view.byteSize, indices.data(),
                            view.strides.getOffset(at),
                            bits % 16 ? forward.indices[i] : bits >> 8);
    }
  }

  std::string checkForward(const reference::PoolOutputs &expected) const {
    std::string fault = compareWith(expected.y, getY());
    if (!fault.empty() || problem.indexType == IndexType::None)
      return fault;
    const reference::IndexView view = getIndices();
    for (size_t i = 0; i < expected.indices.size(); ++i) {
      const reference::Coord at = expected.y.sizes.getCoord(
          expected.y.indices.empty() ? i : expected.y.indices[i]);
      if (uint64_t found = view.load(at); found != expected.indices[i])
        return "index at n=" + std::to_string(at.outer) +
               " c=" + std::to_string(at.channel) +
               " d=" + std::to_string(at.depth) +
               " h=" + std::to_string(at.row) +
               " w=" + std::to_string(at.column) + " is " +
               std::to_string(found) + ", expected " +
               std::to_string(expected.indices[i]);
    }
    return {};
  }

  static std::string compareWith(const reference::Expected &expected,
                                 const reference::TensorView &actual) {
    const reference::Report report = compare(expected, actual);
    return report.passed() ? std::string() : report.toText();
  }

  reference::TensorView getX() const {
    return {type, x.data(), getReferenceStrides(problem.getInputStrides())};
  }
  reference::TensorView getY() const {
    return {type, y.data(), getReferenceStrides(problem.getOutputStrides())};
  }
  reference::IndexView getIndices() const {
    return {getByteSize(problem.indexType), indices.data(),
            getReferenceStrides(getIndexStrides(problem))};
  }

  PoolProblem problem;
  reference::PoolShape shape;
  reference::ElementType type;
  int64_t xSpan = 0;
  int64_t ySpan = 0;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_REFERENCE_POOLCASE_H
