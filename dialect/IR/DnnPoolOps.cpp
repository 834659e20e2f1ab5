//===- DnnPoolOps.cpp - Verifier and helpers of the pooling ---------------===//
//
// The verifier rejects malformed problems: passes and kernels rely on the
// constraints below without checking them again. Each check has its label from
// docs/spec/pooling.md.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/Dnn.h"
#include "dialect/IR/EnumWord.h"
#include "dialect/IR/TensorMemory.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/Support/MathExtras.h"

#include <array>
#include <limits>

using namespace mlir;
using namespace tessera::dnn;

namespace {
/// The sizes of an activation in an order that no layout changes.
struct LogicalShape {
  int64_t outer;
  int64_t channels;
  ArrayRef<int64_t> spatial;
};

/// An operand and its name in messages.
struct NamedOperand {
  StringRef name;
  MemRefType type;
};
} // namespace

static LogicalShape getLogicalShape(Value operand, Layout layout) {
  ArrayRef<int64_t> shape = cast<MemRefType>(operand.getType()).getShape();
  if (layout == Layout::NCHW)
    return {shape[0], shape[1], shape.drop_front(2)};
  return {shape[0], shape.back(), shape.drop_front().drop_back()};
}

/// Extends `values` to depth, height and width; a missing depth is `neutral`.
static std::array<int64_t, 3> getTriple(ArrayRef<int64_t> values,
                                        int64_t neutral) {
  if (values.size() == 2)
    return {neutral, values[0], values[1]};
  return {values[0], values[1], values[2]};
}

PoolDims PoolOp::getDims() {
  LogicalShape in = getLogicalShape(getX(), getXLayout());
  LogicalShape out = getLogicalShape(getY(), getYLayout());
  return {
      .n = in.outer,
      .c = in.channels,
      .in = getTriple(in.spatial, 1),
      .out = getTriple(out.spatial, 1),
      .window = getTriple(getWindow(), 1),
      .pads = getTriple(getPads(), 0),
      .padsAfter = getTriple(getPadsAfter().value_or(getPads()), 0),
      .strides = getTriple(getStrides(), 1),
  };
}

/// Forward reads x and writes the others; backward writes x only.
void PoolOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  bool isForward = getDirection() == PoolDirection::Forward;
  auto add = [&](OpOperand &operand, bool isWritten) {
    if (isWritten)
      effects.emplace_back(MemoryEffects::Write::get(), &operand,
                           SideEffects::DefaultResource::get());
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand,
                           SideEffects::DefaultResource::get());
  };
  add(getXMutable(), !isForward);
  add(getYMutable(), isForward);
  if (getIndices())
    add(getIndicesMutable()[0], isForward);
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

/// Checks pool_c4 and pool_c5, which restrict the strides of a tensor.
static LogicalResult verifyStrides(PoolOp op, NamedOperand operand) {
  if (!hasStaticPositiveStrides(operand.type)) /*pool_c4*/
    return op.emitOpError()
           << "needs static strides of at least 1 and no "
           << "offset, but " << operand.name << " is " << operand.type;
  if (!hasDistinctElements(operand.type)) /*pool_c5*/
    return op.emitOpError() << "needs elements that do not overlap, but "
                            << operand.name << " is " << operand.type;
  return success();
}

/// Checks pool_c1 to pool_c7, which hold for x and y.
static LogicalResult verifyTensors(PoolOp op) {
  NamedOperand operands[] = {{"x", op.getX().getType()},
                             {"y", op.getY().getType()}};
  for (NamedOperand operand : operands) {
    auto [name, type] = operand;
    if (type.getRank() != 4 && type.getRank() != 5) /*pool_c1*/
      return op.emitOpError() << "needs a tensor of rank 4 or 5, but " << name
                              << " has rank " << type.getRank();
    if (type.getRank() != operands[0].type.getRank()) /*pool_c2*/
      return op.emitOpError()
             << "needs one rank, but x has " << operands[0].type.getRank()
             << " and " << name << " has " << type.getRank();
    if ((!type.hasStaticShape() && !type.getLayout().isIdentity()) ||
        llvm::is_contained(type.getShape(), 0)) /*pool_c3*/
      return op.emitOpError()
             << "needs static sizes of at least 1, or unknown ones of packed "
                "images, but "
             << name << " is " << type;
    if (failed(verifyStrides(op, operand)))
      return failure();
    Type element = type.getElementType();
    if (!element.isF16() && !element.isBF16() && !element.isF32()) /*pool_c6*/
      return op.emitOpError() << "needs elements of type f16, bf16 or f32, but "
                              << name << " has " << element;
    if (element != op.getElementType()) /*pool_c7*/
      return op.emitOpError()
             << "needs one element type, but x has " << op.getElementType()
             << " and " << name << " has " << element;
  }
  return success();
}

/// Checks pool_c8 and one of pool_c9 to pool_c11, or pool_c21: there is an
/// entry for each spatial dimension, and none is less than `least`.
static LogicalResult verifyEntries(PoolOp op, StringRef name,
                                   ArrayRef<int64_t> values, int64_t least) {
  auto count = static_cast<size_t>(op.getX().getType().getRank() - 2);
  if (values.size() != count) /*pool_c8*/
    return op.emitOpError() << "needs " << count << " entries in " << name
                            << " for tensors of rank " << count + 2
                            << ", but has " << values.size();
  for (int64_t value : values)
    if (value < least)
      return op.emitOpError() << "needs " << name << " of at least " << least
                              << ", but has " << value;
  return success();
}

