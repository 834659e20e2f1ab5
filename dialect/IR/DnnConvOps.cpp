//===- DnnConvOps.cpp - Verifier and helpers of the convolution -----------===//
//
// The verifier rejects malformed problems: passes and kernels rely on the
// constraints below without checking them again. Each check has its label from
// docs/spec/convolution.md.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/Dnn.h"
#include "dialect/IR/EnumWord.h"
#include "dialect/IR/TensorMemory.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

#include <algorithm>
#include <array>

using namespace mlir;
using namespace tessera::dnn;

namespace {
/// The sizes of one tensor in an order that no layout changes: an activation's
/// batch, channels, depth, height and width, or a filter's output channels,
/// input channels and spatial sizes.
struct LogicalShape {
  int64_t outer;
  int64_t channels;
  std::array<int64_t, 3> spatial; ///< Depth is 1 in rank 4.
};

/// An operand and its name in messages.
struct NamedOperand {
  StringRef name;
  MemRefType type;
};
} // namespace

static StringRef getResultName(ConvDirection direction) {
  switch (direction) {
  case ConvDirection::Forward:
    return "y";
  case ConvDirection::BackwardData:
    return "x";
  case ConvDirection::BackwardWeights:
    return "w";
  }
  llvm_unreachable("every direction has a case");
}

static LogicalShape getLogicalShape(MemRefType type, Layout layout) {
  ArrayRef<int64_t> shape = type.getShape();
  bool channelsFirst = layout == Layout::NCHW;
  LogicalShape result{
      shape[0], channelsFirst ? shape[1] : shape.back(), {1, 1, 1}};
  llvm::copy(channelsFirst ? shape.drop_front(2)
                           : shape.drop_front(1).drop_back(1),
             result.spatial.end() - (shape.size() - 2));
  return result;
}

/// Extends `values` to depth, height and width; a missing depth is `neutral`.
static std::array<int64_t, 3> getWindow(ArrayRef<int64_t> values,
                                        int64_t neutral) {
  std::array<int64_t, 3> window{neutral, neutral, neutral};
  llvm::copy(values, window.end() - values.size());
  return window;
}

static std::array<NamedOperand, 3> getNamedOperands(ConvOp op) {
  return {{{"x", op.getX().getType()},
           {"w", op.getW().getType()},
           {"y", op.getY().getType()}}};
}

ConvDims ConvOp::getDims() {
  LogicalShape in = getLogicalShape(getX().getType(), getXLayout());
  LogicalShape filter = getLogicalShape(getW().getType(), getWLayout());
  LogicalShape out = getLogicalShape(getY().getType(), getYLayout());
  auto [padD, padH, padW] = getWindow(getPads(), 0);
  auto [padAfterD, padAfterH, padAfterW] =
      getWindow(getPadsAfter().value_or(getPads()), 0);
  auto [strideD, strideH, strideW] = getWindow(getStrides(), 1);
  auto [dilationD, dilationH, dilationW] = getWindow(getDilations(), 1);
  return {
      .n = in.outer,
      .c = in.channels,
      .d = in.spatial[0],
      .h = in.spatial[1],
      .w = in.spatial[2],
      .k = filter.outer,
      .z = filter.spatial[0],
      .y = filter.spatial[1],
      .x = filter.spatial[2],
      .dOut = out.spatial[0],
      .ho = out.spatial[1],
      .wo = out.spatial[2],
      .groups = static_cast<int64_t>(getGroups()),
      .padD = padD,
      .padH = padH,
      .padW = padW,
      .padAfterD = padAfterD,
      .padAfterH = padAfterH,
      .padAfterW = padAfterW,
      .strideD = strideD,
      .strideH = strideH,
      .strideW = strideW,
      .dilationD = dilationD,
      .dilationH = dilationH,
      .dilationW = dilationW,
  };
}

