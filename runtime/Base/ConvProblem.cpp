//===- ConvProblem.cpp - Shapes and rules of a convolution ----------------===//

#include "runtime/Base/ConvProblem.h"
#include "runtime/Base/ProblemChecks.h"

#include <algorithm>

using namespace tessera;

static WindowDim getDim(const ConvProblem &p, int64_t Spatial::*at,
                        int64_t Pads::*pad) {
  return {p.in.*at,        p.filter.*at, p.pad.*pad,
          p.extraPad.*pad, p.stride.*at, p.dilation.*at};
}

Spatial ConvProblem::getOutput() const {
  return {getDim(*this, &Spatial::h, &Pads::h).getOutput(),
          getDim(*this, &Spatial::w, &Pads::w).getOutput(),
          getDim(*this, &Spatial::d, &Pads::d).getOutput()};
}

bool ConvProblem::hasDepth() const {
  return in.d != 1 || filter.d != 1 || pad.d != 0 || extraPad.d != 0 ||
         stride.d != 1 || dilation.d != 1;
}

TensorLengths ConvProblem::getInputLengths() const {
  return {batch, inChannels, in.d, in.h, in.w};
}

TensorLengths ConvProblem::getFilterLengths() const {
  return {outChannels, inChannels / groups, filter.d, filter.h, filter.w};
}

TensorLengths ConvProblem::getOutputLengths() const {
  Spatial out = getOutput();
  return {batch, outChannels, out.d, out.h, out.w};
}

TensorLengths ConvProblem::getResultLengths() const {
  switch (direction) {
  case Direction::Forward:
    return getOutputLengths();
  case Direction::BackwardData:
    return getInputLengths();
  case Direction::BackwardWeights:
    return getFilterLengths();
  }
  __builtin_unreachable();
}

static Strides getStrides(Layout layout, const Strides &strides,
                          const TensorLengths &lengths) {
  return layout == Layout::Strided ? strides
                                   : getPackedStrides(layout, lengths);
}

Strides ConvProblem::getInputStrides() const {
  return getStrides(xLayout, xStrides, getInputLengths());
}

Strides ConvProblem::getFilterStrides() const {
  return getStrides(wLayout, wStrides, getFilterLengths());
}

Strides ConvProblem::getOutputStrides() const {
  return getStrides(yLayout, yStrides, getOutputLengths());
}