/// The number of window positions along one dimension, where `pads` is the
/// padding of both ends together. It is 1 if the window is larger than the
/// padded input, as in MIOpen.
static int64_t getOutputSize(int64_t in, int64_t window, int64_t pads,
                             int64_t stride) {
  if (ShapedType::isDynamic(in))
    return in;
  int64_t range = in + pads - window;
  return range < 0 ? 1 : range / stride + 1;
}

/// Checks pool_c12 to pool_c14: the sizes of x and y agree.
static LogicalResult verifySizes(PoolOp op) {
  LogicalShape in = getLogicalShape(op.getX(), op.getXLayout());
  LogicalShape out = getLogicalShape(op.getY(), op.getYLayout());
  if (in.outer != out.outer) /*pool_c12*/
    return op.emitOpError() << "needs one batch size, but x has " << in.outer
                            << " images and y has " << out.outer;
  if (in.channels != out.channels ||
      ShapedType::isDynamic(in.channels)) /*pool_c13*/
    return op.emitOpError() << "needs one number of channels, but x has "
                            << in.channels << " and y has " << out.channels;
  SmallVector<int64_t> expected;
  for (auto [size, window, pad, after, stride] :
       llvm::zip(in.spatial, op.getWindow(), op.getPads(),
                 op.getPadsAfter().value_or(op.getPads()), op.getStrides()))
    expected.push_back(getOutputSize(size, window, pad + after, stride));
  if (ArrayRef<int64_t>(expected) != out.spatial) { /*pool_c14*/
    InFlightDiagnostic diagnostic = op.emitOpError("needs an output of ");
    llvm::interleave(expected, diagnostic, "x");
    diagnostic << " for this window, but y has ";
    llvm::interleave(out.spatial, diagnostic, "x");
    return diagnostic;
  }
  return success();
}

/// Checks pool_c20. MIOpen requires the type's largest number to be greater
/// than the number of positions or pixels that are indexed.
static LogicalResult verifyIndexRange(PoolOp op, unsigned bits) {
  bool isMask = *op.getIndexMode() == IndexMode::Mask;
  ArrayRef<int64_t> numbered =
      isMask ? op.getWindow()
             : getLogicalShape(op.getX(), op.getXLayout()).spatial;
  if (ShapedType::isDynamicShape(numbered)) // Known at the launch.
    return success();
  uint64_t count = 1;
  for (int64_t size : numbered)
    count = llvm::SaturatingMultiply<uint64_t>(count, size);
  if (llvm::maxUIntN(bits) <= count) /*pool_c20*/
    return op.emitOpError()
           << "needs an index type whose largest number is greater than the "
           << count << (isMask ? " positions of the window" : " pixels of x")
           << ", but " << bits << " bits end at " << llvm::maxUIntN(bits);
  return success();
}

/// Checks pool_c15 to pool_c20, which restrict the indices.
static LogicalResult verifyIndices(PoolOp op) {
  const bool isMax =
      op.getMode() == PoolMode::Max || op.getMode() == PoolMode::MaxNan;
  if (op.getIndices() && !isMax) /*pool_c15*/
    return op.emitOpError() << "needs mode max or max_nan for indices, but has "
                            << stringifyEnum(op.getMode());
  if (!op.getIndices() && isMax &&
      op.getDirection() == PoolDirection::Backward) /*pool_c16*/
    return op.emitOpError("needs the indices of the maxima to go backward");
  if (!op.getIndices() != !op.getIndexMode()) /*pool_c17*/
    return op.emitOpError("needs an index mode with indices, and only then");
  if (!op.getIndices())
    return success();

  auto type = cast<MemRefType>(op.getIndices().getType());
  Type element = type.getElementType();
  if (!element.isSignlessInteger() ||
      !llvm::is_contained({8u, 16u, 32u, 64u},
                          element.getIntOrFloatBitWidth())) /*pool_c18*/
    return op.emitOpError()
           << "needs indices of type i8, i16, i32 or i64, but has " << element;
  if (!type.getLayout().isIdentity() ||
      type.getShape() != op.getY().getType().getShape()) /*pool_c19*/
    return op.emitOpError()
           << "needs packed indices of y's shape, but y is "
           << op.getY().getType() << " and indices are " << type;
  return verifyIndexRange(op, element.getIntOrFloatBitWidth());
}

LogicalResult PoolOp::verify() {
  if (failed(verifyTensors(*this)) ||
      failed(verifyEntries(*this, "window", getWindow(), 1)) || /*pool_c9*/
      failed(verifyEntries(*this, "pads", getPads(), 0)) ||     /*pool_c10*/
      failed(verifyEntries(*this, "strides", getStrides(), 1))) /*pool_c11*/
    return failure();
  if (getPadsAfter() && failed(verifyEntries(*this, "pads after",
                                             *getPadsAfter(), 0))) /*pool_c21*/
    return failure();
  if (failed(verifySizes(*this)))
    return failure();
  return verifyIndices(*this);
}

#define GET_OP_CLASSES
#include "dialect/IR/DnnPoolOps.cpp.inc"
