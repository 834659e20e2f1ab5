//===- ForwardProblem.cpp - From descriptors to a problem -----------------===//
//
// First everything that is wrong with the request, then everything that is
// right but that we have no kernel for, so that a client which made a mistake
// hears of the mistake.
//
//===----------------------------------------------------------------------===//

#include "capi/lib/ForwardProblem.h"

#include <array>
#include <string>

using namespace tessera;
using namespace tessera::capi;

/// x and w agree already; an int8 convolution may widen its output.
static bool isOutputType(miopenDataType_t input, miopenDataType_t output) {
  if (input == miopenInt8)
    return output == miopenInt8 || output == miopenInt32 ||
           output == miopenFloat;
  return input == output;
}

static Status checkOutput(const miopenConvolutionDescriptor &conv,
                          const miopenTensorDescriptor &x,
                          const miopenTensorDescriptor &w,
                          const miopenTensorDescriptor &y) {
  const ErrorOr<OutputLengths> expected = getForwardOutputLengths(conv, x, w);
  if (!expected)
    return expected.getStatus();
  if (!isOutputType(x.dataType, y.dataType))
    return invalidArgument("x and y have different data types");
  if (y.getRank() != expected->rank)
    return invalidArgument("y has " + std::to_string(y.getRank()) +
                           " dimensions, but x has " +
                           std::to_string(expected->rank));
  for (int i = 0; i < expected->rank; ++i)
    if (y.lengths[i] != expected->lengths[i])
      return invalidArgument("length " + std::to_string(i) + " of y is " +
                             std::to_string(y.lengths[i]) +
                             ", but the convolution gives " +
                             std::to_string(expected->lengths[i]));
  return Status::ok();
}

static ErrorOr<DataType> getKernelType(miopenDataType_t type) {
  switch (type) {
  case miopenHalf:
    return DataType::F16;
  case miopenBFloat16:
    return DataType::BF16;
  case miopenFloat:
    return DataType::F32;
  default:
    return notSupported("convolutions of data type " + std::to_string(type) +
                        " are not implemented; half, bfloat16 and float are");
  }
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// Whether a 4-D tensor is packed in `order` (slowest dimension first). The
/// stride of a length of 1 is never used, so it may be anything.
static bool isPacked(const miopenTensorDescriptor &tensor,
                     const std::array<int, 4> &order) {
  int64_t stride = 1;
  for (int i = 3; i >= 0; --i) {
    const int64_t length = tensor.lengths[order[i]];
    if (length != 1 && tensor.strides[order[i]] != stride)
      return false;
    stride *= length;
  }
  return true;
}

namespace {
/// The layouts that the strides of one tensor agree with.
struct LayoutCandidates {
  bool nchw;
  bool nhwc;

  explicit LayoutCandidates(const miopenTensorDescriptor &tensor)
      : nchw(isPacked(tensor, {0, 1, 2, 3})),
        nhwc(isPacked(tensor, {0, 2, 3, 1})) {}

  bool isAmbiguous() const { return nchw && nhwc; }
  Layout choose(Layout preferred) const {
    if (isAmbiguous())
      return preferred;
    return nhwc ? Layout::NHWC : Layout::NCHW;
  }
};
} // namespace

/// Sets the three layouts. A tensor that could have either (a 1x1 filter, an
/// image of one channel) takes that of the first tensor that could not, so
/// that one set of tensors is one problem however its strides were written.
static Status setLayouts(ConvProblem &problem, const miopenTensorDescriptor &x,
                         const miopenTensorDescriptor &w,
                         const miopenTensorDescriptor &y) {
  const std::array<LayoutCandidates, 3> candidates{
      LayoutCandidates(x), LayoutCandidates(w), LayoutCandidates(y)};
  constexpr std::array<const char *, 3> kNames{"x", "w", "y"};
  Layout preferred = Layout::NCHW;
  for (int i = 2; i >= 0; --i) {
    if (!candidates[i].nchw && !candidates[i].nhwc)
      return notSupported(std::string("the strides of ") + kNames[i] +
                          " are neither packed NCHW nor packed NHWC, which "
                          "alone are implemented");
    if (!candidates[i].isAmbiguous())
      preferred = candidates[i].choose(preferred);
  }
  problem.xLayout = candidates[0].choose(preferred);
  problem.wLayout = candidates[1].choose(preferred);
  problem.yLayout = candidates[2].choose(preferred);
  return Status::ok();
}

//===----------------------------------------------------------------------===//

ErrorOr<ConvProblem> capi::makeForwardProblem(
    const miopenTensorDescriptor &x, const miopenTensorDescriptor &w,
    const miopenConvolutionDescriptor &conv, const miopenTensorDescriptor &y) {
  if (Status status = checkOutput(conv, x, w, y); !status.isOk())
    return status;
  if (conv.mode == miopenTranspose)
    return notSupported("transposed convolutions are not implemented");
  if (conv.spatialRank != 2)
    return notSupported("only 2-D convolutions are implemented");
  const ErrorOr<DataType> type = getKernelType(x.dataType);
  if (!type)
    return type.getStatus();
  ConvProblem problem;
  problem.dataType = *type;
  problem.batch = x.lengths[0];
  problem.inChannels = x.lengths[1];
  problem.outChannels = w.lengths[0];
  problem.groups = conv.groups;
  problem.in = {x.lengths[2], x.lengths[3]};
  problem.filter = {w.lengths[2], w.lengths[3]};
  problem.pad = {conv.pads[0], conv.pads[1]};
  problem.stride = {conv.strides[0], conv.strides[1]};
  problem.dilation = {conv.dilations[0], conv.dilations[1]};
  if (Status status = setLayouts(problem, x, w, y); !status.isOk())
    return status;
  return problem;
}