double ConvProblem::getFlops() const {
  return 2.0 * static_cast<double>(getOutputElements()) *
         static_cast<double>(inChannels / groups) *
         static_cast<double>(filter.d * filter.h * filter.w);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static Status verifyAllLengths(const ConvProblem &p) {
  Status status =
      verifyLengths(1, {{"the batch size", p.batch},
                        {"the number of input channels", p.inChannels},
                        {"the number of output channels", p.outChannels},
                        {"the group count", p.groups},
                        {"the input depth", p.in.d},
                        {"the input height", p.in.h},
                        {"the input width", p.in.w},
                        {"the filter depth", p.filter.d},
                        {"the filter height", p.filter.h},
                        {"the filter width", p.filter.w},
                        {"the stride of the depth", p.stride.d},
                        {"the vertical stride", p.stride.h},
                        {"the horizontal stride", p.stride.w},
                        {"the dilation of the depth", p.dilation.d},
                        {"the vertical dilation", p.dilation.h},
                        {"the horizontal dilation", p.dilation.w}});
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

static Status verifyGroups(const ConvProblem &problem) {
  for (NamedLength channels :
       {NamedLength{"the number of input channels", problem.inChannels},
        NamedLength{"the number of output channels", problem.outChannels}})
    if (channels.value % problem.groups != 0)
      return invalidArgument(std::string(channels.name) + " is " +
                             std::to_string(channels.value) +
                             ", but must be a multiple of the group count " +
                             std::to_string(problem.groups));
  return Status::ok();
}

static Status verifyFloat8Result(const ConvProblem &p) {
  if (p.byteResult == p.dataType || p.byteResult == DataType::F16 ||
      p.byteResult == DataType::BF16 || p.byteResult == DataType::F32)
    return Status::ok();
  return invalidArgument("the result of a convolution of " +
                         std::string(getName(p.dataType)) +
                         " is of the same type, f16, bf16 or f32, not " +
                         std::string(getName(p.byteResult)));
}

/// Statistics are of y, and a normalisation's gradient of x. Their rounded
/// elements are summed up in f32.
static Status verifyChannelResults(const ConvProblem &p) {
  if (!p.epilogue.hasChannelResults())
    return Status::ok();
  if (p.epilogue.statistics && p.direction != Direction::Forward)
    return invalidArgument("statistics are of the result of a forward "
                           "convolution only");
  if (p.epilogue.normGradient != NormGradient::None &&
      p.direction != Direction::BackwardData)
    return invalidArgument("the sums of a normalisation's gradient are of the "
                           "result of backward data only");
  if (p.dataType != DataType::F16 && p.dataType != DataType::BF16 &&
      p.dataType != DataType::F32)
    return invalidArgument("statistics and the sums of a normalisation's "
                           "gradient are of f16, bf16 and f32, not of " +
                           std::string(getName(p.dataType)));
  return Status::ok();
}

static Status verifyTypes(const ConvProblem &p) {
  if (p.dataType == DataType::I32 || p.dataType == DataType::I64)
    return invalidArgument(std::string(getName(p.dataType)) +
                           " is a type of results only");
  if (isFloat8(p.dataType))
    return verifyFloat8Result(p);
  if (p.dataType != DataType::I8)
    return Status::ok();
  if (p.direction != Direction::Forward)
    return invalidArgument("i8 is a type of forward convolutions only");
  if (p.byteResult != DataType::I32 && p.byteResult != DataType::F32 &&
      p.byteResult != DataType::I8)
    return invalidArgument("the result of a convolution of i8 is i32, f32 or "
                           "i8, not " +
                           std::string(getName(p.byteResult)));
  if (p.byteResult == DataType::I32 && !p.epilogue.isEmpty())
    return invalidArgument("a result of i32 has no epilogue");
  return Status::ok();
}

static Status verifyTensors(const ConvProblem &p) {
  auto verify = [&](const char *name, Direction resultOf, Layout layout,
                    const Strides &strides, const TensorLengths &lengths) {
    const bool isResult = p.direction == resultOf;
    return verifyTensor(name,
                        getByteSize(isResult ? p.getResultType() : p.dataType),
                        layout, strides, lengths, isResult);
  };
  Status status = verify("input", Direction::BackwardData, p.xLayout,
                         p.xStrides, p.getInputLengths());
  if (status.isOk())
    status = verify("filter", Direction::BackwardWeights, p.wLayout, p.wStrides,
                    p.getFilterLengths());
  if (status.isOk())
    status = verify("output", Direction::Forward, p.yLayout, p.yStrides,
                    p.getOutputLengths());
  return status;
}

Status ConvProblem::verify() const {
  Status status = verifyAllLengths(*this);
  if (status.isOk())
    status = verifyGroups(*this);
  if (status.isOk())
    status = verifyTypes(*this);
  if (status.isOk())
    status = verifyChannelResults(*this);
  if (status.isOk())
    status = verifyTensors(*this);
  return status;
}

bool ConvProblem::hasWinogradForm() const {
  return (dataType == DataType::F32 || dataType == DataType::F16 ||
          dataType == DataType::BF16) &&
         !hasDepth() && groups == 1 && filter == Spatial{3, 3} &&
         stride == Spatial() && dilation == Spatial();
}

ConvProblem ConvProblem::canonicalize() const {
  ConvProblem result = *this;
  if (hasUnequalPads())
    result.extraPad = {
        canonicalizeExtraPad(getDim(*this, &Spatial::h, &Pads::h)),
        canonicalizeExtraPad(getDim(*this, &Spatial::w, &Pads::w)),
        canonicalizeExtraPad(getDim(*this, &Spatial::d, &Pads::d))};
  // One image plane under one tap uses no stride and no dilation along the
  // depth.
  if (in.d == 1 && filter.d == 1 && pad.d == 0 && result.extraPad.d == 0)
    result.stride.d = result.dilation.d = 1;
  if (!hasByteResult())
    result.byteResult = DataType::I32;
  if (dataType != DataType::F32)
    result.mathType = MathType::Exact;
  result.forbidsWinograd = forbidsWinograd && result.hasWinogradForm();
  if (xLayout == Layout::Strided)
    result.xLayout = canonicalizeLayout(result.xStrides, getInputLengths());
  if (wLayout == Layout::Strided)
    result.wLayout = canonicalizeLayout(result.wStrides, getFilterLengths());
  if (yLayout == Layout::Strided)
    result.yLayout = canonicalizeLayout(result.yStrides, getOutputLengths());
  return result;
}
