//===- OutputLengths.cpp - The shape of a convolution's output ------------===//
//
// This file has the rules that connect x, w and the convolution descriptor, in
// both modes. Every function that computes or checks a shape uses them, so that
// the answer of miopenGetConvolutionForwardOutputDim() is always accepted.
//
//===----------------------------------------------------------------------===//

#include "capi/lib/Convolution/ConvolutionDescriptor.h"

#include <algorithm>
#include <limits>
#include <string>

using namespace tessera;
using namespace tessera::capi;

static bool isOfFloat8(const miopenTensorDescriptor &tensor) {
  const std::optional<DataType> known = findDataType(tensor.dataType);
  return known && isFloat8(*known);
}

static std::string str(int64_t number) { return std::to_string(number); }

static Status checkRanks(const miopenConvolutionDescriptor &conv,
                         const miopenTensorDescriptor &x,
                         const miopenTensorDescriptor &w) {
  const int rank = conv.spatialRank + 2;
  if (x.getRank() != rank || w.getRank() != rank)
    return invalidArgument("x has " + str(x.getRank()) + " dimensions and w " +
                           str(w.getRank()) + ", but a convolution over " +
                           str(conv.spatialRank) + " needs " + str(rank));
  // A filter that is computed of 8-bit floats may be wider than they are.
  if (x.dataType != w.dataType && !isOfFloat8(x) && !isOfFloat8(w))
    return invalidArgument("x and w have different data types");
  // This also keeps the arithmetic of the output lengths within 64 bits.
  for (const miopenTensorDescriptor *tensor : {&x, &w})
    for (int64_t length : tensor->lengths)
      if (length > std::numeric_limits<int32_t>::max())
        return notSupported("a length beyond 2^31 is not implemented");
  return Status::ok();
}

/// Checks the channels where w is [K, C / groups, ...].
static Status checkChannels(const miopenConvolutionDescriptor &conv,
                            int64_t inChannels, int64_t filterOutChannels,
                            int64_t filterInChannels) {
  if (conv.groups < 1)
    return invalidArgument("group count " + str(conv.groups) + " is below 1");
  if (inChannels % conv.groups != 0 || filterOutChannels % conv.groups != 0)
    return invalidArgument("group count " + str(conv.groups) +
                           " does not divide " + str(inChannels) +
                           " input and " + str(filterOutChannels) +
                           " output channels");
  if (filterInChannels != inChannels / conv.groups)
    return invalidArgument("w has " + str(filterInChannels) +
                           " channels a group, but x has " + str(inChannels) +
                           " in " + str(conv.groups) + " groups");
  return Status::ok();
}

/// Checks channels and output padding where w is [C, K / groups, ...].
static Status checkTransposedChannels(const miopenConvolutionDescriptor &conv,
                                      int64_t inChannels,
                                      int64_t filterInChannels) {
  if (conv.groups < 1)
    return invalidArgument("group count " + str(conv.groups) + " is below 1");
  if (inChannels != filterInChannels)
    return invalidArgument("w is for " + str(filterInChannels) +
                           " channels, but x has " + str(inChannels));
  if (inChannels % conv.groups != 0)
    return invalidArgument("group count " + str(conv.groups) +
                           " does not divide " + str(inChannels) +
                           " input channels");
  for (int i = 0; i < conv.spatialRank; ++i)
    if (conv.outputPads[i] >= conv.strides[i])
      return invalidArgument("output padding " + str(conv.outputPads[i]) +
                             " is not below the stride " +
                             str(conv.strides[i]));
  return Status::ok();
}

/// The length along spatial dimension `i`. Division truncates towards zero, as
/// in MIOpen, where the formula has a floor; the results differ only where they
/// are clamped to 1.
static int64_t getForwardLength(const miopenConvolutionDescriptor &conv, int i,
                                int64_t in, int64_t filter) {
  const int64_t covered = 1 + conv.dilations[i] * (filter - 1);
  return std::max<int64_t>(
      1, (in - covered + 2 * int64_t(conv.pads[i])) / conv.strides[i] + 1);
}

static int64_t getTransposedLength(const miopenConvolutionDescriptor &conv,
                                   int i, int64_t in, int64_t filter) {
  const int64_t covered = 1 + conv.dilations[i] * (filter - 1);
  return std::max<int64_t>(1, conv.strides[i] * (in - 1) + covered -
                                  2 * int64_t(conv.pads[i]) +
                                  conv.outputPads[i]);
}

ErrorOr<OutputLengths>
capi::getForwardOutputLengths(const miopenConvolutionDescriptor &conv,
                              const miopenTensorDescriptor &x,
                              const miopenTensorDescriptor &w) {
  if (Status status = checkRanks(conv, x, w); !status.isOk())
    return status;
  const bool transposed = conv.mode == miopenTranspose;
  Status status =
      transposed
          ? checkTransposedChannels(conv, x.lengths[1], w.lengths[0])
          : checkChannels(conv, x.lengths[1], w.lengths[0], w.lengths[1]);
  if (!status.isOk())
    return status;
  OutputLengths output;
  output.rank = x.getRank();
  output.lengths[0] = x.lengths[0];
  output.lengths[1] = transposed ? w.lengths[1] * conv.groups : w.lengths[0];
  for (int i = 0; i < conv.spatialRank; ++i)
    output.lengths[2 + i] =
        (transposed ? getTransposedLength : getForwardLength)(
            conv, i, x.lengths[2 + i], w.lengths[2 + i]);
  return output;
}