Type ConvOp::getElementType() {
  Value read = getDirection() == ConvDirection::BackwardData ? getY() : getX();
  return cast<MemRefType>(read.getType()).getElementType();
}

Type ConvOp::getResultElementType() {
  return cast<MemRefType>(getResultOperand().get().getType()).getElementType();
}

Type ConvOp::getComputeType() {
  Builder b(getContext());
  return getElementType().isF64() ? b.getF64Type() : b.getF32Type();
}

OpOperand &ConvOp::getResultOperand() {
  switch (getDirection()) {
  case ConvDirection::Forward:
    return getYMutable();
  case ConvDirection::BackwardData:
    return getXMutable();
  case ConvDirection::BackwardWeights:
    return getWMutable();
  }
  llvm_unreachable("every direction has a case");
}

Layout ConvOp::getResultLayout() {
  switch (getDirection()) {
  case ConvDirection::Forward:
    return getYLayout();
  case ConvDirection::BackwardData:
    return getXLayout();
  case ConvDirection::BackwardWeights:
    return getWLayout();
  }
  llvm_unreachable("every direction has a case");
}

void ConvOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  OpOperand &result = getResultOperand();
  for (OpOperand &operand : getOperation()->getOpOperands())
    if (&operand == &result)
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Checks conv_c2 and conv_c3, which hold for every operand.
static LogicalResult verifyMemory(ConvOp op, StringRef name, MemRefType type) {
  const bool mayBeOpen = name != "w" && type.getLayout().isIdentity();
  if ((!type.hasStaticShape() && !mayBeOpen) ||
      llvm::is_contained(type.getShape(), 0)) /*conv_c2*/
    return op.emitOpError()
           << "needs static sizes of at least 1, or unknown ones of packed "
              "images, but "
           << name << " is " << type;
  if (!hasStaticPositiveStrides(type)) /*conv_c3*/
    return op.emitOpError() << "needs static strides of at least 1 and no "
                               "offset, but "
                            << name << " is " << type;
  return success();
}

/// Checks conv_c4 to conv_c6, conv_c19 and conv_c25, which restrict the element
/// types.
static LogicalResult verifyTypes(ConvOp op) {
  SmallVector<NamedOperand, 2> inputs;
  NamedOperand result;
  for (const NamedOperand &operand : getNamedOperands(op))
    if (operand.name == getResultName(op.getDirection()))
      result = operand;
    else
      inputs.push_back(operand);
  const Type type = inputs[0].type.getElementType();
  const Type other = inputs[1].type.getElementType();
  const Type written = result.type.getElementType();
  const bool isI8 = type.isInteger(8);
  const bool isF8 = isa<Float8E4M3FNUZType, Float8E5M2FNUZType,
                        Float8E4M3FNType, Float8E5M2Type>(type);
  if (!type.isF16() && !type.isBF16() && !type.isF32() && !type.isF64() &&
      !isI8 && !isF8) /*conv_c4*/
    return op.emitOpError() << "needs elements of type f16, bf16, f32, f64, i8 "
                               "or a float of 8 bits, but "
                            << inputs[0].name << " has " << type;
  if (isI8 && op.getDirection() != ConvDirection::Forward) /*conv_c6*/
    return op.emitOpError() << "needs direction forward for i8, but has "
                            << stringifyEnum(op.getDirection());
  if (other != type) /*conv_c5*/
    return op.emitOpError()
           << "needs one element type of " << inputs[0].name << " and "
           << inputs[1].name << ", but " << inputs[0].name << " has " << type
           << " and " << inputs[1].name << " has " << other;
  if (op.getTf32() && !type.isF32()) /*conv_c25*/
    return op.emitOpError()
           << "needs elements of f32 to allow tf32, but has " << type;
  const bool isWider =
      isI8 ? written.isInteger(32) || written.isF32() || written.isInteger(8)
           : isF8 && (written.isF16() || written.isBF16() || written.isF32());
  if (!isWider && (isI8 || written != type)) /*conv_c19*/
    return op.emitOpError()
           << "needs " << result.name << " of type "
           << (isI8 ? "i32, f32 or i8"
                    : "of " + inputs[0].name + " and " + inputs[1].name)
           << (isF8 ? ", f16, bf16 or f32" : "") << ", but " << inputs[0].name
           << " has " << type << " and " << result.name << " has " << written;
  return success();
}

