//===- RowWiseCase.cpp - A row-wise operation with data and a check -------===//

#include "runtime/Reference/RowWiseCase.h"

#include "dialect/Reference/Random.h"
#include "runtime/Reference/ReferenceShape.h"
#include "runtime/Reference/RowWiseRecipe.h"

#include <algorithm>
#include <cassert>

using namespace tessera;

/// Calls `visit` with the offset of each element of a tensor, once.
template <typename Visit>
static void visitElements(const RowWiseProblem &problem, int tensor,
                          const Visit &visit) {
  const auto &strides = problem.tensors[tensor].strides;
  std::array<int64_t, kMaxRowRank> at{};
  for (int64_t offset = 0;;) {
    visit(offset);
    int dim = problem.rank - 1;
    for (; dim >= 0; --dim) {
      if (strides[dim] == 0)
        continue;
      offset += strides[dim];
      if (++at[dim] < problem.lengths[dim])
        break;
      offset -= at[dim] * strides[dim];
      at[dim] = 0;
    }
    if (dim < 0)
      return;
  }
}

/// Maps random bits to [0, 1].
static double getFraction(uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

RowWiseCase::RowWiseCase(const RowWiseProblem &problem, uint64_t seed)
    : problem(problem) {
  const RowWiseRecipe *recipe = findRowRecipe(problem);
  assert(recipe && "the problem is in no recipe");
  for (int i = 0; i < problem.tensorCount; ++i) {
    const int64_t bytes =
        problem.getSpan(i) * getByteSize(problem.tensors[i].type);
    tensors.emplace_back(bytes, '\xff');
    const RowTensorRecipe &tensor = recipe->tensors[i];
    if (tensor.role == RowRole::Input)
      fill(i, tensor.least, tensor.most, seed + i);
  }
  for (size_t i = 0; i < recipe->scalars.size(); ++i) {
    const auto [least, most] = recipe->scalars[i];
    const double fraction = getFraction(reference::getRandomBits(~seed, i));
    // Round to f32, because a kernel may compute with the scalar in f32.
    scalars.push_back(static_cast<float>(least + fraction * (most - least)));
  }
}

void RowWiseCase::fill(int tensor, double least, double most, uint64_t seed) {
  const auto type = getReferenceType(problem.tensors[tensor].type);
  uint64_t number = 0;
  visitElements(problem, tensor, [&](int64_t offset) {
    const double fraction =
        getFraction(reference::getRandomBits(seed, number++));
    storeElement(type, tensors[tensor].data(), offset,
                 least + fraction * (most - least));
  });
}

reference::RowShape RowWiseCase::getShape() const {
  // The constants and enums of both have the same values.
  static_assert(kMaxRowRank == reference::kMaxRowRank);
  reference::RowShape shape;
  shape.operation = getName(problem.op);
  shape.mode = problem.mode;
  shape.rank = problem.rank;
  shape.lengths = problem.lengths;
  shape.reduced = problem.reduced;
  for (int i = 0; i < problem.tensorCount; ++i)
    shape.tensors.push_back(
        {getReferenceType(problem.tensors[i].type),
         static_cast<reference::RowRole>(problem.tensors[i].role),
         problem.tensors[i].strides, tensors[i].data()});
  shape.scalars = scalars;
  return shape;
}

/// Checks that the bytes between the elements of an output are unchanged.
std::string RowWiseCase::checkGaps(int tensor) const {
  const int64_t bytes = getByteSize(problem.tensors[tensor].type);
  const std::vector<char> &data = tensors[tensor];
  int64_t elements = 1;
  for (int dim = 0; dim < problem.rank; ++dim)
    if (problem.tensors[tensor].strides[dim] != 0)
      elements *= problem.lengths[dim];
  if (elements == problem.getSpan(tensor))
    return {}; // The tensor is packed.
  std::vector<bool> isElement(data.size() / bytes);
  visitElements(problem, tensor,
                [&](int64_t offset) { isElement[offset] = true; });
  for (size_t i = 0; i < isElement.size(); ++i)
    if (!isElement[i] &&
        std::any_of(data.begin() + i * bytes, data.begin() + (i + 1) * bytes,
                    [](char byte) { return byte != '\xff'; }))
      return "tensor " + std::to_string(tensor) +
             " was written where it has no element, at offset " +
             std::to_string(i);
  return {};
}

/// Returns rows with about `sample` elements: the first row, the last row and
/// random ones, sorted and without duplicates. Returns an empty list for all
/// rows.
static std::vector<int64_t> sampleRows(const reference::RowShape &shape,
                                       int64_t sample, uint64_t seed) {
  const int64_t count = shape.getRowCount();
  const int64_t wanted = std::max<int64_t>(sample / shape.getRowLength(), 2);
  if (sample == 0 || wanted >= count)
    return {};
  std::vector<int64_t> rows{0, count - 1};
  for (int64_t i = 2; i < wanted; ++i)
    rows.push_back(static_cast<int64_t>(reference::getRandomBits(seed, i) %
                                        static_cast<uint64_t>(count)));
  std::ranges::sort(rows);
  rows.erase(std::ranges::unique(rows).begin(), rows.end());
  return rows;
}

std::string RowWiseCase::check(int64_t sample, uint64_t seed) const {
  const reference::RowShape shape = getShape();
  if (!reference::findRowEvaluator(shape.operation))
    return "the reference has no " + std::string(shape.operation);
  const std::vector<int64_t> rows = sampleRows(shape, sample, seed);
  std::string fault =
      compareRows(shape, reference::evaluateRows(shape, rows), rows);
  for (int i = 0; i < problem.tensorCount && fault.empty(); ++i)
    if (problem.tensors[i].role != RowRole::Input)
      fault = checkGaps(i);
  return fault;
}
