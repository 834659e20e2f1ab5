//===- KernelInfo.cpp - A kernel as the extensions describe it ------------===//

#include "capi/lib/Handle/KernelInfo.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

using namespace tessera;
using namespace tessera::capi;

Status capi::checkStructSize(uint32_t given, size_t expected) {
  if (given != expected)
    return invalidArgument("structSize is " + std::to_string(given) +
                           ", but must be " + std::to_string(expected));
  return Status::ok();
}

/// Copies as much of `text` as fits, and appends a zero byte.
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

void capi::describe(const LoadedKernel &loaded, tesseraKernelInfo &info) {
  const Kernel &kernel = loaded.getKernel();
  const KernelResources &resources = kernel.resources;
  info.origin = getOrigin(loaded);
  info.codeObjectBytes = loaded.getCodeObject().size();
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
