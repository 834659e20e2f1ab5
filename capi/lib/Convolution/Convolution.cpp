//===- Convolution.cpp - miopen/convolution.h -----------------------------===//

#include <miopen/convolution.h>

#include "capi/lib/Common/Objects.h"
#include "capi/lib/Convolution/ConvolutionDescriptor.h"
#include "capi/lib/Tensor/VectorLayout.h"

#include <algorithm>
#include <limits>
#include <string>

using namespace tessera;
using namespace tessera::capi;

/// Maps GroupConv and Depthwise to Convolution, because the group count tells
/// them apart.
static ErrorOr<miopenConvolutionMode_t>
normalizeMode(miopenConvolutionMode_t mode) {
  switch (mode) {
  case miopenConvolution:
  case miopenGroupConv:
  case miopenDepthwise:
    return miopenConvolution;
  case miopenTranspose:
    return miopenTranspose;
  }
  return invalidArgument("convolution mode " + std::to_string(mode) +
                         " is unknown");
}

static Status checkMinimum(const int *numbers, int count, int minimum,
                           const char *what) {
  for (int i = 0; i < count; ++i)
    if (numbers[i] < minimum)
      return invalidArgument(std::string(what) + " " +
                             std::to_string(numbers[i]) + " is below " +
                             std::to_string(minimum));
  return Status::ok();
}

/// Checks all numbers, then sets the descriptor to its defaults and to them.
static Status initConvolution(miopenConvolutionDescriptor &conv,
                              int spatialRank, const int *pads,
                              const int *strides, const int *dilations,
                              miopenConvolutionMode_t mode) {
  if (spatialRank < 1 ||
      spatialRank > miopenConvolutionDescriptor::kMaxSpatialRank)
    return invalidArgument(std::to_string(spatialRank) +
                           " spatial dimensions are not between 1 and 3");
  const ErrorOr<miopenConvolutionMode_t> normalized = normalizeMode(mode);
  if (!normalized)
    return normalized.getStatus();
  Status status = checkMinimum(pads, spatialRank, 0, "padding");
  if (status.isOk())
    status = checkMinimum(strides, spatialRank, 1, "stride");
  if (status.isOk())
    status = checkMinimum(dilations, spatialRank, 1, "dilation");
  if (!status.isOk())
    return status;
  conv = miopenConvolutionDescriptor();
  conv.mode = *normalized;
  conv.spatialRank = spatialRank;
  std::copy_n(pads, spatialRank, conv.pads.begin());
  std::copy_n(strides, spatialRank, conv.strides.begin());
  std::copy_n(dilations, spatialRank, conv.dilations.begin());
  return Status::ok();
}

static ApiResult setOutputPads(miopenConvolutionDescriptor &conv,
                               int spatialRank, const int *outputPads) {
  if (spatialRank != conv.spatialRank)
    return {miopenStatusUnknownError,
            "the convolution has " + std::to_string(conv.spatialRank) +
                " spatial dimensions, not " + std::to_string(spatialRank)};
  if (Status status =
          checkMinimum(outputPads, spatialRank, 0, "output padding");
      !status.isOk())
    return status;
  std::copy_n(outputPads, spatialRank, conv.outputPads.begin());
  return Status::ok();
}

static ApiResult notTwoDimensional(const miopenConvolutionDescriptor &conv) {
  return {miopenStatusUnknownError,
          "the convolution has " + std::to_string(conv.spatialRank) +
              " spatial dimensions, but this function is for 2"};
}

/// Copies the lengths of y to the ints of a client.
static Status copyOutputLengths(const miopenConvolutionDescriptor &conv,
                                const miopenTensorDescriptor &x,
                                const miopenTensorDescriptor &w, int *rank,
                                int *lengths) {
  const ErrorOr<OutputLengths> output =
      getForwardOutputLengths(conv, OtherWords::asChannelsLast(x).get(),
                              OtherWords::asChannelsLast(w).get());
  if (!output)
    return output.getStatus();
  for (int i = 0; i < output->rank; ++i)
    if (output->lengths[i] > std::numeric_limits<int>::max())
      return invalidArgument("an output length does not fit in an int");
  *rank = output->rank;
  std::copy_n(output->lengths.begin(), output->rank, lengths);
  return Status::ok();
}

namespace {
/// The member of a descriptor that keeps an attribute, and the range of its
/// values.
struct Attribute {
  int miopenConvolutionDescriptor::*field;
  int minimum;
  int maximum;
};
} // namespace

/// Finds the entry of `attribute`, or null. Takes an int because one enumerator
/// has different names with and without MIOPEN_BETA_API.
static const Attribute *findAttribute(int attribute) {
  using Descriptor = miopenConvolutionDescriptor;
  static constexpr Attribute kAttributes[] = {
      {&Descriptor::fp16AltImplementation, -1, 1},
      {&Descriptor::deterministic, 0, 1},
      {&Descriptor::fp8RoundingMode, 0, 1},
      {&Descriptor::mathType, miopenMathDefault, miopenMathPedantic},
  };
  static constexpr Attribute kWinograd = {&Descriptor::winograd, 0, 1};
  if (attribute == TESSERA_CONVOLUTION_ATTRIB_WINOGRAD)
    return &kWinograd;
  if (attribute < 0 || attribute >= static_cast<int>(std::size(kAttributes)))
    return nullptr;
  return &kAttributes[attribute];
}

