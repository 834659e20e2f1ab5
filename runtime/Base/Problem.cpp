//===- Problem.cpp - Shapes and rules of a convolution --------------------===//

#include "runtime/Base/Problem.h"

#include <algorithm>
#include <initializer_list>

using namespace tessera;

static int64_t getOutputLength(int64_t in, int64_t filter, int64_t pad,
                               int64_t stride, int64_t dilation) {
  int64_t extent = 1 + dilation * (filter - 1);
  return std::max<int64_t>(1, (in + 2 * pad - extent) / stride + 1);
}

Spatial ConvProblem::getOutput() const {
  return {getOutputLength(in.h, filter.h, pad.h, stride.h, dilation.h),
          getOutputLength(in.w, filter.w, pad.w, stride.w, dilation.w)};
}

int64_t ConvProblem::getInputElements() const {
  return batch * inChannels * in.h * in.w;
}

int64_t ConvProblem::getFilterElements() const {
  return outChannels * (inChannels / groups) * filter.h * filter.w;
}

int64_t ConvProblem::getOutputElements() const {
  Spatial out = getOutput();
  return batch * outChannels * out.h * out.w;
}

double ConvProblem::getFlops() const {
  return 2.0 * static_cast<double>(getOutputElements()) *
         static_cast<double>(inChannels / groups) *
         static_cast<double>(filter.h * filter.w);
}

namespace {
/// A number of the problem, as messages call it.
struct NamedLength {
  const char *name;
  int64_t value;
};
} // namespace

/// MIOpen's descriptors hold lengths as int, and so do our kernels' arguments.
static constexpr int64_t kMaxLength = INT32_MAX;

/// `minimum` <= each length <= kMaxLength.
static Status verifyLengths(int64_t minimum,
                            std::initializer_list<NamedLength> lengths) {
  for (const NamedLength &length : lengths)
    if (length.value < minimum || length.value > kMaxLength)
      return invalidArgument(
          std::string(length.name) + " is " + std::to_string(length.value) +
          ", but must be between " + std::to_string(minimum) + " and " +
          std::to_string(kMaxLength));
  return Status::ok();
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

/// The bytes of each tensor must be a number that fits.
static Status verifySize(const char *tensor, int64_t elementBytes,
                         std::initializer_list<int64_t> lengths) {
  int64_t bytes = elementBytes;
  for (int64_t length : lengths)
    if (__builtin_mul_overflow(bytes, length, &bytes))
      return invalidArgument(std::string("the ") + tensor +
                             " has more bytes than 64 bits can count");
  return Status::ok();
}

static Status verifySizes(const ConvProblem &problem) {
  int64_t bytes = getByteSize(problem.dataType);
  Spatial out = problem.getOutput();
  Status status = verifySize(
      "input", bytes,
      {problem.batch, problem.inChannels, problem.in.h, problem.in.w});
  if (status.isOk())
    status =
        verifySize("filter", bytes,
                   {problem.outChannels, problem.inChannels / problem.groups,
                    problem.filter.h, problem.filter.w});
  if (status.isOk())
    status = verifySize("output", bytes,
                        {problem.batch, problem.outChannels, out.h, out.w});
  return status;
}

Status ConvProblem::verify() const {
  Status status =
      verifyLengths(1, {{"the batch size", batch},
                        {"the number of input channels", inChannels},
                        {"the number of output channels", outChannels},
                        {"the group count", groups},
                        {"the input height", in.h},
                        {"the input width", in.w},
                        {"the filter height", filter.h},
                        {"the filter width", filter.w},
                        {"the vertical stride", stride.h},
                        {"the horizontal stride", stride.w},
                        {"the vertical dilation", dilation.h},
                        {"the horizontal dilation", dilation.w}});
  if (status.isOk())
    status = verifyLengths(0, {{"the vertical padding", pad.h},
                               {"the horizontal padding", pad.w}});
  if (status.isOk())
    status = verifyGroups(*this);
  if (status.isOk())
    status = verifySizes(*this);
  return status;
}

int64_t tessera::getByteSize(DataType type) {
  switch (type) {
  case DataType::I8:
    return 1;
  case DataType::F16:
  case DataType::BF16:
    return 2;
  case DataType::F32:
  case DataType::I32:
    return 4;
  case DataType::F64:
    return 8;
  }
  __builtin_unreachable();
}