static LogicalResult verifyTensors(ConvOp op) {
  int64_t rank = op.getX().getType().getRank();
  for (auto [name, type] : getNamedOperands(op))
    if ((type.getRank() != 4 && type.getRank() != 5) ||
        type.getRank() != rank) /*conv_c1*/
      return op.emitOpError()
             << "needs tensors of rank 4, or all of rank 5, but x has rank "
             << rank << " and " << name << " has rank " << type.getRank();
  for (auto [name, type] : getNamedOperands(op))
    if (failed(verifyMemory(op, name, type)))
      return failure();
  if (failed(verifyTypes(op)))
    return failure();
  auto result = cast<MemRefType>(op.getResultOperand().get().getType());
  if (!hasDistinctElements(result)) /*conv_c18*/
    return op.emitOpError() << "needs a result whose elements do not overlap, "
                               "but writes "
                            << result;
  return success();
}

//===----------------------------------------------------------------------===//
// Window and channels
//===----------------------------------------------------------------------===//

/// Checks conv_c7 and one of conv_c8 to conv_c10, or conv_c26: there is an
/// entry for each spatial dimension, and none is less than `least`.
static LogicalResult verifyWindow(ConvOp op, StringRef name,
                                  ArrayRef<int64_t> values, int64_t least) {
  auto needed = static_cast<size_t>(op.getNumSpatialDims());
  if (values.size() != needed) /*conv_c7*/
    return op.emitOpError()
           << "needs " << needed << " entries in " << name
           << (needed == 2 ? " (height, width)" : " (depth, height, width)")
           << ", but has " << values.size();
  for (int64_t value : values)
    if (value < least)
      return op.emitOpError() << "needs " << name << " of at least " << least
                              << ", but has " << value;
  return success();
}

/// Checks conv_c11 to conv_c16: the tensors agree about channels and batch.
static LogicalResult verifyChannels(ConvOp op) {
  ConvDims d = op.getDims();
  if (d.groups < 1) /*conv_c11*/
    return op.emitOpError() << "needs at least 1 group, but has " << d.groups;
  if (d.c % d.groups != 0) /*conv_c12*/
    return op.emitOpError()
           << "needs groups that divide the input channels, "
           << "but " << d.c << " channels are in " << d.groups << " groups";
  if (d.k % d.groups != 0) /*conv_c13*/
    return op.emitOpError()
           << "needs groups that divide the output channels, "
           << "but " << d.k << " channels are in " << d.groups << " groups";
  LogicalShape filter = getLogicalShape(op.getW().getType(), op.getWLayout());
  LogicalShape out = getLogicalShape(op.getY().getType(), op.getYLayout());
  if (filter.channels != d.c / d.groups) /*conv_c14*/
    return op.emitOpError()
           << "needs a filter with the " << d.c / d.groups
           << " input channels of one group, but w has " << filter.channels;
  if (out.outer != d.n) /*conv_c15*/
    return op.emitOpError() << "needs one batch size, but x has " << d.n
                            << " images and y has " << out.outer;
  if (out.channels != d.k) /*conv_c16*/
    return op.emitOpError()
           << "needs one output channel for each filter, but w "
           << "has " << d.k << " and y has " << out.channels;
  return success();
}

/// The number of window positions along one dimension, where `pads` is the
/// padding of both ends together. It is 1 if the window is larger than the
/// padded input, as in MIOpen; taps outside then read zero.
static int64_t getOutputSize(int64_t in, int64_t filter, int64_t pads,
                             int64_t stride, int64_t dilation) {
  if (ShapedType::isDynamic(in))
    return in;
  int64_t range = in + pads - (1 + dilation * (filter - 1));
  return range < 0 ? 1 : range / stride + 1;
}

