//===- DnnBoxOps.cpp - Verifiers of TMA copies and matrices ---------------===//

#include "dialect/IR/Dnn.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace mlir;
using namespace tessera::dnn;

/// Verifies what box loads and box stores have in common.
static LogicalResult verifyBox(Operation *op, MemRefType tensor,
                               ValueRange coordinates, ArrayRef<int64_t> box) {
  constexpr int64_t kMaxExtent = 256, kMaxRank = 5; // PTX ISA 8.6.
  const auto rank = static_cast<size_t>(tensor.getRank());
  if (coordinates.size() != rank || box.size() != rank || rank > kMaxRank)
    return op->emitOpError()
           << "needs a coordinate and an extent for each of 1 to " << kMaxRank
           << " dimensions, but its tensor is " << tensor;
  if (llvm::any_of(box, [](int64_t extent) {
        return extent < 1 || extent > kMaxExtent;
      }))
    return op->emitOpError() << "needs extents from 1 to " << kMaxExtent;
  if (!tensor.hasStaticShape() && !tensor.getLayout().isIdentity())
    return op->emitOpError()
           << "needs a tensor of known sizes, or a packed one, but has "
           << tensor;
  Type element = tensor.getElementType();
  if (!element.isF16() && !element.isBF16() && !element.isF32())
    return op->emitOpError()
           << "needs elements of f16, bf16 or f32, but has " << tensor;
  if (getVectorDim(tensor) < 0)
    return op->emitOpError()
           << "needs a dimension of stride 1, but has " << tensor;
  return success();
}

/// Verifies that a slot of `buffer` has as many rows as the box, or, if
/// `hasMore`, at least as many.
static LogicalResult verifySlots(Operation *op, MemRefType tensor,
                                 ArrayRef<int64_t> box, MemRefType buffer,
                                 bool hasMore) {
  const int64_t row = box[getVectorDim(tensor)];
  const int64_t rows =
      std::accumulate(box.begin(), box.end(), int64_t(1), std::multiplies<>()) /
      row;
  ArrayRef<int64_t> shape = buffer.getShape();
  if (buffer.getElementType() == tensor.getElementType() && shape.size() == 3 &&
      shape[2] == row && (shape[1] == rows || (hasMore && shape[1] > rows)))
    return success();
  return op->emitOpError() << "needs a buffer of slots, of " << rows
                           << " rows of " << row
                           << " elements of its tensor, but has " << buffer;
}

/// Verifies the limits of a swizzled copy.
static LogicalResult verifySwizzled(Operation *op, MemRefType tensor,
                                    ArrayRef<int64_t> box, MemRefType buffer) {
  if (failed(verifySlots(op, tensor, box, buffer, /*hasMore=*/false)))
    return failure();
  ArrayRef<int64_t> shape = buffer.getShape();
  if (shape[1] % 8 != 0)
    return op->emitOpError()
           << "needs boxes of whole 8 rows, but has " << shape[1];
  const int64_t bytes = shape[2] * buffer.getElementTypeBitWidth() / 8;
  if (!llvm::is_contained({16, 32, 64, 128}, bytes))
    return op->emitOpError()
           << "needs rows of 16, 32, 64 or 128 bytes, but they have " << bytes;
  return success();
}

/// Verifies the limits of a copy that is not swizzled.
static LogicalResult verifyPlain(Operation *op, MemRefType tensor,
                                 ArrayRef<int64_t> box, MemRefType buffer) {
  constexpr int64_t kPiece = 16, kSlotAlignment = 128; // PTX ISA 8.6.
  if (failed(verifySlots(op, tensor, box, buffer, /*hasMore=*/true)))
    return failure();
  const int64_t row =
      buffer.getDimSize(2) * buffer.getElementTypeBitWidth() / 8;
  if (row % kPiece != 0)
    return op->emitOpError()
           << "needs rows of whole 16 bytes, but they have " << row;
  if (row * buffer.getDimSize(1) % kSlotAlignment != 0)
    return op->emitOpError() << "needs slots of whole 128 bytes, but they have "
                             << row * buffer.getDimSize(1);
  return success();
}

LogicalResult BoxLoadOp::verify() {
  MemRefType tensor = getTensor().getType(), buffer = getBuffer().getType();
  if (failed(verifyBox(*this, tensor, getCoordinates(), getBox())))
    return failure();
  return getPlain() ? verifyPlain(*this, tensor, getBox(), buffer)
                    : verifySwizzled(*this, tensor, getBox(), buffer);
}

LogicalResult BoxStoreOp::verify() {
  MemRefType buffer = getBuffer().getType();
  if (buffer.getRank() > 0 && buffer.getDimSize(0) != 1)
    return emitOpError() << "needs a buffer of one slot, but has " << buffer;
  MemRefType tensor = getTensor().getType();
  if (failed(verifyBox(*this, tensor, getCoordinates(), getBox())))
    return failure();
  return verifySwizzled(*this, tensor, getBox(), buffer);
}

/// Verifies what loads and stores of matrices have in common.
static LogicalResult verifyMatrices(Operation *op, Type matrices,
                                    MemRefType buffer, ValueRange indices) {
  auto vector = cast<VectorType>(matrices);
  if (vector.getShape() != ArrayRef<int64_t>({4, 2}))
    return op->emitOpError()
           << "needs four matrices, of each a pair, but has " << vector;
  if (getElementTypeOrSelf(buffer.getElementType()) != vector.getElementType())
    return op->emitOpError() << "needs the element type of its buffer, but has "
                             << vector << " and " << buffer;
  if (static_cast<int64_t>(indices.size()) != buffer.getRank())
    return op->emitOpError() << "has " << indices.size()
                             << " coordinates, but its buffer is " << buffer;
  return success();
}

LogicalResult LoadMatricesOp::verify() {
  return verifyMatrices(*this, getMatrices().getType(), getBuffer().getType(),
                        getIndices());
}

LogicalResult StoreMatricesOp::verify() {
  return verifyMatrices(*this, getMatrices().getType(), getBuffer().getType(),
                        getIndices());
}

#define GET_OP_CLASSES
#include "dialect/IR/DnnBoxOps.cpp.inc"
