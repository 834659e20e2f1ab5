//===- RowWiseProblem.cpp - Rules and canonical form of row problems ------===//

#include "runtime/Base/RowWiseProblem.h"
#include "runtime/Base/ProblemChecks.h"
#include "runtime/Base/RowWiseKind.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

using namespace tessera;

int64_t RowWiseProblem::getElements() const {
  int64_t elements = 1;
  for (int dim = 0; dim < rank; ++dim)
    elements *= lengths[dim];
  return elements;
}

int64_t RowWiseProblem::getRowLength() const {
  int64_t elements = 1;
  for (int dim = 0; dim < rank; ++dim)
    elements *= isReduced(dim) ? lengths[dim] : 1;
  return elements;
}

int64_t RowWiseProblem::getSpan(int tensor) const {
  int64_t span = 1;
  for (int dim = 0; dim < rank; ++dim)
    span += (lengths[dim] - 1) * tensors[tensor].strides[dim];
  return span;
}

bool tessera::numbersElements(const RowWiseProblem &problem) {
  switch (problem.op) {
  case RowWiseKind::Number:
  case RowWiseKind::Dropout:
  case RowWiseKind::KthFind:
  case RowWiseKind::MultiMargin:
    return true;
  case RowWiseKind::Reduce:
    return problem.mode & 0x50; // With the indices of extremes.
  default:
    return false;
  }
}