static LogicalResult verifyOutputSize(ConvOp op) {
  ConvDims d = op.getDims();
  std::array<int64_t, 3> needed{
      getOutputSize(d.d, d.z, d.padD + d.padAfterD, d.strideD, d.dilationD),
      getOutputSize(d.h, d.y, d.padH + d.padAfterH, d.strideH, d.dilationH),
      getOutputSize(d.w, d.x, d.padW + d.padAfterW, d.strideW, d.dilationW)};
  std::array<int64_t, 3> found{d.dOut, d.ho, d.wo};
  if (needed == found) /*conv_c17*/
    return success();
  auto drop = [&](std::array<int64_t, 3> &sizes) {
    return ArrayRef<int64_t>(sizes).take_back(op.getNumSpatialDims());
  };
  InFlightDiagnostic error = op.emitOpError("needs an output of ");
  auto print = [&](int64_t size) {
    if (ShapedType::isDynamic(size))
      error << "?";
    else
      error << size;
  };
  auto printX = [&] { error << "x"; };
  llvm::interleave(drop(needed), print, printX);
  error << " for this window, but y has ";
  llvm::interleave(drop(found), print, printX);
  return error;
}

//===----------------------------------------------------------------------===//
// Epilogue
//===----------------------------------------------------------------------===//

/// Checks conv_c20 and conv_c21, and the constraints of every operand.
static LogicalResult verifyExtra(ConvOp op, unsigned index) {
  std::string name = "operand " + std::to_string(index) + " of the epilogue";
  auto type = cast<MemRefType>(op.getExtras()[index].getType());
  if (failed(verifyMemory(op, name, type)))
    return failure();
  auto result = cast<MemRefType>(op.getResultOperand().get().getType());
  int64_t channels = getLogicalShape(result, op.getResultLayout()).channels;
  bool isOnePerChannel = type.getRank() == 1 && type.getDimSize(0) == channels;
  if (!isOnePerChannel && type.getShape() != result.getShape()) /*conv_c20*/
    return op.emitOpError()
           << "needs the shape of the result, or one value for each of its "
           << channels << " channels, in " << name << ", but has " << type;
  auto element = dyn_cast<FloatType>(type.getElementType());
  const bool isFloat =
      element &&
      element.getWidth() <= op.getComputeType().getIntOrFloatBitWidth();
  const bool isByte = type.getElementType().isSignlessInteger(8) &&
                      result.getElementType() == type.getElementType();
  if (!isFloat && !isByte) /*conv_c21*/
    return op.emitOpError()
           << "needs floats of at most the width of " << op.getComputeType()
           << (result.getElementType().isInteger(8) ? ", or i8," : "") << " in "
           << name << ", but has " << type;
  return success();
}

/// Checks conv_c20 to conv_c24.
static LogicalResult verifyEpilogue(ConvOp op) {
  for (unsigned i = 0; i < op.getExtras().size(); ++i)
    if (failed(verifyExtra(op, i)))
      return failure();
  if (!op.hasEpilogue())
    return success();
  if (op.getY().getType().getElementType().isInteger(32)) /*conv_c23*/
    return op.emitOpError("needs a result of floats to have an epilogue");
  Type compute = op.getComputeType();
  Block &body = op.getEpilogue().front();
  auto isCompute = [&](Type type) { return type == compute; };
  if (body.getNumArguments() != 1 + op.getExtras().size() ||
      !llvm::all_of(body.getArgumentTypes(), isCompute) ||
      !isa_and_nonnull<YieldOp>(
          body.mightHaveTerminator() ? body.getTerminator() : nullptr) ||
      body.getTerminator()->getOperandTypes() !=
          TypeRange(compute)) /*conv_c22*/
    return op.emitOpError()
           << "needs an epilogue from " << compute
           << " for the sum and each of its operands to one " << compute;
  for (Operation &inner : body)
    if (!isMemoryEffectFree(&inner)) /*conv_c24*/
      return op.emitOpError("needs an epilogue without side effects, but it "
                            "has ")
             << inner.getName();
  return success();
}

