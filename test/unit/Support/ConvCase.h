//===- ConvCase.h - A convolution with data and a judge --------*- C++ -*-===//
//
// What every test that runs a kernel needs: inputs to copy to a device, a
// poisoned output, and a verdict on what came back.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_SUPPORT_CONVCASE_H
#define TESSERA_TEST_UNIT_SUPPORT_CONVCASE_H

#include "compiler/Frontend/ReferenceShape.h"
#include "dialect/Reference/TestData.h"

#include <cassert>
#include <cstring>

namespace tessera::test {

/// Owns the host's copies of one problem's tensors.
class ConvCase {
public:
  /// `problem` must be valid and of a type that the reference has.
  ConvCase(const ConvProblem &problem, reference::DataKind kind, uint64_t seed)
      : problem(problem), shape(getReferenceShape(problem)), kind(kind) {
    ErrorOr<reference::ElementType> found = getReferenceType(problem.dataType);
    assert(found && "the reference has no such type");
    type = *found;
    x = makeData(type, problem.getInputElements(), kind, 2 * seed);
    w = makeData(type, problem.getFilterElements(), kind, 2 * seed + 1);
    y = makePoison(type, problem.getOutputElements());
  }

  /// Makes every f16 and bf16 subnormal of the inputs a zero, for chips that
  /// read them as zeros (Erratum::FlushesHalfSubnormals).
  void flushSubnormals() {
    if (type == reference::ElementType::F32)
      return;
    uint16_t exponent = type == reference::ElementType::F16 ? 0x7c00 : 0x7f80;
    for (std::vector<char> *tensor : {&x, &w})
      for (size_t i = 0; i < tensor->size(); i += 2) {
        uint16_t bits;
        std::memcpy(&bits, tensor->data() + i, 2);
        if ((bits & exponent) == 0)
          std::memset(tensor->data() + i, 0, 2);
      }
  }

  /// Judges every element of `y`.
  reference::Report check() const {
    return judge(convForward(shape, getX(), getW()));
  }

  /// Judges about `count` elements of `y`, for problems that are too large.
  reference::Report checkSample(int64_t count, uint64_t seed) const {
    return judge(
        convForwardAt(shape, getX(), getW(),
                      sampleElements(shape.getOutputSizes(), count, seed)));
  }

  std::vector<char> x;
  std::vector<char> w;
  std::vector<char> y; ///< NaN until the kernel's result is copied here.

private:
  reference::TensorView getView(const std::vector<char> &data, Layout layout,
                                const reference::Sizes &sizes) const {
    return {type, data.data(), getReferenceStrides(layout, sizes)};
  }
  reference::TensorView getX() const {
    return getView(x, problem.xLayout, shape.getInputSizes());
  }
  reference::TensorView getW() const {
    return getView(w, problem.wLayout, shape.getFilterSizes());
  }
  /// Integer sums are exact, so nothing but the exact result will do.
  reference::Report judge(const reference::Expected &expected) const {
    return compare(
        expected, getView(y, problem.yLayout, shape.getOutputSizes()),
        kind == reference::DataKind::Integer ? reference::Rule::Exact
                                             : reference::Rule::Rounding);
  }

  ConvProblem problem;
  reference::ConvShape shape;
  reference::DataKind kind;
  reference::ElementType type;
};

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_SUPPORT_CONVCASE_H
