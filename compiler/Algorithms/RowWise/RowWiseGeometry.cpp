//===- RowWiseGeometry.cpp - The shape of a row-wise operation ------------===//

#include "compiler/Algorithms/RowWise/RowWiseGeometry.h"

#include "compiler/Frontend/RowWiseFrontend.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>
#include <tuple>

using namespace mlir;
using namespace tessera;

int64_t tessera::getRowWiseFanIn(int64_t words) {
  constexpr int64_t kMaxWords = 64, kMaxFanIn = 16;
  return std::clamp<int64_t>(llvm::bit_floor(uint64_t(kMaxWords / words)), 2,
                             kMaxFanIn);
}

/// Registers of a widened element. As dnn::RowWiseOp::getWidened() says, narrow
/// types take a 32-bit register, and any f64 tensor widens all floats to f64.
static int64_t countWords(DataType type, const RowWiseProblem &problem) {
  const bool isShort = type == DataType::I8 || type == DataType::I32;
  const bool isDouble =
      llvm::any_of(problem.getTensors(), [](const RowTensor &tensor) {
        return tensor.type == DataType::F64;
      });
  return type == DataType::I64 || (isDouble && !isShort) ? 2 : 1;
}

RowWiseGeometry::RowWiseGeometry(const Problem &any)
    : isUnaligned(any.isUnaligned()) {
  const RowWiseProblem &problem = *any.getRows();
  for (int dim = 0; dim < problem.rank; ++dim) {
    lengths.push_back(problem.lengths[dim]);
    reduced.push_back(problem.isReduced(dim));
  }
  for (const RowTensor &tensor : problem.getTensors()) {
    RowWiseTensor &added =
        tensors.emplace_back(RowWiseTensor{tensor.role,
                                           getByteSize(tensor.type),
                                           countWords(tensor.type, problem),
                                           {}});
    for (int dim = 0; dim < problem.rank; ++dim)
      added.strides.push_back(lengths[dim] == 1 ? 0 : tensor.strides[dim]);
  }
  for (ArrayRef<dnn::ReduceKind> kinds : getReductions(problem))
    addReduction(kinds);
  chooseVectorDim();
  findSharedDims();
}

RowWiseGeometry::RowWiseGeometry(dnn::RowWiseOp op) : lengths(op.getLengths()) {
  for (size_t i = 0; i < op.getReduces().size(); ++i)
    addReduction(op.getKindsOf(i));
  for (int dim = 0; dim < getRank(); ++dim)
    reduced.push_back(op.isReduced(dim));
  auto add = [&](OperandRange group, RowRole role) {
    for (Type operand : group.getTypes()) {
      auto type = cast<MemRefType>(operand);
      auto [strides, offset] = type.getStridesAndOffset();
      RowWiseTensor &added = tensors.emplace_back(
          RowWiseTensor{role,
                        type.getElementTypeBitWidth() / 8,
                        op.getWidened(type).getIntOrFloatBitWidth() / 32,
                        {}});
      for (auto [stride, size] : llvm::zip(strides, type.getShape()))
        added.strides.push_back(size == 1 ? 0 : stride);
    }
  };
  add(op.getInputs(), RowRole::Input);
  add(op.getRowOutputs(), RowRole::RowOutput);
  add(op.getOutputs(), RowRole::Output);
  chooseVectorDim();
  findSharedDims();
}

void RowWiseGeometry::addReduction(ArrayRef<dnn::ReduceKind> kinds) {
  int64_t words = 0;
  for (dnn::ReduceKind kind : kinds) {
    const bool isPlain = kind != dnn::ReduceKind::Moments &&
                         kind != dnn::ReduceKind::ArgMax &&
                         kind != dnn::ReduceKind::ArgMin;
    words += isPlain ? 1 : 2;
    hasPlainFolds &= isPlain;
  }
  reductions.push_back(words);
}

/// Whether a tensor has an element for each element of the space.
bool RowWiseGeometry::isFull(const RowWiseTensor &tensor) const {
  for (int dim = 0; dim < getRank(); ++dim)
    if (lengths[dim] != 1 && tensor.strides[dim] == 0)
      return false;
  return true;
}

int64_t RowWiseGeometry::countElements(const RowWiseTensor &tensor) const {
  int64_t elements = 1;
  for (int dim = 0; dim < getRank(); ++dim)
    if (tensor.strides[dim] != 0 && !ShapedType::isDynamic(lengths[dim]))
      elements *= lengths[dim];
  return elements;
}

bool RowWiseGeometry::isOnePerRow(const RowWiseTensor &tensor) const {
  for (int dim = 0; dim < getRank(); ++dim)
    if (reduced[dim] && tensor.strides[dim] != 0)
      return false;
  return true;
}

