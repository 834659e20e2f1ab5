//===- DnnPointOps.cpp - Verifiers of the ops of point programs -----------===//

#include "dialect/IR/Dnn.h"
#include "dialect/IR/TensorMemory.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include <limits>

using namespace mlir;
using namespace tessera::dnn;

/// Coordinates are computed in 32 bits. Half of the range is left for those of
/// windows that extend beyond the tensor.
static constexpr int64_t kMaxSize = std::numeric_limits<int32_t>::max() / 2;

LogicalResult ForEachPointOp::verify() {
  constexpr uint64_t kMaxThreads = 1024;
  if (getSizes().empty() || !llvm::all_of(getSizes(), [](int64_t size) {
        return ShapedType::isDynamic(size) || (size > 0 && size <= kMaxSize);
      }))
    return emitOpError() << "needs sizes from 1 to " << kMaxSize;
  if (llvm::count_if(getSizes(), ShapedType::isDynamic) !=
      static_cast<int64_t>(getOpenSizes().size()))
    return emitOpError("needs one value for each size that is no constant");
  if (getThreads() < 1 || getThreads() > kMaxThreads)
    return emitOpError() << "needs 1 to " << kMaxThreads << " threads, but has "
                         << getThreads();
  if (getBody().getNumArguments() != getSizes().size() ||
      !llvm::all_of(getBody().getArgumentTypes(), llvm::IsaPred<IndexType>))
    return emitOpError("needs one index argument for each size");
  return success();
}

int64_t tessera::dnn::getVectorDim(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return -1;
  int64_t found = -1;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (strides[dim] == 1 && (found < 0 || type.getDimSize(dim) != 1))
      found = dim;
  return found;
}

/// Verifies that strides and offset are static, or those of a packed tensor,
/// and that coordinates fit 32 bits.
static LogicalResult verifyMemory(Operation *op, MemRefType type) {
  if (llvm::is_contained(type.getShape(), 0) ||
      llvm::any_of(type.getShape(),
                   [](int64_t size) { return size > kMaxSize; }))
    return op->emitOpError()
           << "needs sizes from 1 to " << kMaxSize << ", but has " << type;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset) ||
      (ShapedType::isDynamicShape(strides) && !type.getLayout().isIdentity()))
    return op->emitOpError()
           << "needs a memref of known strides and offset, but has " << type;
  if (llvm::any_of(getKnownStrides(type),
                   [](int64_t stride) { return stride < 0; }) ||
      offset < 0)
    return op->emitOpError()
           << "needs strides and an offset of at least 0, but has " << type;
  return success();
}

static LogicalResult verifyVector(Operation *op, VectorType vector,
                                  MemRefType type) {
  int64_t width = vector.getNumElements();
  if (!llvm::isPowerOf2_64(width))
    return op->emitOpError() << "needs a vector whose length is a power of "
                                "two, but has "
                             << vector;
  int64_t dim = getVectorDim(type);
  if (dim < 0)
    return op->emitOpError()
           << "needs a dimension of stride 1 to be a vector, but has " << type;
  if (type.isDynamicDim(dim) && width > 1)
    return op->emitOpError() << "needs dimension " << dim
                             << ", along which the elements of its vector are, "
                                "to have a known size, but has "
                             << type;
  if (!type.isDynamicDim(dim) && type.getDimSize(dim) % width != 0)
    return op->emitOpError() << "needs a length that divides dimension " << dim
                             << ", along which its elements are, but has "
                             << vector << " and " << type;
  SmallVector<int64_t> steps = getKnownStrides(type);
  steps[dim] = type.getStridesAndOffset().second;
  if (llvm::any_of(steps, [&](int64_t step) { return step % width != 0; }))
    return op->emitOpError()
           << "needs strides that the length of its vector divides, but has "
           << vector << " and " << type;
  return success();
}

/// Verifies what loads and stores have in common.
static LogicalResult verifyAccess(Operation *op, Type value, MemRefType type,
                                  ValueRange coordinates,
                                  std::optional<ArrayRef<int64_t>> inside) {
  auto rank = static_cast<size_t>(type.getRank());
  if (coordinates.size() != rank)
    return op->emitOpError() << "has " << coordinates.size()
                             << " coordinates, but its tensor is " << type;
  if (getElementTypeOrSelf(value) != type.getElementType())
    return op->emitOpError()
           << "has a value of " << value << ", but its tensor is " << type;
  for (int64_t dim : inside.value_or(ArrayRef<int64_t>()))
    if (dim < 0 || dim >= type.getRank())
      return op->emitOpError() << "has no dimension " << dim << " to be inside";
  if (failed(verifyMemory(op, type)))
    return failure();
  if (auto vector = dyn_cast<VectorType>(value))
    return verifyVector(op, vector, type);
  return success();
}

LogicalResult PointLoadOp::verify() {
  return verifyAccess(*this, getValue().getType(), getSource().getType(),
                      getCoordinates(), getInside());
}

LogicalResult PointStoreOp::verify() {
  return verifyAccess(*this, getValue().getType(), getTarget().getType(),
                      getCoordinates(), getInside());
}

#define GET_OP_CLASSES
#include "dialect/IR/DnnPointOps.cpp.inc"
