//===- VectorConvolution.cpp - Convolutions of blocks of channels ---------===//

#include "capi/lib/Convolution/VectorConvolution.h"

#include <string>

using namespace tessera;
using namespace tessera::capi;

bool capi::hasVectors(const ConvolutionOperands &operands) {
  return operands.x.hasVectors() || operands.w.hasVectors() ||
         operands.y.hasVectors();
}

/// Bytes of the copy of `tensor`, rounded up to what kernels may ask of an
/// address; 0 if it is used as it is.
static size_t countCopyBytes(const miopenTensorDescriptor &tensor) {
  constexpr size_t kAlignment = 256;
  if (!tensor.hasVectors())
    return 0;
  // The setter has checked that it fits in 63 bits.
  const size_t bytes = *getTensorBytes(tensor);
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

VectorConvolution::VectorConvolution(const ConvolutionCall &call)
    : call(call), x(OtherWords::asChannelsLast(call.operands.x)),
      w(OtherWords::asChannelsLast(call.operands.w)),
      y(OtherWords::asChannelsLast(call.operands.y)) {
  wOffset = countCopyBytes(call.operands.x);
  yOffset = wOffset + countCopyBytes(call.operands.w);
  copyBytes = yOffset + countCopyBytes(call.operands.y);
}

Status VectorConvolution::checkWorkspace(const ConvolutionData &data) const {
  if (data.workspace && data.workspaceBytes >= copyBytes)
    return Status::ok();
  return invalidArgument(
      "the workspace has " +
      std::to_string(data.workspace ? data.workspaceBytes : 0) +
      " bytes, but the copies of tensors with blocks of "
      "channels need " +
      std::to_string(copyBytes));
}

ConvolutionData VectorConvolution::getData(const ConvolutionData &data) const {
  auto *memory = static_cast<char *>(data.workspace);
  const size_t rest = data.workspaceBytes - copyBytes;
  return {call.operands.x.hasVectors() ? memory : data.x,
          call.operands.w.hasVectors() ? memory + wOffset : data.w,
          call.operands.y.hasVectors() ? memory + yOffset : data.y,
          rest > 0 ? memory + copyBytes : nullptr, rest};
}

Status VectorConvolution::copyOperands(const ConvolutionData &data,
                                       bool readsResult) const {
  const ConvolutionData copies = getData(data);
  struct Operand {
    const miopenTensorDescriptor &desc;
    Direction resultOf;
    const void *from, *to;
  };
  for (const Operand &operand :
       {Operand{call.operands.x, Direction::BackwardData, data.x, copies.x},
        Operand{call.operands.w, Direction::BackwardWeights, data.w, copies.w},
        Operand{call.operands.y, Direction::Forward, data.y, copies.y}}) {
    if (!operand.desc.hasVectors() ||
        (call.direction == operand.resultOf && !readsResult))
      continue;
    if (Status status =
            copyToChannelsLast(call.handle, operand.desc, operand.from,
                               const_cast<void *>(operand.to));
        !status.isOk())
      return status;
  }
  return Status::ok();
}

Status VectorConvolution::copyResult(const ConvolutionData &data) const {
  const ConvolutionData copies = getData(data);
  auto copyBack = [&](const miopenTensorDescriptor &desc, const void *from,
                      const void *to) {
    return desc.hasVectors() ? copyFromChannelsLast(call.handle, desc, from,
                                                    const_cast<void *>(to))
                             : Status::ok();
  };
  switch (call.direction) {
  case Direction::Forward:
    return copyBack(call.operands.y, copies.y, data.y);
  case Direction::BackwardData:
    return copyBack(call.operands.x, copies.x, data.x);
  case Direction::BackwardWeights:
    return copyBack(call.operands.w, copies.w, data.w);
  }
  __builtin_unreachable();
}