bool tessera::hasSteps(const RowWiseProblem &problem) {
  switch (problem.op) {
  case RowWiseKind::RnnStep:
  case RowWiseKind::RnnStepBackward:
  case RowWiseKind::LstmStep:
  case RowWiseKind::LstmStepBackward:
  case RowWiseKind::GruStep:
  case RowWiseKind::GruStepBackward:
    return problem.mode & kAllSteps;
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static std::string getText(int number) { return std::to_string(number); }

static Status verifySpace(const RowWiseProblem &p) {
  if (p.rank < 1 || p.rank > kMaxRowRank)
    return invalidArgument("the space has " + getText(p.rank) +
                           " dimensions, but must have between 1 and " +
                           getText(kMaxRowRank));
  int64_t elements = 1;
  for (int dim = 0; dim < p.rank; ++dim) {
    const std::string name = "length " + getText(dim) + " of the space";
    Status status = verifyLengths(1, {{name.c_str(), p.lengths[dim]}});
    if (!status.isOk())
      return status;
    if (__builtin_mul_overflow(elements, p.lengths[dim], &elements))
      return invalidArgument("the space has more elements than 64 bits can "
                             "count");
  }
  if (hasSteps(p) && (p.rank != 4 || p.reduced != 1u << 3))
    return invalidArgument("steps of a recurrent network need a space of "
                           "steps, sequences, units and elements, of which the "
                           "last are reduced");
  if (p.reduced >> p.rank)
    return invalidArgument("a dimension is reduced that the space lacks");
  if (p.getRowLength() > INT32_MAX)
    return invalidArgument("a row has " + std::to_string(p.getRowLength()) +
                           " elements, but may have " +
                           std::to_string(INT32_MAX));
  return Status::ok();
}

/// The dimensions along which a tensor should have separate elements.
static std::vector<StridedDim> getOwnDims(const RowWiseProblem &p,
                                          const RowTensor &tensor) {
  std::vector<StridedDim> dims;
  // Where nothing lies between steps, the last one's elements remain.
  const bool keepsLast = hasSteps(p) && tensor.strides[0] == 0;
  for (int dim = keepsLast ? 1 : 0; dim < p.rank; ++dim)
    if (!(tensor.role == RowRole::RowOutput && p.isReduced(dim)))
      dims.push_back({p.lengths[dim], tensor.strides[dim]});
  return dims;
}

static Status verifyRowTensor(const RowWiseProblem &p, int number) {
  const RowTensor &tensor = p.tensors[number];
  const std::string name = "tensor " + getText(number);
  int64_t span = 1;
  for (int dim = 0; dim < p.rank; ++dim) {
    const int64_t stride = tensor.strides[dim];
    if (stride < 0)
      return invalidArgument("a stride of " + name + " is " +
                             std::to_string(stride) +
                             ", but must not be "
                             "negative");
    if (tensor.role == RowRole::RowOutput && p.isReduced(dim) && stride != 0)
      return invalidArgument(name +
                             " has one element a row, but a stride in "
                             "reduced dimension " +
                             getText(dim));
    int64_t reach;
    if (__builtin_mul_overflow(p.lengths[dim] - 1, stride, &reach) ||
        __builtin_add_overflow(span, reach, &span))
      return invalidArgument(name + " has more bytes than 64 bits can count");
  }
  if (__builtin_mul_overflow(span, getByteSize(tensor.type), &span))
    return invalidArgument(name + " has more bytes than 64 bits can count");
  std::vector<StridedDim> dims = getOwnDims(p, tensor);
  if (tensor.role != RowRole::Input && hasOverlap(dims))
    return invalidArgument("the strides of " + name +
                           " put two of its elements at one address, but it is "
                           "written");
  return Status::ok();
}

Status RowWiseProblem::verify() const {
  Status status = verifySpace(*this);
  if (!status.isOk())
    return status;
  if (tensorCount < 1 || tensorCount > kMaxTensors)
    return invalidArgument("there are " + getText(tensorCount) +
                           " tensors, but must be between 1 and " +
                           getText(kMaxTensors));
  if (!std::ranges::is_sorted(getTensors(), {}, &RowTensor::role))
    return invalidArgument("tensors must be in the order inputs, row outputs, "
                           "outputs");
  if (getTensors().back().role == RowRole::Input)
    return invalidArgument("no tensor is written");
  for (int tensor = 0; tensor < tensorCount && status.isOk(); ++tensor)
    status = verifyRowTensor(*this, tensor);
  return status;
}

//===----------------------------------------------------------------------===//
// Canonical form
//===----------------------------------------------------------------------===//

namespace {
/// One dimension of the space, with the stride of each tensor.
struct Dim {
  int64_t length = 1;
  bool isReduced = false;
  std::array<int64_t, kMaxTensors> strides{};

  bool isBroadcast(int tensor) const { return strides[tensor] == 0; }
};
} // namespace

/// The dimensions of the space without those of length 1, except that an
/// operation with reduced dimensions keeps one of them: its rows then have one
/// element.
static std::vector<Dim> getDims(const RowWiseProblem &p) {
  std::vector<Dim> dims;
  for (int dim = 0; dim < p.rank; ++dim) {
    if (p.lengths[dim] == 1)
      continue;
    Dim &added = dims.emplace_back();
    added.length = p.lengths[dim];
    added.isReduced = p.isReduced(dim);
    for (int tensor = 0; tensor < p.tensorCount; ++tensor)
      added.strides[tensor] = p.tensors[tensor].strides[dim];
  }
  if (p.reduced && std::ranges::none_of(dims, &Dim::isReduced))
    dims.emplace_back().isReduced = true;
  if (dims.empty())
    dims.emplace_back();
  return dims;
}

/// The first of the tensors with the most elements.
static int getLargest(const std::vector<Dim> &dims, int tensorCount) {
  int largest = 0;
  int64_t most = 0;
  for (int tensor = 0; tensor < tensorCount; ++tensor) {
    int64_t elements = 1;
    for (const Dim &dim : dims)
      elements *= dim.isBroadcast(tensor) ? 1 : dim.length;
    if (elements > most) {
      most = elements;
      largest = tensor;
    }
  }
  return largest;
}

/// Sorts from the largest stride to the smallest; where the largest tensor has
/// stride 0, the other tensors decide.
static void sortByStrides(std::vector<Dim> &dims, int tensorCount) {
  const int largest = getLargest(dims, tensorCount);
  auto getRank = [&](const Dim &dim) {
    return std::tuple(dim.strides[largest], dim.strides, dim.length,
                      dim.isReduced);
  };
  std::ranges::sort(dims, std::ranges::greater(), getRank);
}

static bool canMerge(const Dim &outer, const Dim &inner) {
  // No kernel supports a longer dimension.
  constexpr int64_t kMostMerged = (int64_t(1) << 30) - 1;
  if (outer.isReduced != inner.isReduced ||
      outer.length > kMostMerged / inner.length)
    return false;
  // The product is unsigned, because two elements may be 2^62 apart, and twice
  // that distance would overflow a signed number.
  auto isBehind = [&](int tensor) {
    return static_cast<uint64_t>(outer.strides[tensor]) ==
           static_cast<uint64_t>(inner.strides[tensor]) *
               static_cast<uint64_t>(inner.length);
  };
  for (int tensor = 0; tensor < kMaxTensors; ++tensor)
    if (!isBehind(tensor))
      return false;
  return true;
}

static void mergeNeighbours(std::vector<Dim> &dims) {
  for (size_t i = dims.size() - 1; i > 0; --i)
    if (canMerge(dims[i - 1], dims[i])) {
      dims[i - 1].length *= dims[i].length;
      dims[i - 1].strides = dims[i].strides;
      dims.erase(dims.begin() + static_cast<ptrdiff_t>(i));
    }
}

RowWiseProblem RowWiseProblem::canonicalize() const {
  if (hasSteps(*this)) // Each dimension has a meaning.
    return *this;
  std::vector<Dim> dims = getDims(*this);
  if (!numbersElements(*this))
    sortByStrides(dims, tensorCount);
  mergeNeighbours(dims);
  RowWiseProblem result = *this;
  result.rank = static_cast<int>(dims.size());
  result.lengths = RowWiseProblem().lengths;
  result.reduced = 0;
  for (int tensor = 0; tensor < tensorCount; ++tensor)
    result.tensors[tensor].strides = {};
  for (int dim = 0; dim < result.rank; ++dim) {
    result.lengths[dim] = dims[dim].length;
    result.reduced |= static_cast<uint32_t>(dims[dim].isReduced) << dim;
    for (int tensor = 0; tensor < tensorCount; ++tensor)
      result.tensors[tensor].strides[dim] = dims[dim].strides[tensor];
  }
  return result;
}
