//===- MarginLoss.cpp - The margin losses of miopen/loss.h ----------------===//
//
// A sum or mean of soft margin losses is one reduction. That of multi margin
// losses is a second launch, over the losses of rows in the workspace.
//
//===----------------------------------------------------------------------===//

#define MIOPEN_BETA_API 1
#include <miopen/loss.h>

#include "capi/lib/Common/Objects.h"
#include "capi/lib/Reduction/ReduceMode.h"
#include "capi/lib/RowWise/RowWiseCall.h"

#include <string>

using namespace tessera;
using namespace tessera::capi;

static int64_t countElements(const miopenTensorDescriptor &desc) {
  int64_t elements = 1;
  for (int64_t length : desc.lengths)
    elements *= length;
  return elements;
}

/// Ok if the reduction is known and the output is as large as it gives:
/// `lengths`, or one element.
static Status checkReduction(miopenLossReductionMode_t reduction,
                             const miopenTensorDescriptor &output,
                             const std::vector<int64_t> &lengths) {
  if (Status status =
          checkEnum(reduction, MIOPEN_LOSS_REDUCTION_MEAN, "reduction");
      !status.isOk())
    return status;
  if (reduction == MIOPEN_LOSS_REDUCTION_NONE && output.lengths != lengths)
    return invalidArgument(
        "the output does not have one element for each loss");
  if (reduction != MIOPEN_LOSS_REDUCTION_NONE && countElements(output) != 1)
    return invalidArgument("the output of a reduction has " +
                           std::to_string(countElements(output)) +
                           " elements, not 1");
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Soft margin
//===----------------------------------------------------------------------===//

static Status checkSoftMargin(const miopenTensorDescriptor &input,
                              const miopenTensorDescriptor &target,
                              const miopenTensorDescriptor &output,
                              miopenLossReductionMode_t reduction) {
  Status status = checkSameLengths("target", target, "input", input);
  if (status.isOk())
    status = checkSameType("target", target, "input", input);
  if (status.isOk())
    status = checkSameType("output", output, "input", input);
  if (status.isOk())
    status = checkReduction(reduction, output, input.lengths);
  return status;
}

static double getFactor(miopenLossReductionMode_t reduction,
                        const miopenTensorDescriptor &input) {
  return reduction == MIOPEN_LOSS_REDUCTION_MEAN
             ? 1 / static_cast<double>(countElements(input))
             : 1;
}

static ApiResult
runSoftMargin(miopenHandle &handle, const miopenTensorDescriptor &inputDesc,
              const void *input, const miopenTensorDescriptor &targetDesc,
              const void *target, const miopenTensorDescriptor &outputDesc,
              void *output, miopenLossReductionMode_t reduction) {
  if (Status status =
          checkSoftMargin(inputDesc, targetDesc, outputDesc, reduction);
      !status.isOk())
    return status;
  const bool isReduced = reduction != MIOPEN_LOSS_REDUCTION_NONE;
  RowWiseCall call(handle, RowWiseKind::SoftMargin, isReduced,
                   inputDesc.lengths);
  call.add(RowRole::Input, "input", inputDesc, input)
      .add(RowRole::Input, "target", targetDesc, target);
  if (!isReduced)
    return call.add(RowRole::Output, "output", outputDesc, output).run();
  for (int dim = 0; dim < inputDesc.getRank(); ++dim)
    call.reduce(dim);
  miopenTensorDescriptor one = outputDesc;
  one.lengths.assign(inputDesc.lengths.size(), 1);
  one.strides = one.lengths;
  return call.add(RowRole::RowOutput, "output", one, output)
      .scalar(getFactor(reduction, inputDesc))
      .run();
}

//===----------------------------------------------------------------------===//
// Multi margin
//===----------------------------------------------------------------------===//

namespace {
/// A multi-class margin loss. Refers to the client's objects.
struct MultiMarginCall {
  const miopenTensorDescriptor &input, &target, &weight, &output;
  long power;
  float margin;
  miopenLossReductionMode_t reduction;
};
} // namespace

static Status checkVector(const char *name, const miopenTensorDescriptor &desc,
                          int64_t length) {
  if (desc.lengths == std::vector<int64_t>{length})
    return Status::ok();
  return invalidArgument(std::string(name) + " is no vector of " +
                         std::to_string(length) + " elements");
}

static Status check(const MultiMarginCall &call) {
  if (call.input.getRank() != 2)
    return invalidArgument("input has " + std::to_string(call.input.getRank()) +
                           " dimensions, not 2");
  const int64_t rows = call.input.lengths[0], classes = call.input.lengths[1];
  Status status = checkVector("target", call.target, rows);
  if (status.isOk())
    status = checkVector("weight", call.weight, classes);
  if (status.isOk())
    status = checkSameType("weight", call.weight, "input", call.input);
  if (status.isOk())
    status = checkSameType("output", call.output, "input", call.input);
  if (status.isOk() && call.target.dataType != miopenInt64)
    status = invalidArgument("the targets must be of miopenInt64");
  if (status.isOk() && call.power != 1 && call.power != 2)
    status =
        invalidArgument("p is " + std::to_string(call.power) + ", not 1 or 2");
  if (status.isOk())
    status = checkReduction(call.reduction, call.output, {rows});
  // Kernels compare classes as floats.
  if (status.isOk() && classes > 1 << 24)
    status = notSupported("more than 2^24 classes are not implemented");
  return status;
}

/// The losses of rows in the workspace: of f64 for double, else of f32.
static DataType getLossType(const MultiMarginCall &call) {
  return call.input.dataType == miopenDouble ? DataType::F64 : DataType::F32;
}

static size_t getWorkspaceBytes(const MultiMarginCall &call) {
  if (call.reduction == MIOPEN_LOSS_REDUCTION_NONE)
    return 0;
  return static_cast<size_t>(call.input.lengths[0]) *
         getByteSize(getLossType(call));
}

static ApiResult runMultiMargin(miopenHandle &handle,
                                const MultiMarginCall &call, const void *input,
                                const void *target, const void *weight,
                                void *output, void *workspace,
                                size_t workspaceBytes) {
  if (Status status = check(call); !status.isOk())
    return status;
  const bool isReduced = call.reduction != MIOPEN_LOSS_REDUCTION_NONE;
  const size_t needed = getWorkspaceBytes(call);
  if (isReduced && (!workspace || workspaceBytes < needed))
    return invalidArgument("the workspace has fewer than " +
                           std::to_string(needed) + " bytes");
  const int64_t rows = call.input.lengths[0];
  using Strides = std::vector<int64_t>;
  RowWiseCall losses(handle, RowWiseKind::MultiMargin,
                     static_cast<uint32_t>(call.power - 1), call.input.lengths);
  losses.reduce(1)
      .add(RowRole::Input, "input", call.input, input)
      .add(RowRole::Input, "target", DataType::I64,
           Strides{call.target.strides[0], 0}, target)
      .add(RowRole::Input, "weight", *getRowType(call.weight.dataType),
           Strides{0, call.weight.strides[0]}, weight)
      .scalar(call.margin);
  if (!isReduced)
    return losses
        .add(RowRole::RowOutput, "output", *getRowType(call.output.dataType),
             Strides{call.output.strides[0], 0}, output)
        .run();
  losses.add(RowRole::RowOutput, "workspace", getLossType(call), Strides{1, 0},
             workspace);
  const KernelTimeSum sum(handle);
  const ApiResult result = losses.run();
  if (result.getStatus() != miopenStatusSuccess)
    return result;
  const int64_t lengths[] = {rows};
  const double factor = call.reduction == MIOPEN_LOSS_REDUCTION_MEAN
                            ? 1 / static_cast<double>(rows)
                            : 1;
  return RowWiseCall(handle, RowWiseKind::Reduce, kReduceAdd, lengths)
      .reduce(0)
      .add(RowRole::Input, "workspace", getLossType(call), Strides{1},
           workspace)
      .add(RowRole::RowOutput, "output", *getRowType(call.output.dataType),
           Strides{0}, output)
      .scalar(factor)
      .scalar(0)
      .run();
}

extern "C" {

// Gives 0, because the sum is one reduction.
miopenStatus_t miopenGetSoftMarginLossForwardWorkspaceSize(
    miopenHandle_t handle, miopenTensorDescriptor_t inputDesc,
    miopenTensorDescriptor_t targetDesc, miopenTensorDescriptor_t outputDesc,
    miopenLossReductionMode_t reduction, size_t *sizeInBytes) {
  return guard(__func__,
               REQUIRED(handle, inputDesc, targetDesc, outputDesc, sizeInBytes),
               [&]() -> ApiResult {
                 Status status = checkSoftMargin(*inputDesc, *targetDesc,
                                                 *outputDesc, reduction);
                 if (status.isOk())
                   *sizeInBytes = 0;
                 return status;
               });
}

miopenStatus_t miopenSoftMarginLossForward(
    miopenHandle_t handle, miopenTensorDescriptor_t inputDesc,
    const void *input, miopenTensorDescriptor_t targetDesc, const void *target,
    miopenTensorDescriptor_t outputDesc, void *output,
    miopenLossReductionMode_t reduction, void * /*workspace*/,
    size_t /*workspaceSizeInBytes*/) {
  return guard(__func__,
               REQUIRED(handle, inputDesc, input, targetDesc, target,
                        outputDesc, output),
               [&]() -> ApiResult {
                 return runSoftMargin(*handle, *inputDesc, input, *targetDesc,
                                      target, *outputDesc, output, reduction);
               });
}

miopenStatus_t miopenSoftMarginLossBackward(
    miopenHandle_t handle, miopenTensorDescriptor_t inputDesc,
    const void *input, miopenTensorDescriptor_t targetDesc, const void *target,
    miopenTensorDescriptor_t doutputDesc, const void *doutput,
    miopenTensorDescriptor_t dinputDesc, void *dinput,
    miopenLossReductionMode_t reduction) {
  return guard(__func__,
               REQUIRED(handle, inputDesc, input, targetDesc, target,
                        doutputDesc, doutput, dinputDesc, dinput),
               [&]() -> ApiResult {
                 Status status = checkEnum(
                     reduction, MIOPEN_LOSS_REDUCTION_MEAN, "reduction");
                 for (auto [name, desc] : {std::pair("target", targetDesc),
                                           std::pair("doutput", doutputDesc),
                                           std::pair("dinput", dinputDesc)}) {
                   if (status.isOk())
                     status =
                         checkSameLengths(name, *desc, "input", *inputDesc);
                   if (status.isOk())
                     status = checkSameType(name, *desc, "input", *inputDesc);
                 }
                 if (!status.isOk())
                   return status;
                 return RowWiseCall(*handle, RowWiseKind::SoftMarginGradient, 0,
                                    inputDesc->lengths)
                     .add(RowRole::Input, "input", *inputDesc, input)
                     .add(RowRole::Input, "target", *targetDesc, target)
                     .add(RowRole::Input, "doutput", *doutputDesc, doutput)
                     .add(RowRole::Output, "dinput", *dinputDesc, dinput)
                     .scalar(getFactor(reduction, *inputDesc))
                     .run();
               });
}

miopenStatus_t miopenGetMultiMarginLossForwardWorkspaceSize(
    miopenHandle_t handle, miopenTensorDescriptor_t inputDesc,
    miopenTensorDescriptor_t targetDesc, miopenTensorDescriptor_t weightDesc,
    miopenTensorDescriptor_t outputDesc, long p, float margin,
    miopenLossReductionMode_t reduction, size_t *sizeInBytes) {
  return guard(__func__,
               REQUIRED(handle, inputDesc, targetDesc, weightDesc, outputDesc,
                        sizeInBytes),
               [&]() -> ApiResult {
                 const MultiMarginCall call{
                     *inputDesc, *targetDesc, *weightDesc, *outputDesc,
                     p,          margin,      reduction};
                 Status status = check(call);
                 if (status.isOk())
                   *sizeInBytes = getWorkspaceBytes(call);
                 return status;
               });
}

miopenStatus_t miopenMultiMarginLossForward(
    miopenHandle_t handle, miopenTensorDescriptor_t inputDesc,
    const void *input, miopenTensorDescriptor_t targetDesc, const void *target,
    miopenTensorDescriptor_t weightDesc, const void *weight,
    miopenTensorDescriptor_t outputDesc, void *output, long p, float margin,
    miopenLossReductionMode_t reduction, void *workspace,
    size_t workspaceSizeInBytes) {
  return guard(__func__,
               REQUIRED(handle, inputDesc, input, targetDesc, target,
                        weightDesc, weight, outputDesc, output),
               [&]() -> ApiResult {
                 return runMultiMargin(*handle,
                                       {*inputDesc, *targetDesc, *weightDesc,
                                        *outputDesc, p, margin, reduction},
                                       input, target, weight, output, workspace,
                                       workspaceSizeInBytes);
               });
}

} // extern "C"