LogicalResult ConvOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  if (getPadsAfter() && failed(verifyWindow(*this, "pads after",
                                            *getPadsAfter(), 0))) /*conv_c26*/
    return failure();
  if (failed(verifyWindow(*this, "pads", getPads(), 0)) ||         /*conv_c8*/
      failed(verifyWindow(*this, "strides", getStrides(), 1)) ||   /*conv_c9*/
      failed(verifyWindow(*this, "dilations", getDilations(), 1))) /*conv_c10*/
    return failure();
  if (failed(verifyChannels(*this)) || failed(verifyOutputSize(*this)))
    return failure();
  return verifyEpilogue(*this);
}

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

/// Whether channels of such a tensor can be summed up in f32.
static bool hasSums(MemRefType type) {
  const Type element = type.getElementType();
  return (type.getRank() == 4 || type.getRank() == 5) &&
         (element.isF16() || element.isBF16() || element.isF32());
}

LogicalResult StatisticsOp::verify() {
  MemRefType type = getTensor().getType();
  if (!hasSums(type)) /*conv_c27*/
    return emitOpError() << "needs a tensor of rank 4 or 5 with elements of "
                            "f16, bf16 or f32, but has "
                         << type;
  const auto wanted =
      MemRefType::get(getLogicalShape(type, getLayout()).channels,
                      Float32Type::get(getContext()));
  for (MemRefType result : {getMean().getType(), getVariance().getType()})
    if (result != wanted) /*conv_c28*/
      return emitOpError() << "needs results of type " << wanted << ", but has "
                           << result;
  auto conv = dyn_cast_or_null<ConvOp>((*this)->getPrevNode());
  if (!conv || conv.getDirection() != ConvDirection::Forward ||
      conv.getY() != getTensor() ||
      conv.getYLayout() != getLayout()) /*conv_c29*/
    return emitOpError("needs a forward dnn.conv right before it, whose result "
                       "and layout it names");
  return success();
}

LogicalResult NormGradientOp::verify() {
  MemRefType type = getGradient().getType();
  if (!hasSums(type)) /*conv_c30*/
    return emitOpError() << "needs a gradient of rank 4 or 5 with elements of "
                            "f16, bf16 or f32, but has "
                         << type;
  for (Value tensor : {Value(getInput()), Value(getMask())})
    if (tensor && tensor.getType() != type) /*conv_c31*/
      return emitOpError() << "needs an input and a mask of type " << type
                           << ", but has " << tensor.getType();
  const auto wanted =
      MemRefType::get(getLogicalShape(type, getLayout()).channels,
                      Float32Type::get(getContext()));
  for (Value values : {Value(getMean()), Value(getInverse()), Value(getScale()),
                       Value(getBias()), Value(getSum()), Value(getDot())})
    if (values && values.getType() != wanted) /*conv_c32*/
      return emitOpError() << "needs numbers of channels of type " << wanted
                           << ", but has " << values.getType();
  auto conv = dyn_cast_or_null<ConvOp>((*this)->getPrevNode());
  if (!conv || conv.getDirection() != ConvDirection::BackwardData ||
      conv.getX() != getGradient() ||
      conv.getXLayout() != getLayout()) /*conv_c33*/
    return emitOpError("needs a dnn.conv backward_data right before it, whose "
                       "result and layout it names");
  if (!getScale() != !getBias() || (getScale() && getMask())) /*conv_c34*/
    return emitOpError("has a scale and a bias, a mask, or none of them");
  return success();
}

#define GET_OP_CLASSES
#include "dialect/IR/DnnConvOps.cpp.inc"