static Status unknownAttribute(int attribute) {
  return invalidArgument("attribute " + std::to_string(attribute) +
                         " is unknown");
}

static bool isFindMode(int mode) {
  constexpr int kRetired = 4;
  return mode >= miopenConvolutionFindModeNormal &&
         mode <= miopenConvolutionFindModeTrustVerifyFull && mode != kRetired;
}

extern "C" {

miopenStatus_t
miopenCreateConvolutionDescriptor(miopenConvolutionDescriptor_t *convDesc) {
  return createObject(__func__, REQUIRED(convDesc), convDesc);
}

miopenStatus_t
miopenInitConvolutionDescriptor(miopenConvolutionDescriptor_t convDesc,
                                miopenConvolutionMode_t c_mode, int pad_h,
                                int pad_w, int stride_h, int stride_w,
                                int dilation_h, int dilation_w) {
  return guard(__func__, REQUIRED(convDesc), [&]() -> ApiResult {
    const int pads[] = {pad_h, pad_w};
    const int strides[] = {stride_h, stride_w};
    const int dilations[] = {dilation_h, dilation_w};
    return initConvolution(*convDesc, 2, pads, strides, dilations, c_mode);
  });
}

miopenStatus_t miopenInitConvolutionNdDescriptor(
    miopenConvolutionDescriptor_t convDesc, int spatialDim, const int *padA,
    const int *strideA, const int *dilationA, miopenConvolutionMode_t c_mode) {
  return guard(__func__, REQUIRED(convDesc, padA, strideA, dilationA),
               [&]() -> ApiResult {
                 return initConvolution(*convDesc, spatialDim, padA, strideA,
                                        dilationA, c_mode);
               });
}

miopenStatus_t
miopenGetConvolutionSpatialDim(miopenConvolutionDescriptor_t convDesc,
                               int *spatialDim) {
  return guard(__func__, REQUIRED(convDesc, spatialDim), [&]() -> ApiResult {
    *spatialDim = convDesc->spatialRank;
    return Status::ok();
  });
}

miopenStatus_t
miopenGetConvolutionDescriptor(miopenConvolutionDescriptor_t convDesc,
                               miopenConvolutionMode_t *c_mode, int *pad_h,
                               int *pad_w, int *stride_h, int *stride_w,
                               int *dilation_h, int *dilation_w) {
  return guard(__func__,
               REQUIRED(convDesc, c_mode, pad_h, pad_w, stride_h, stride_w,
                        dilation_h, dilation_w),
               [&]() -> ApiResult {
                 if (convDesc->spatialRank != 2)
                   return notTwoDimensional(*convDesc);
                 *c_mode = convDesc->mode;
                 *pad_h = convDesc->pads[0], *pad_w = convDesc->pads[1];
                 *stride_h = convDesc->strides[0];
                 *stride_w = convDesc->strides[1];
                 *dilation_h = convDesc->dilations[0];
                 *dilation_w = convDesc->dilations[1];
                 return Status::ok();
               });
}

miopenStatus_t
miopenGetConvolutionNdDescriptor(miopenConvolutionDescriptor_t convDesc,
                                 int requestedSpatialDim, int *spatialDim,
                                 int *padA, int *strideA, int *dilationA,
                                 miopenConvolutionMode_t *c_mode) {
  return guard(__func__, REQUIRED(convDesc), [&]() -> ApiResult {
    if (requestedSpatialDim < 0)
      return invalidArgument("requestedSpatialDim is negative");
    if (requestedSpatialDim > convDesc->spatialRank)
      return {miopenStatusUnknownError,
              "requestedSpatialDim is more than the " +
                  std::to_string(convDesc->spatialRank) +
                  " spatial dimensions of the convolution"};
    if (requestedSpatialDim > 0) {
      if (Status status = checkPointers(REQUIRED(padA, strideA, dilationA));
          !status.isOk())
        return status;
      std::copy_n(convDesc->pads.begin(), requestedSpatialDim, padA);
      std::copy_n(convDesc->strides.begin(), requestedSpatialDim, strideA);
      std::copy_n(convDesc->dilations.begin(), requestedSpatialDim, dilationA);
    }
    if (spatialDim)
      *spatialDim = convDesc->spatialRank;
    if (c_mode)
      *c_mode = convDesc->mode;
    return Status::ok();
  });
}

miopenStatus_t
miopenGetConvolutionGroupCount(miopenConvolutionDescriptor_t convDesc,
                               int *groupCount) {
  return guard(__func__, REQUIRED(convDesc, groupCount), [&]() -> ApiResult {
    *groupCount = convDesc->groups;
    return Status::ok();
  });
}

miopenStatus_t
miopenSetConvolutionGroupCount(miopenConvolutionDescriptor_t convDesc,
                               int groupCount) {
  return guard(__func__, REQUIRED(convDesc), [&]() -> ApiResult {
    convDesc->groups = groupCount;
    return Status::ok();
  });
}

miopenStatus_t
miopenSetTransposeConvOutputPadding(miopenConvolutionDescriptor_t convDesc,
                                    int adj_h, int adj_w) {
  return guard(__func__, REQUIRED(convDesc), [&]() -> ApiResult {
    const int outputPads[] = {adj_h, adj_w};
    return setOutputPads(*convDesc, 2, outputPads);
  });
}

miopenStatus_t
miopenSetTransposeConvNdOutputPadding(miopenConvolutionDescriptor_t convDesc,
                                      int spatialDim, const int *adjA) {
  return guard(__func__, REQUIRED(convDesc, adjA), [&]() -> ApiResult {
    return setOutputPads(*convDesc, spatialDim, adjA);
  });
}

miopenStatus_t miopenGetConvolutionForwardOutputDim(
    miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t inputTensorDesc,
    const miopenTensorDescriptor_t filterDesc, int *n, int *c, int *h, int *w) {
  return guard(__func__,
               REQUIRED(convDesc, anyLayout(inputTensorDesc),
                        anyLayout(filterDesc), n, c, h, w),
               [&]() -> ApiResult {
                 if (convDesc->spatialRank != 2)
                   return notTwoDimensional(*convDesc);
                 int rank;
                 int lengths[4];
                 if (Status status =
                         copyOutputLengths(*convDesc, *inputTensorDesc,
                                           *filterDesc, &rank, lengths);
                     !status.isOk())
                   return status;
                 *n = lengths[0], *c = lengths[1];
                 *h = lengths[2], *w = lengths[3];
                 return Status::ok();
               });
}

miopenStatus_t miopenGetConvolutionNdForwardOutputDim(
    miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t inputTensorDesc,
    const miopenTensorDescriptor_t filterDesc, int *nDim,
    int *outputTensorDimA) {
  return guard(__func__,
               REQUIRED(convDesc, anyLayout(inputTensorDesc),
                        anyLayout(filterDesc), nDim, outputTensorDimA),
               [&]() -> ApiResult {
                 return copyOutputLengths(*convDesc, *inputTensorDesc,
                                          *filterDesc, nDim, outputTensorDimA);
               });
}

miopenStatus_t
miopenDestroyConvolutionDescriptor(miopenConvolutionDescriptor_t convDesc) {
  return destroyObject(__func__, REQUIRED(convDesc), convDesc);
}

miopenStatus_t
miopenSetConvolutionAttribute(miopenConvolutionDescriptor_t convDesc,
                              const miopenConvolutionAttrib_t attr, int value) {
  return guard(__func__, REQUIRED(convDesc), [&]() -> ApiResult {
    const Attribute *attribute = findAttribute(attr);
    if (!attribute)
      return unknownAttribute(attr);
    if (value < attribute->minimum || value > attribute->maximum)
      return invalidArgument("attribute " + std::to_string(attr) +
                             " cannot have the value " + std::to_string(value));
    convDesc->*attribute->field = value;
    return Status::ok();
  });
}

miopenStatus_t
miopenGetConvolutionAttribute(miopenConvolutionDescriptor_t convDesc,
                              const miopenConvolutionAttrib_t attr,
                              int *value) {
  return guard(__func__, REQUIRED(convDesc, value), [&]() -> ApiResult {
    const Attribute *attribute = findAttribute(attr);
    if (!attribute)
      return unknownAttribute(attr);
    *value = convDesc->*attribute->field;
    return Status::ok();
  });
}

miopenStatus_t
miopenSetConvolutionFindMode(miopenConvolutionDescriptor_t convDesc,
                             miopenConvolutionFindMode_t findMode) {
  return guard(__func__, REQUIRED(convDesc), [&]() -> ApiResult {
    if (!isFindMode(findMode))
      return invalidArgument("find mode " + std::to_string(findMode) +
                             " is unknown");
    convDesc->findMode = findMode;
    return Status::ok();
  });
}

miopenStatus_t
miopenGetConvolutionFindMode(const miopenConvolutionDescriptor_t convDesc,
                             miopenConvolutionFindMode_t *findMode) {
  return guard(__func__, REQUIRED(convDesc, findMode), [&]() -> ApiResult {
    *findMode = convDesc->findMode;
    return Status::ok();
  });
}

miopenStatus_t
miopenHiddenSetConvolutionFindMode(miopenConvolutionDescriptor_t convDesc,
                                   int findMode) {
  return miopenSetConvolutionFindMode(
      convDesc, static_cast<miopenConvolutionFindMode_t>(findMode));
}

miopenStatus_t
miopenHiddenGetConvolutionFindMode(miopenConvolutionDescriptor_t convDesc,
                                   int *findMode) {
  return guard(__func__, REQUIRED(convDesc, findMode), [&]() -> ApiResult {
    *findMode = convDesc->findMode;
    return Status::ok();
  });
}

} // extern "C"
