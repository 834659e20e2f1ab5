//===- Extensions.cpp - tessera/tessera.h ---------------------------------===//

#include <tessera/tessera.h>

#include "capi/lib/ErrorGuard.h"
#include "capi/lib/ForwardKernel.h"
#include "capi/lib/Library.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

using namespace tessera;
using namespace tessera::capi;

static Status checkStructSize(uint32_t given, size_t expected) {
  if (given != expected)
    return invalidArgument("structSize is " + std::to_string(given) +
                           ", but must be " + std::to_string(expected));
  return Status::ok();
}

/// Copies as much of `text` as fits, and a zero byte.
template <size_t size>
static void copyText(std::string_view text, char (&destination)[size]) {
  const size_t length = std::min(text.size(), size - 1);
  std::memcpy(destination, text.data(), length);
  destination[length] = '\0';
}

static tesseraKernelOrigin_t getOrigin(const LoadedKernel &kernel) {
  switch (kernel.getOrigin()) {
  case LoadedKernel::Origin::Compiled:
    return tesseraKernelCompiled;
  case LoadedKernel::Origin::Database:
    return tesseraKernelFromDatabase;
  }
  return tesseraKernelCompiled;
}

static void describe(const LoadedKernel &loaded, tesseraKernelInfo &info) {
  const Kernel &kernel = loaded.getKernel();
  const KernelResources &resources = kernel.resources;
  info.origin = getOrigin(loaded);
  info.codeObjectBytes = kernel.codeObject.size();
  info.workspaceBytes = kernel.workspaceBytes;
  info.vgprs = resources.vgprs;
  info.agprs = resources.agprs;
  info.sgprs = resources.sgprs;
  info.vgprSpills = resources.vgprSpills;
  info.sgprSpills = resources.sgprSpills;
  info.ldsBytes = resources.ldsBytes;
  info.scratchBytes = resources.scratchBytes;
  copyText(kernel.tile, info.tile);
  info.stageCount = static_cast<uint32_t>(
      std::min<size_t>(kernel.stageTimes.size(), TESSERA_MAX_STAGES));
  for (uint32_t i = 0; i < info.stageCount; ++i) {
    copyText(kernel.stageTimes[i].stage, info.stages[i].name);
    info.stages[i].timeMs = kernel.stageTimes[i].timeMs;
  }
}

extern "C" {

const char *tesseraGetLastErrorMessage(void) { return getLastErrorMessage(); }

miopenStatus_t tesseraGetCounters(tesseraCounters *counters) {
  return guard(__func__, {{counters, "counters"}}, [&]() -> ApiResult {
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
      __func__,
      {{handle, "handle"},
       {xDesc, "xDesc"},
       {wDesc, "wDesc"},
       {convDesc, "convDesc"},
       {yDesc, "yDesc"},
       {info, "info"}},
      [&]() -> ApiResult {
        if (Status status = checkStructSize(info->structSize, sizeof *info);
            !status.isOk())
          return status;
        const auto kernel =
            prepareForward(*handle, {*xDesc, *wDesc, *convDesc, *yDesc});
        if (!kernel)
          return kernel.getStatus();
        describe(**kernel, *info);
        return Status::ok();
      });
}

} // extern "C"
