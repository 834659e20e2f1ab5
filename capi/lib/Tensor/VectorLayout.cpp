//===- VectorLayout.cpp - Tensors with blocks of channels -----------------===//

#include "capi/lib/Tensor/VectorLayout.h"

#include "capi/lib/RowWise/RowWiseCall.h"

#include <array>

using namespace tessera;
using namespace tessera::capi;

namespace {
/// Lengths or strides of [N, blocks, H, W, channels of a block].
using Five = std::array<int64_t, 5>;
} // namespace

/// `numbers` has one for each of N, C, H, W, or C, H, W, N.
static Five toFive(const miopenTensorDescriptor &tensor,
                   const std::vector<int64_t> &numbers, int64_t last) {
  if (tensor.hasBatchLast)
    return {numbers[3], numbers[0], numbers[1], numbers[2], last};
  return {numbers[0], numbers[1], numbers[2], numbers[3], last};
}

/// Packed NHWC of these lengths N, C, H, W.
static miopenTensorDescriptor makeChannelsLast(miopenDataType_t type, int64_t n,
                                               int64_t c, int64_t h,
                                               int64_t w) {
  miopenTensorDescriptor tensor;
  tensor.dataType = type;
  tensor.lengths = {n, c, h, w};
  tensor.strides = {h * w * c, 1, w * c, c};
  return tensor;
}

OtherWords OtherWords::asChannelsLast(const miopenTensorDescriptor &given) {
  OtherWords words;
  if (!given.hasVectors()) {
    words.given = &given;
    return words;
  }
  const auto [n, blocks, h, w, channels] =
      toFive(given, given.lengths, given.vectorLength);
  words.other = makeChannelsLast(given.dataType, n, blocks * channels, h, w);
  words.other.castType = given.castType;
  return words;
}

OtherWords OtherWords::asImages(const miopenTensorDescriptor &given) {
  OtherWords words;
  if (!given.hasVectors()) {
    words.given = &given;
    return words;
  }
  const auto [n, blocks, h, w, channels] =
      toFive(given, given.lengths, given.vectorLength);
  words.other =
      given.hasBatchLast
          ? makeChannelsLast(given.dataType, blocks, n * channels, h, w)
          : makeChannelsLast(given.dataType, n * blocks, channels, h, w);
  return words;
}

/// A type of the same size that row-wise programs copy bit by bit.
static DataType getCopiedType(miopenDataType_t type) {
  const DataType known = *findDataType(type);
  return isFloat8(known) ? DataType::I8 : known;
}

static Status copy(miopenHandle &handle, const miopenTensorDescriptor &tensor,
                   const void *from, void *to, bool isBack) {
  const Five lengths = toFive(tensor, tensor.lengths, tensor.vectorLength);
  const auto [n, blocks, h, w, channels] = lengths;
  const int64_t all = blocks * channels;
  const Five blocked = toFive(tensor, tensor.strides, 1);
  const Five plain = {h * w * all, channels, w * all, all, 1};
  const DataType type = getCopiedType(tensor.dataType);
  RowWiseCall call(handle, RowWiseKind::TransformTensor, 0, lengths);
  call.add(RowRole::Input, "x", type, isBack ? plain : blocked, from)
      .add(RowRole::Output, "y", type, isBack ? blocked : plain, to);
  const ErrorOr<const LoadedKernel *> kernel = call.prepare();
  if (!kernel)
    return kernel.getStatus();
  const ErrorOr<void *> scratch =
      handle.getScratch((*kernel)->getKernel().workspaceBytes);
  if (!scratch)
    return scratch.getStatus();
  return handle.launch(**kernel, call.getArgs(*scratch));
}

Status capi::copyToChannelsLast(miopenHandle &handle,
                                const miopenTensorDescriptor &tensor,
                                const void *from, void *to) {
  return copy(handle, tensor, from, to, /*isBack=*/false);
}

Status capi::copyFromChannelsLast(miopenHandle &handle,
                                  const miopenTensorDescriptor &tensor,
                                  const void *from, void *to) {
  return copy(handle, tensor, from, to, /*isBack=*/true);
}
