//===- MeasuredTimes.h - What a search has measured already ----*- C++ -*-===//
//
// Clients that emulate another library search again before every call, and a
// measurement allocates the tensors and waits for the device.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_MEASUREDTIMES_H
#define TESSERA_CAPI_LIB_MEASUREDTIMES_H

#include "runtime/Engine/Engine.h"

#include <optional>

namespace tessera::capi {

/// How long a launch of the kernel takes, if that was kept. The kernel is one
/// of the process's engine, with which the times go. Any thread.
std::optional<float> getMeasuredTime(const LoadedKernel &kernel);
void keepMeasuredTime(const LoadedKernel &kernel, float timeMs);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_MEASUREDTIMES_H
