//===- Extensions.cpp - tessera/tessera.h ---------------------------------===//

#include <tessera/tessera.h>

#include "capi/lib/Common/ErrorGuard.h"
#include "capi/lib/Common/Library.h"
#include "capi/lib/Convolution/ConvolutionCall.h"
#include "capi/lib/Handle/KernelInfo.h"

using namespace tessera;
using namespace tessera::capi;

extern "C" {

const char *tesseraGetLastErrorMessage(void) { return getLastErrorMessage(); }

miopenStatus_t tesseraGetCounters(tesseraCounters *counters) {
  return guard(__func__, REQUIRED(counters), [&]() -> ApiResult {
    if (Status status = checkStructSize(counters->structSize, sizeof *counters);
        !status.isOk())
      return status;
    *counters = TESSERA_COUNTERS_INIT;
    if (const Engine *engine = getEngineIfCreated()) {
      const EngineCounters &values = engine->getCounters();
      counters->compiled = values.compiled;
      counters->fromDatabase = values.fromDatabase;
      counters->fromMemory = values.fromMemory;
      counters->launched = values.launched;
      counters->generic = values.generic;
      counters->promoted = values.promoted;
    }
    return Status::ok();
  });
}

miopenStatus_t tesseraGetConvolutionForwardKernelInfo(
    miopenHandle_t handle, const miopenTensorDescriptor_t xDesc,
    const miopenTensorDescriptor_t wDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, tesseraKernelInfo *info) {
  return guard(
      __func__, REQUIRED(handle, xDesc, wDesc, convDesc, yDesc, info),
      [&]() -> ApiResult {
        if (Status status = checkStructSize(info->structSize, sizeof *info);
            !status.isOk())
          return status;
        const auto kernel = prepareKernel(
            {*handle, Direction::Forward, {*xDesc, *wDesc, *convDesc, *yDesc}});
        if (!kernel)
          return kernel.getStatus();
        describe(**kernel, *info);
        return Status::ok();
      });
}

} // extern "C"
