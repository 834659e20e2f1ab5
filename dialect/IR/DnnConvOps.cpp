//===- DnnConvOps.cpp - Verifier and helpers of the convolution -----------===//
//
// The verifier is where a malformed problem is stopped: everything after it
// (frontend, passes, kernels) relies on the constraints below without checking
// them again. Each check carries its label from docs/spec/convolution.md.
//
//===----------------------------------------------------------------------===//

#include "dialect/IR/Dnn.h"
#include "dialect/IR/EnumWord.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

#include <algorithm>
#include <array>

using namespace mlir;
using namespace tessera::dnn;

namespace {
/// The sizes of one tensor by meaning: an activation's batch, channels, height
/// and width, or a filter's output and input channels, height and width.
struct LogicalShape {
  int64_t outer;
  int64_t channels;
  int64_t height;
  int64_t width;
};

/// An operand with the name that messages call it by.
struct NamedOperand {
  StringRef name;
  MemRefType type;
};
} // namespace

static LogicalShape getLogicalShape(Value operand, Layout layout) {
  ArrayRef<int64_t> shape = cast<MemRefType>(operand.getType()).getShape();
  if (layout == Layout::NCHW)
    return {shape[0], shape[1], shape[2], shape[3]};
  return {shape[0], shape[3], shape[1], shape[2]};
}

static std::array<NamedOperand, 3> getNamedOperands(ConvOp op) {
  return {{{"x", op.getX().getType()},
           {"w", op.getW().getType()},
           {"y", op.getY().getType()}}};
}

ConvDims ConvOp::getDims() {
  LogicalShape in = getLogicalShape(getX(), getXLayout());
  LogicalShape filter = getLogicalShape(getW(), getWLayout());
  LogicalShape out = getLogicalShape(getY(), getYLayout());
  return {
      .n = in.outer,
      .c = in.channels,
      .h = in.height,
      .w = in.width,
      .k = filter.outer,
      .y = filter.height,
      .x = filter.width,
      .ho = out.height,
      .wo = out.width,
      .groups = static_cast<int64_t>(getGroups()),
      .padH = getPads()[0],
      .padW = getPads()[1],
      .strideH = getStrides()[0],
      .strideW = getStrides()[1],
      .dilationH = getDilations()[0],
      .dilationW = getDilations()[1],
  };
}

/// conv_c1 to conv_c5: each tensor by itself, and their one element type.
static LogicalResult verifyTensors(ConvOp op) {
  for (auto [name, type] : getNamedOperands(op)) {
    if (type.getRank() != 4) /*conv_c1*/
      return op.emitOpError() << "needs a tensor of rank 4, but " << name
                              << " has rank " << type.getRank();
    if (!type.hasStaticShape() ||
        llvm::is_contained(type.getShape(), 0)) /*conv_c2*/
      return op.emitOpError() << "needs static sizes of at least 1, but "
                              << name << " is " << type;
    if (!type.getLayout().isIdentity()) /*conv_c3*/
      return op.emitOpError()
             << "needs packed tensors, but " << name << " is " << type;
    Type element = type.getElementType();
    if (!element.isF16() && !element.isBF16() && !element.isF32()) /*conv_c4*/
      return op.emitOpError() << "needs elements of type f16, bf16 or f32, but "
                              << name << " has " << element;
    if (element != op.getElementType()) /*conv_c5*/
      return op.emitOpError()
             << "needs one element type, but x has " << op.getElementType()
             << " and " << name << " has " << element;
  }
  return success();
}

/// conv_c7 and one of conv_c8 to conv_c10: two entries, none below `least`.
static LogicalResult verifyWindow(ConvOp op, StringRef name,
                                  ArrayRef<int64_t> values, int64_t least) {
  if (values.size() != 2) /*conv_c7*/
    return op.emitOpError() << "needs two entries in " << name
                            << " (height, width), but has " << values.size();
  for (int64_t value : values)
    if (value < least)
      return op.emitOpError() << "needs " << name << " of at least " << least
                              << ", but has " << value;
  return success();
}

/// conv_c11 to conv_c16: how channels and batch agree between the tensors.
static LogicalResult verifyChannels(ConvOp op) {
  auto groups = static_cast<int64_t>(op.getGroups());
  if (groups < 1) /*conv_c11*/
    return op.emitOpError() << "needs at least 1 group, but has " << groups;

  LogicalShape in = getLogicalShape(op.getX(), op.getXLayout());
  LogicalShape filter = getLogicalShape(op.getW(), op.getWLayout());
  LogicalShape out = getLogicalShape(op.getY(), op.getYLayout());
  if (in.channels % groups != 0) /*conv_c12*/
    return op.emitOpError() << "needs groups that divide the input channels, "
                            << "but " << in.channels << " channels are in "
                            << groups << " groups";
  if (filter.outer % groups != 0) /*conv_c13*/
    return op.emitOpError() << "needs groups that divide the output channels, "
                            << "but " << filter.outer << " channels are in "
                            << groups << " groups";
  if (filter.channels != in.channels / groups) /*conv_c14*/
    return op.emitOpError()
           << "needs a filter with the " << in.channels / groups
           << " input channels of one group, but w has " << filter.channels;
  if (out.outer != in.outer) /*conv_c15*/
    return op.emitOpError() << "needs one batch size, but x has " << in.outer
                            << " images and y has " << out.outer;
  if (out.channels != filter.outer) /*conv_c16*/
    return op.emitOpError()
           << "needs one output channel for each filter, but w "
           << "has " << filter.outer << " and y has " << out.channels;
  return success();
}

/// Number of window positions along one dimension. MIOpen gives 1 where the
/// window is larger than the padded input; taps outside then read zero.
static int64_t getOutputSize(int64_t in, int64_t filter, int64_t pad,
                             int64_t stride, int64_t dilation) {
  int64_t room = in + 2 * pad - (1 + dilation * (filter - 1));
  return room < 0 ? 1 : room / stride + 1;
}

LogicalResult ConvOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  if (getDirection() != ConvDirection::Forward) /*conv_c6*/
    return emitOpError() << "needs direction forward, but has "
                         << stringifyEnum(getDirection());
  if (failed(verifyWindow(*this, "pads", getPads(), 0)) ||         /*conv_c8*/
      failed(verifyWindow(*this, "strides", getStrides(), 1)) ||   /*conv_c9*/
      failed(verifyWindow(*this, "dilations", getDilations(), 1))) /*conv_c10*/
    return failure();
  if (failed(verifyChannels(*this)))
    return failure();

  ConvDims d = getDims();
  int64_t ho = getOutputSize(d.h, d.y, d.padH, d.strideH, d.dilationH);
  int64_t wo = getOutputSize(d.w, d.x, d.padW, d.strideW, d.dilationW);
  if (d.ho != ho || d.wo != wo) /*conv_c17*/
    return emitOpError() << "needs an output of " << ho << "x" << wo
                         << " for this window, but y has " << d.ho << "x"
                         << d.wo;
  return success();
}

#define GET_OP_CLASSES
#include "dialect/IR/DnnConvOps.cpp.inc"
