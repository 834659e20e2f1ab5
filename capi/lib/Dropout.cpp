//===- Dropout.cpp - The descriptor of miopen/dropout.h -------------------===//

#include <miopen/dropout.h>

#include "capi/lib/Objects.h"
#include "capi/lib/TensorDescriptor.h"

using namespace tessera;
using namespace tessera::capi;

/// Rate and generator. Owned by the client; the states are borrowed.
struct miopenDropoutDescriptor {
  float rate = 0;
  void *states = nullptr;
  size_t stateBytes = 0;
  unsigned long long seed = 0;
  bool useMask = false;
  bool stateEvolution = false;
  miopenRNGType_t generator = MIOPEN_RNG_PSEUDO_XORWOW;
};

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
                 *stateSizeInBytes = 0;
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
    return setDropout(*dropoutDesc, {dropout, states, stateSizeInBytes, seed,
                                     use_mask, state_evo, rng_mode});
  });
}

miopenStatus_t miopenSetDropoutDescriptor(miopenDropoutDescriptor_t dropoutDesc,
                                          miopenHandle_t handle, float dropout,
                                          void *states, size_t stateSizeInBytes,
                                          unsigned long long seed,
                                          bool use_mask, bool state_evo,
                                          miopenRNGType_t rng_mode) {
  return guard(__func__, REQUIRED(dropoutDesc, handle), [&]() -> ApiResult {
    return setDropout(*dropoutDesc, {dropout, states, stateSizeInBytes, seed,
                                     use_mask, state_evo, rng_mode});
  });
}

} // extern "C"
