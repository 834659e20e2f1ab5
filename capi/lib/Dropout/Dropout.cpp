//===- Dropout.cpp - miopen/dropout.h -------------------------------------===//
//
// The states on the device are a seed and a counter of the elements that random
// numbers were drawn for (docs/spec/row-wise.md). Kernels read and advance
// them, so that no call waits for the device.
//
//===----------------------------------------------------------------------===//

#include "capi/lib/Common/Objects.h"
#include "capi/lib/Dropout/DropoutDescriptor.h"
#include "capi/lib/RowWise/RowWiseCall.h"

using namespace tessera;
using namespace tessera::capi;

static Status setDropout(miopenDropoutDescriptor &desc,
                         const miopenDropoutDescriptor &values) {
  if (!(values.rate >= 0 && values.rate <= 1))
    return invalidArgument("the rate is not between 0 and 1");
  if (Status status =
          checkEnum(values.generator, MIOPEN_RNG_PSEUDO_XORWOW, "generator");
      !status.isOk())
    return status;
  desc = values;
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

static constexpr size_t kWordBytes = sizeof(int64_t);
static constexpr size_t kStateBytes = 2 * kWordBytes;
/// What clients are told. PyTorch takes it for an array of rocRAND's states,
/// and allocates as many whole ones of 48 bytes as it holds.
static constexpr size_t kReportedStateBytes = 192;

static void *getCounter(const miopenDropoutDescriptor &desc) {
  return static_cast<char *>(desc.states) + kWordBytes;
}

/// Writes a number of 64 bits on the device, in stream order.
static ApiResult setWord(miopenHandle &handle, void *word, uint64_t value) {
  constexpr int64_t one[] = {1};
  return RowWiseCall(handle, RowWiseKind::SetTensor, 0, one)
      .add(RowRole::Output, "states", DataType::I64, one, word)
      .integer(static_cast<int64_t>(value))
      .run();
}

/// Initialises the states. Memory that is too small is no error here:
/// miopenDropoutForward() refuses it if it draws numbers.
static ApiResult beginStates(miopenHandle &handle,
                             const miopenDropoutDescriptor &desc) {
  if (!desc.states || desc.stateBytes < kStateBytes)
    return Status::ok();
  const KernelTimeSum sum(handle);
  ApiResult result = setWord(handle, desc.states, desc.seed);
  if (result.getStatus() == miopenStatusSuccess)
    result = setWord(handle, getCounter(desc), 0);
  return result;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

namespace {
/// A call in either direction, which reads x and writes y. Refers to the
/// client's objects.
struct DropoutCall {
  miopenHandle &handle;
  const miopenDropoutDescriptor &dropout;
  const miopenTensorDescriptor &noise, &x, &y;
  const void *dataX;
  void *dataY, *reserve;
  size_t reserveBytes;
  bool isForward;

  int64_t countElements() const {
    int64_t elements = 1;
    for (int64_t length : x.lengths)
      elements *= length;
    return elements;
  }
  double getScale() const {
    return dropout.rate == 1 ? 0 : 1 / (1 - dropout.rate);
  }
  /// Strides of the mask, which is packed in the order of the lengths.
  std::vector<int64_t> getMaskStrides() const {
    std::vector<int64_t> strides(x.lengths.size());
    int64_t stride = 1;
    for (size_t dim = strides.size(); dim-- > 0;) {
      strides[dim] = stride;
      stride *= x.lengths[dim];
    }
    return strides;
  }
};
} // namespace

static ApiResult checkCall(const DropoutCall &call) {
  Status status = checkSameLengths("the input", call.x, "the output", call.y);
  if (status.isOk())
    status = checkSameLengths("noise_shape", call.noise, "the input", call.x);
  if (status.isOk())
    status = checkSameType("the input", call.x, "the output", call.y);
  if (status.isOk())
    status = checkFloat(call.x);
  if (!status.isOk())
    return status;
  const auto needed = static_cast<size_t>(call.countElements());
  const bool needsReserve = call.reserve || call.dropout.useMask;
  if (needsReserve && (!call.reserve || call.reserveBytes < needed))
    return {miopenStatusUnknownError,
            "the reserve space is too small for a mask of " +
                std::to_string(needed) + " bytes"};
  return Status::ok();
}

/// Keeps the elements that the mask in the reserve space keeps.
static ApiResult applyMask(const DropoutCall &call) {
  return RowWiseCall(call.handle, RowWiseKind::DropoutMask, 0, call.x.lengths)
      .add(RowRole::Input, "the input", call.x, call.dataX)
      .add(RowRole::Input, "the mask", DataType::I8, call.getMaskStrides(),
           call.reserve)
      .add(RowRole::Output, "the output", call.y, call.dataY)
      .scalar(call.getScale())
      .run();
}

static ApiResult draw(const DropoutCall &call) {
  const miopenDropoutDescriptor &dropout = call.dropout;
  if (!dropout.states || dropout.stateBytes < kStateBytes)
    return {miopenStatusUnknownError,
            "the states of the dropout descriptor are too small"};
  const std::vector<int64_t> one(call.x.lengths.size(), 0);
  RowWiseCall rowCall(call.handle, RowWiseKind::Dropout, call.reserve ? 1 : 0,
                      call.x.lengths);
  rowCall.add(RowRole::Input, "the input", call.x, call.dataX)
      .add(RowRole::Input, "the seed", DataType::I64, one, dropout.states)
      .add(RowRole::Input, "the counter", DataType::I64, one,
           getCounter(dropout))
      .add(RowRole::Output, "the output", call.y, call.dataY)
      .scalar(dropout.rate)
      .scalar(call.getScale());
  if (call.reserve)
    rowCall.add(RowRole::Output, "the mask", DataType::I8,
                call.getMaskStrides(), call.reserve);
  return rowCall.run();
}

static ApiResult advance(const DropoutCall &call) {
  constexpr int64_t one[] = {1};
  void *counter = getCounter(call.dropout);
  return RowWiseCall(call.handle, RowWiseKind::DropoutAdvance, 0, one)
      .add(RowRole::Input, "states", DataType::I64, one, counter)
      .add(RowRole::Output, "states", DataType::I64, one, counter)
      .integer(call.countElements())
      .run();
}

static ApiResult run(const DropoutCall &call) {
  ApiResult result = checkCall(call);
  if (result.getStatus() != miopenStatusSuccess)
    return result;
  const bool hasMask =
      call.isForward ? call.dropout.useMask : call.reserve != nullptr;
  if (hasMask)
    return applyMask(call);
  const KernelTimeSum sum(call.handle);
  result = draw(call);
  if (result.getStatus() == miopenStatusSuccess && call.isForward &&
      call.dropout.stateEvolution)
    result = advance(call);
  return result;
}

/// A call in which the mask is the whole reserve space.
static DropoutCall makeMaskedCall(miopenHandle &handle,
                                  const miopenDropoutDescriptor &dropout,
                                  const miopenTensorDescriptor &tensor,
                                  const void *x, void *y, void *mask) {
  DropoutCall call{handle, dropout, tensor, tensor, tensor,
                   x,      y,       mask,   0,      true};
  call.reserveBytes = static_cast<size_t>(call.countElements());
  return call;
}

ApiResult capi::dropElements(miopenHandle &handle,
                             const miopenDropoutDescriptor &dropout,
                             const miopenTensorDescriptor &tensor,
                             const void *x, void *y, void *mask) {
  const DropoutCall call = makeMaskedCall(handle, dropout, tensor, x, y, mask);
  ApiResult result = checkCall(call);
  if (result.getStatus() == miopenStatusSuccess)
    result = draw(call);
  if (result.getStatus() == miopenStatusSuccess)
    result = advance(call);
  return result;
}

ApiResult capi::dropMasked(miopenHandle &handle,
                           const miopenDropoutDescriptor &dropout,
                           const miopenTensorDescriptor &tensor, const void *x,
                           void *y, void *mask) {
  const DropoutCall call = makeMaskedCall(handle, dropout, tensor, x, y, mask);
  ApiResult result = checkCall(call);
  if (result.getStatus() == miopenStatusSuccess)
    result = applyMask(call);
  return result;
}

extern "C" {

miopenStatus_t
miopenCreateDropoutDescriptor(miopenDropoutDescriptor_t *dropoutDesc) {
  return createObject(__func__, REQUIRED(dropoutDesc), dropoutDesc);
}

miopenStatus_t
miopenDestroyDropoutDescriptor(miopenDropoutDescriptor_t dropoutDesc) {
  return destroyObject(__func__, REQUIRED(dropoutDesc), dropoutDesc);
}

miopenStatus_t
miopenDropoutGetReserveSpaceSize(const miopenTensorDescriptor_t xDesc,
                                 size_t *reserveSpaceSizeInBytes) {
  return guard(__func__, REQUIRED(xDesc, reserveSpaceSizeInBytes),
               [&]() -> ApiResult {
                 *reserveSpaceSizeInBytes = 1;
                 for (int64_t length : xDesc->lengths)
                   *reserveSpaceSizeInBytes *= length;
                 return Status::ok();
               });
}

miopenStatus_t miopenDropoutGetStatesSize(miopenHandle_t handle,
                                          size_t *stateSizeInBytes) {
  return guard(__func__, REQUIRED(handle, stateSizeInBytes),
               [&]() -> ApiResult {
                 *stateSizeInBytes = kReportedStateBytes;
                 return Status::ok();
               });
}

miopenStatus_t miopenGetDropoutDescriptor(miopenDropoutDescriptor_t dropoutDesc,
                                          miopenHandle_t handle, float *dropout,
                                          void **states,
                                          unsigned long long *seed,
                                          bool *use_mask, bool *state_evo,
                                          miopenRNGType_t *rng_mode) {
  return guard(__func__, REQUIRED(dropoutDesc, handle), [&]() -> ApiResult {
    setIfWanted(dropout, dropoutDesc->rate);
    setIfWanted(states, dropoutDesc->states);
    setIfWanted(seed, dropoutDesc->seed);
    setIfWanted(use_mask, dropoutDesc->useMask);
    setIfWanted(state_evo, dropoutDesc->stateEvolution);
    setIfWanted(rng_mode, dropoutDesc->generator);
    return Status::ok();
  });
}

miopenStatus_t miopenRestoreDropoutDescriptor(
    miopenDropoutDescriptor_t dropoutDesc, miopenHandle_t handle, float dropout,
    void *states, size_t stateSizeInBytes, unsigned long long seed,
    bool use_mask, bool state_evo, miopenRNGType_t rng_mode) {
  return guard(__func__, REQUIRED(dropoutDesc, handle), [&]() -> ApiResult {
    return setDropout(*dropoutDesc, {{},
                                     dropout,
                                     states,
                                     stateSizeInBytes,
                                     seed,
                                     use_mask,
                                     state_evo,
                                     rng_mode});
  });
}

miopenStatus_t miopenSetDropoutDescriptor(miopenDropoutDescriptor_t dropoutDesc,
                                          miopenHandle_t handle, float dropout,
                                          void *states, size_t stateSizeInBytes,
                                          unsigned long long seed,
                                          bool use_mask, bool state_evo,
                                          miopenRNGType_t rng_mode) {
  return guard(__func__, REQUIRED(dropoutDesc, handle), [&]() -> ApiResult {
    if (Status status = setDropout(*dropoutDesc, {{},
                                                  dropout,
                                                  states,
                                                  stateSizeInBytes,
                                                  seed,
                                                  use_mask,
                                                  state_evo,
                                                  rng_mode});
        !status.isOk())
      return status;
    return beginStates(*handle, *dropoutDesc);
  });
}

miopenStatus_t miopenDropoutForward(miopenHandle_t handle,
                                    const miopenDropoutDescriptor_t dropoutDesc,
                                    const miopenTensorDescriptor_t noise_shape,
                                    const miopenTensorDescriptor_t xDesc,
                                    const void *x,
                                    const miopenTensorDescriptor_t yDesc,
                                    void *y, void *reserveSpace,
                                    size_t reserveSpaceSizeInBytes) {
  return guard(
      __func__, REQUIRED(handle, dropoutDesc, noise_shape, xDesc, x, yDesc, y),
      [&]() -> ApiResult {
        return run({*handle, *dropoutDesc, *noise_shape, *xDesc, *yDesc, x, y,
                    reserveSpace, reserveSpaceSizeInBytes, /*isForward=*/true});
      });
}

miopenStatus_t
miopenDropoutBackward(miopenHandle_t handle,
                      const miopenDropoutDescriptor_t dropoutDesc,
                      const miopenTensorDescriptor_t noise_shape,
                      const miopenTensorDescriptor_t dyDesc, const void *dy,
                      const miopenTensorDescriptor_t dxDesc, void *dx,
                      void *reserveSpace, size_t reserveSpaceSizeInBytes) {
  return guard(
      __func__,
      REQUIRED(handle, dropoutDesc, noise_shape, dyDesc, dy, dxDesc, dx),
      [&]() -> ApiResult {
        return run({*handle, *dropoutDesc, *noise_shape, *dyDesc, *dxDesc, dy,
                    dx, reserveSpace, reserveSpaceSizeInBytes,
                    /*isForward=*/false});
      });
}

} // extern "C"
