//===- HipContext.cpp - Contexts of the emulated HIP ----------------------===//
//
// Contexts are a leftover of CUDA's driver interface. All of them stand for the
// device's one state. Each thread has a stack of current contexts, so that
// pushes and pops pair up.
//
//===----------------------------------------------------------------------===//

#include "runtime/Emulator/Hip/Handles.h"

#include <atomic>
#include <vector>

using namespace tessera::emulator;

struct ihipCtx_t {
  unsigned flags = 0;
};

static HandleSet<ihipCtx_t> &getContexts() {
  static auto *contexts = new HandleSet<ihipCtx_t>;
  return *contexts;
}
static ihipCtx_t *getPrimary() {
  static ihipCtx_t *primary = getContexts().add(new ihipCtx_t);
  return primary;
}
static std::atomic<int> primaryUsers{0};
static thread_local std::vector<ihipCtx_t *> current;

TESSERA_HIP hipError_t hipCtxCreate(hipCtx_t *context, unsigned flags,
                                    hipDevice_t id) {
  if (!context)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = checkDevice(id))
    return error;
  *context = getContexts().add(new ihipCtx_t{flags});
  current.push_back(*context);
  return hipSuccess;
}
TESSERA_HIP hipError_t hipCtxDestroy(hipCtx_t context) {
  if (!context || context == getPrimary() || !getContexts().remove(context))
    return setError(hipErrorInvalidValue);
  std::erase(current, context);
  return hipSuccess;
}
TESSERA_HIP hipError_t hipCtxPushCurrent(hipCtx_t context) {
  if (!context || !getContexts().has(context))
    return setError(hipErrorInvalidContext);
  current.push_back(context);
  return hipSuccess;
}
TESSERA_HIP hipError_t hipCtxPopCurrent(hipCtx_t *context) {
  if (current.empty())
    return setError(hipErrorInvalidContext);
  if (context)
    *context = current.back();
  current.pop_back();
  return hipSuccess;
}
TESSERA_HIP hipError_t hipCtxSetCurrent(hipCtx_t context) {
  if (context && !getContexts().has(context))
    return setError(hipErrorInvalidContext);
  if (!current.empty())
    current.pop_back();
  if (context)
    current.push_back(context);
  return hipSuccess;
}
// Runtime calls use the primary context if no context is current.
TESSERA_HIP hipError_t hipCtxGetCurrent(hipCtx_t *context) {
  if (!context)
    return setError(hipErrorInvalidValue);
  *context = current.empty() ? getPrimary() : current.back();
  return checkDevice(0);
}
TESSERA_HIP hipError_t hipCtxGetDevice(hipDevice_t *device) {
  if (!device)
    return setError(hipErrorInvalidValue);
  *device = 0;
  return checkDevice(0);
}
TESSERA_HIP hipError_t hipCtxGetFlags(unsigned *flags) {
  if (!flags)
    return setError(hipErrorInvalidValue);
  *flags = current.empty() ? getPrimary()->flags : current.back()->flags;
  return hipSuccess;
}
TESSERA_HIP hipError_t hipCtxSynchronize() { return checkDevice(0); }
TESSERA_HIP hipError_t hipCtxEnablePeerAccess(hipCtx_t, unsigned) {
  return setError(hipErrorInvalidDevice);
}
TESSERA_HIP hipError_t hipCtxDisablePeerAccess(hipCtx_t) {
  return setError(hipErrorPeerAccessNotEnabled);
}

TESSERA_HIP hipError_t hipDevicePrimaryCtxRetain(hipCtx_t *context,
                                                 hipDevice_t id) {
  if (!context)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = checkDevice(id))
    return error;
  ++primaryUsers;
  *context = getPrimary();
  return hipSuccess;
}
TESSERA_HIP hipError_t hipDevicePrimaryCtxRelease(hipDevice_t id) {
  if (hipError_t error = checkDevice(id))
    return error;
  if (primaryUsers > 0)
    --primaryUsers;
  return hipSuccess;
}
TESSERA_HIP hipError_t hipDevicePrimaryCtxReset(hipDevice_t id) {
  return checkDevice(id);
}
TESSERA_HIP hipError_t hipDevicePrimaryCtxGetState(hipDevice_t id,
                                                   unsigned *flags,
                                                   int *isActive) {
  if (!flags || !isActive)
    return setError(hipErrorInvalidValue);
  if (hipError_t error = checkDevice(id))
    return error;
  *flags = getPrimary()->flags;
  *isActive = primaryUsers > 0;
  return hipSuccess;
}
// As in AMD's runtime, flags cannot be changed once the context exists.
TESSERA_HIP hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t id, unsigned) {
  if (hipError_t error = checkDevice(id))
    return error;
  return setError(hipErrorContextAlreadyInUse);
}