/// Chooses the dimension along which most bytes are contiguous. Only tensors
/// with an element for each element of the space count, if there are any;
/// otherwise tensors count by their sizes.
void RowWiseGeometry::chooseVectorDim() {
  using Score = std::tuple<int64_t, int64_t, int64_t>;
  Score best{-1, 0, 0};
  const bool hasFull =
      llvm::any_of(tensors, [&](const RowWiseTensor &t) { return isFull(t); });
  for (int dim = 0; dim < getRank(); ++dim) {
    int64_t bytes = 0, distance = 0;
    for (const RowWiseTensor &tensor : tensors) {
      if (hasFull && !isFull(tensor))
        continue;
      if (tensor.strides[dim] == 1)
        bytes += tensor.elementBytes * (hasFull ? 1 : countElements(tensor));
      distance += tensor.strides[dim];
    }
    if (lengths[dim] == 1)
      distance = std::numeric_limits<int64_t>::max();
    Score score{bytes, -distance, dim};
    if (score > best || dim == 0) {
      best = score;
      vectorDim = dim;
    }
  }
}

/// A row that is a unit of a sequence shares the weights with other sequences
/// and the state with other units.
void RowWiseGeometry::findSharedDims() {
  if (!isVectorInRow() || !hasPlainFolds || reductions.size() != 1 ||
      llvm::any_of(tensors, [&](const RowWiseTensor &t) { return isFull(t); }))
    return;
  SmallVector<std::pair<int64_t, int>> found; // Shared bytes, negated.
  for (int dim = 0; dim < getRank(); ++dim) {
    if (reduced[dim] || lengths[dim] == 1 ||
        ShapedType::isDynamic(lengths[dim]))
      continue;
    int64_t shared = 0;
    for (const RowWiseTensor &tensor : tensors)
      if (!isOnePerRow(tensor) && tensor.strides[dim] == 0)
        shared += tensor.elementBytes;
    if (shared > 0)
      found.push_back({-shared, dim});
  }
  llvm::sort(found);
  for (auto [bytes, dim] : ArrayRef(found).take_front(2))
    sharedDims.push_back(dim);
}

int64_t RowWiseGeometry::countSums() const {
  return std::accumulate(reductions.begin(), reductions.end(), int64_t(0));
}

int64_t RowWiseGeometry::getElements() const {
  return getRows() * getRowLength();
}

int64_t RowWiseGeometry::getRows() const {
  int64_t rows = 1;
  for (int dim = 0; dim < getRank(); ++dim)
    rows *= reduced[dim] ? 1 : lengths[dim];
  return rows;
}

int64_t RowWiseGeometry::getRowLength() const {
  int64_t elements = 1;
  for (int dim = 0; dim < getRank(); ++dim)
    elements *= reduced[dim] ? lengths[dim] : 1;
  return elements;
}

int64_t RowWiseGeometry::getBlocksOfRow(int64_t vector) const {
  return isVectorInRow() ? getRowLength() / vector : getRowLength();
}

int64_t RowWiseGeometry::getRowBlocks(int64_t vector) const {
  return isVectorInRow() ? getRows() : getRows() / vector;
}

/// The limit leaves enough registers to the rest of a kernel with a large
/// workgroup.
bool RowWiseGeometry::isKept(int64_t vector, int64_t step) const {
  constexpr int64_t kMaxWords = 32, kMaxIterations = 16;
  const int64_t iterations =
      llvm::divideCeilSigned(getBlocksOfRow(vector), step);
  int64_t words = 0;
  for (const RowWiseTensor &tensor : tensors)
    if (tensor.role == RowRole::Input && !isOnePerRow(tensor))
      words += tensor.words;
  return iterations <= kMaxIterations &&
         iterations * words * vector <= kMaxWords;
}

int64_t RowWiseGeometry::getWidestVector() const {
  constexpr int64_t kAccessBytes = 16, kMaxVector = 8;
  auto getWidth = [&](const RowWiseTensor &tensor) {
    int64_t width = 1;
    if (tensor.strides[vectorDim] != 1)
      return width;
    auto divides = [&](int64_t step) {
      if (lengths[vectorDim] == kUnknownSize || lengths[vectorDim] % step != 0)
        return false;
      for (int dim = 0; dim < getRank(); ++dim)
        if (dim != vectorDim && tensor.strides[dim] % step != 0)
          return false;
      return true;
    };
    while (width < kMaxVector && width * tensor.elementBytes < kAccessBytes &&
           divides(2 * width))
      width *= 2;
    return width;
  };
  int64_t widest = 1;
  for (const RowWiseTensor &tensor : tensors)
    widest = std::max(widest, getWidth(tensor));
  return widest;
}

double RowWiseGeometry::getBytesOfElements() const {
  double bytes = 0;
  for (const RowWiseTensor &tensor : tensors)
    if (isFull(tensor))
      bytes += static_cast<double>(tensor.elementBytes);
  return bytes * static_cast<double>(getElements());
}

double RowWiseGeometry::getInputBytesOfElements() const {
  double bytes = 0;
  for (const RowWiseTensor &tensor : tensors)
    if (isFull(tensor) && tensor.role == RowRole::Input)
      bytes += static_cast<double>(tensor.elementBytes);
  return bytes * static_cast<double>(getElements());
}

double RowWiseGeometry::getSmallBytes() const {
  double all = 0;
  for (const RowWiseTensor &tensor : tensors) {
    if (!isFull(tensor))
      all += static_cast<double>(tensor.elementBytes * countElements(tensor));
  }
  return all;
}
