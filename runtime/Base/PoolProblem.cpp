//===- PoolProblem.cpp - Shapes and rules of a pooling --------------------===//

#include "runtime/Base/PoolProblem.h"
#include "runtime/Base/ProblemChecks.h"

#include <algorithm>

using namespace tessera;

static WindowDim getDim(const PoolProblem &p, int64_t Spatial::*at,
                        int64_t Pads::*pad) {
  return {p.in.*at, p.window.*at, p.pad.*pad, p.extraPad.*pad, p.stride.*at};
}

Spatial PoolProblem::getOutput() const {
  return {getDim(*this, &Spatial::h, &Pads::h).getOutput(),
          getDim(*this, &Spatial::w, &Pads::w).getOutput(),
          getDim(*this, &Spatial::d, &Pads::d).getOutput()};
}

bool PoolProblem::hasDepth() const {
  return in.d != 1 || window.d != 1 || pad.d != 0 || extraPad.d != 0 ||
         stride.d != 1;
}

TensorLengths PoolProblem::getInputLengths() const {
  return {batch, channels, in.d, in.h, in.w};
}

TensorLengths PoolProblem::getOutputLengths() const {
  Spatial out = getOutput();
  return {batch, channels, out.d, out.h, out.w};
}

Strides PoolProblem::getInputStrides() const {
  return xLayout == Layout::Strided
             ? xStrides
             : getPackedStrides(xLayout, getInputLengths());
}

Strides PoolProblem::getOutputStrides() const {
  return yLayout == Layout::Strided
             ? yStrides
             : getPackedStrides(yLayout, getOutputLengths());
}

static Status verifyAllLengths(const PoolProblem &p) {
  Status status = verifyLengths(1, {{"the batch size", p.batch},
                                    {"the number of channels", p.channels},
                                    {"the input depth", p.in.d},
                                    {"the input height", p.in.h},
                                    {"the input width", p.in.w},
                                    {"the window's depth", p.window.d},
                                    {"the window's height", p.window.h},
                                    {"the window's width", p.window.w},
                                    {"the stride of the depth", p.stride.d},
                                    {"the vertical stride", p.stride.h},
                                    {"the horizontal stride", p.stride.w}});
  if (!status.isOk())
    return status;
  const Pads after = p.getPadAfter();
  return verifyLengths(0,
                       {{"the padding of the depth", p.pad.d},
                        {"the vertical padding", p.pad.h},
                        {"the horizontal padding", p.pad.w},
                        {"the padding after the depth", after.d},
                        {"the vertical padding after the image", after.h},
                        {"the horizontal padding after the image", after.w}});
}

/// The largest value of an index type. MIOpen wants it above the number of
/// pixels or offsets that it counts ("Index range not enough for max pooling
/// bwd").
static double getLargest(IndexType type) {
  switch (type) {
  case IndexType::None:
    return 0;
  case IndexType::U8:
    return UINT8_MAX;
  case IndexType::U16:
    return UINT16_MAX;
  case IndexType::U32:
    return UINT32_MAX;
  case IndexType::U64:
    return static_cast<double>(UINT64_MAX);
  }
  __builtin_unreachable();
}

/// Prints a whole number, which may be too large for 64 bits.
static std::string getText(double count) {
  const std::string text = std::to_string(count);
  return text.substr(0, text.find('.'));
}

Status PoolProblem::verifyIndices() const {
  bool hasIndices = indexType != IndexType::None;
  if (!isMaximum(mode) && hasIndices)
    return invalidArgument("only max pooling has indices");
  if (isMaximum(mode) && !hasIndices &&
      direction == Direction::BackwardData)
    return invalidArgument("max pooling backward needs the indices of the "
                           "forward pass");
  if (!hasIndices)
    return Status::ok();
  bool isMask = indexMode == IndexMode::Mask;
  const Spatial &counted = isMask ? window : in;
  double count = static_cast<double>(counted.d) *
                 static_cast<double>(counted.h) *
                 static_cast<double>(counted.w);
  if (getLargest(indexType) <= count)
    return invalidArgument(
        "the index type " + std::string(getName(indexType)) +
        " is too small for the " + getText(count) +
        (isMask ? " offsets of the window" : " pixels of the input"));
  return Status::ok();
}

Status PoolProblem::verify() const {
  Status status = verifyAllLengths(*this);
  if (status.isOk() && direction == Direction::BackwardWeights)
    status = invalidArgument("pooling has no weights");
  if (status.isOk() && dataType != DataType::F16 &&
      dataType != DataType::BF16 && dataType != DataType::F32)
    status = invalidArgument("pooling computes with f16, bf16 and f32, not " +
                             std::string(getName(dataType)));
  if (status.isOk())
    status = verifyIndices();
  int64_t bytes = getByteSize(dataType);
  if (status.isOk())
    status = verifyTensor("input", bytes, xLayout, xStrides, getInputLengths(),
                          direction == Direction::BackwardData);
  if (status.isOk())
    status = verifyTensor("output", std::max(bytes, getByteSize(indexType)),
                          yLayout, yStrides, getOutputLengths(),
                          direction == Direction::Forward);
  return status;
}

PoolProblem PoolProblem::canonicalize() const {
  PoolProblem result = *this;
  if (hasUnequalPads())
    result.extraPad = {
        canonicalizeExtraPad(getDim(*this, &Spatial::h, &Pads::h)),
        canonicalizeExtraPad(getDim(*this, &Spatial::w, &Pads::w)),
        canonicalizeExtraPad(getDim(*this, &Spatial::d, &Pads::d))};
  if (in.d == 1 && window.d == 1 && pad.d == 0 && result.extraPad.d == 0)
    result.stride.d = 1;
  if (indexType == IndexType::None)
    result.indexMode = IndexMode::Mask;
  if (xLayout == Layout::Strided)
    result.xLayout = canonicalizeLayout(result.xStrides, getInputLengths());
  if (yLayout == Layout::Strided)
    result.yLayout = canonicalizeLayout(result.yStrides, getOutputLengths());
  return result;
}

int64_t tessera::getByteSize(IndexType type) {
  switch (type) {
  case IndexType::None:
    return 0;
  case IndexType::U8:
    return 1;
  case IndexType::U16:
    return 2;
  case IndexType::U32:
    return 4;
  case IndexType::U64:
    return 8;
  }
  __builtin_unreachable();
}
