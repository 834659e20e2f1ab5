//===- Glu.cpp - The gated linear units of miopen/activation.h ------------===//

#define MIOPEN_BETA_API 1
#include <miopen/activation.h>

#include "capi/lib/RowWise/RowWiseCall.h"

using namespace tessera;
using namespace tessera::capi;

namespace {
/// The two halves of a tensor along a dimension: the gated one, then the gate.
struct Halves {
  miopenTensorDescriptor half; ///< Describes either half.
  size_t byteOffset = 0;       ///< Offset of the second half from the first.

  const void *getSecond(const void *first) const {
    return static_cast<const char *>(first) + byteOffset;
  }
};
} // namespace

static ErrorOr<Halves> split(const char *name,
                             const miopenTensorDescriptor &desc, uint32_t dim) {
  if (dim >= desc.lengths.size() || desc.lengths[dim] % 2 != 0)
    return invalidArgument(std::string(name) + " has no halves along " +
                           "dimension " + std::to_string(dim));
  if (Status status = checkFloat(desc); !status.isOk())
    return status;
  Halves halves{desc};
  int64_t &length = halves.half.lengths[dim];
  length /= 2;
  halves.byteOffset =
      length * desc.strides[dim] * getElementBytes(desc.dataType);
  return halves;
}

static ApiResult runForward(miopenHandle &handle,
                            const miopenTensorDescriptor &input, const void *x,
                            const miopenTensorDescriptor &output, void *y,
                            uint32_t dim) {
  const ErrorOr<Halves> halves = split("input", input, dim);
  if (!halves)
    return halves.getStatus();
  Status status =
      checkSameLengths("output", output, "a half of input", halves->half);
  if (status.isOk())
    status = checkSameType("output", output, "input", input);
  if (!status.isOk())
    return status;
  return RowWiseCall(handle, RowWiseKind::GluForward, 0, output.lengths)
      .add(RowRole::Input, "input", halves->half, x)
      .add(RowRole::Input, "input", halves->half, halves->getSecond(x))
      .add(RowRole::Output, "output", output, y)
      .run();
}

namespace {
/// Arguments of a backward call. Refers to the client's objects.
struct BackwardCall {
  miopenHandle &handle;
  const miopenTensorDescriptor &input, &outputGrad, &inputGrad;
  const void *x, *dy, *dx;
  uint32_t dim;
};
} // namespace

static ApiResult runBackward(const BackwardCall &call) {
  const ErrorOr<Halves> from = split("input", call.input, call.dim);
  const ErrorOr<Halves> to = split("inputGrad", call.inputGrad, call.dim);
  if (!from || !to)
    return (from ? to : from).getStatus();
  Status status =
      checkSameLengths("inputGrad", call.inputGrad, "input", call.input);
  if (status.isOk())
    status = checkSameLengths("outputGrad", call.outputGrad, "a half of input",
                              from->half);
  for (const miopenTensorDescriptor *other :
       {&call.outputGrad, &call.inputGrad})
    if (status.isOk())
      status = checkSameType("a gradient", *other, "input", call.input);
  if (!status.isOk())
    return status;
  return RowWiseCall(call.handle, RowWiseKind::GluBackward, 0,
                     call.outputGrad.lengths)
      .add(RowRole::Input, "input", from->half, call.x)
      .add(RowRole::Input, "input", from->half, from->getSecond(call.x))
      .add(RowRole::Input, "outputGrad", call.outputGrad, call.dy)
      .add(RowRole::Output, "inputGrad", to->half, call.dx)
      .add(RowRole::Output, "inputGrad", to->half, to->getSecond(call.dx))
      .run();
}

extern "C" {

miopenStatus_t miopenGLUForward(miopenHandle_t handle,
                                const miopenTensorDescriptor_t inputDesc,
                                const void *input,
                                const miopenTensorDescriptor_t outputDesc,
                                void *output, const uint32_t dim) {
  return guard(__func__, REQUIRED(handle, inputDesc, input, outputDesc, output),
               [&]() -> ApiResult {
                 return runForward(*handle, *inputDesc, input, *outputDesc,
                                   output, dim);
               });
}

miopenStatus_t miopenGLUBackward(miopenHandle_t handle,
                                 const miopenTensorDescriptor_t inputDesc,
                                 const void *input,
                                 const miopenTensorDescriptor_t outputGradDesc,
                                 const void *outputGrad,
                                 const miopenTensorDescriptor_t inputGradDesc,
                                 void *inputGrad, const uint32_t dim) {
  return guard(__func__,
               REQUIRED(handle, inputDesc, input, outputGradDesc, outputGrad,
                        inputGradDesc, inputGrad),
               [&]() -> ApiResult {
                 return runBackward({*handle, *inputDesc, *outputGradDesc,
                                     *inputGradDesc, input, outputGrad,
                                     inputGrad, dim});
               });
}

} // extern "C"
