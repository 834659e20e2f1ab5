//===- MeasuredTimes.h - Times that Find has measured ----------*- C++ -*--===//
//
// Some clients call Find before every execution, because they emulate another
// library. A measurement allocates the tensors and waits for the device, so
// that its result is kept.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_CONVOLUTION_MEASUREDTIMES_H
#define TESSERA_CAPI_LIB_CONVOLUTION_MEASUREDTIMES_H

#include "runtime/Engine/Engine.h"

#include <optional>

namespace tessera::capi {

/// The time of a launch in milliseconds, if it was kept. The kernel must belong
/// to the process's engine; replacing the engine drops all times. Any thread
/// may call these.
std::optional<float> getMeasuredTime(const LoadedKernel &kernel);
void keepMeasuredTime(const LoadedKernel &kernel, float timeMs);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_CONVOLUTION_MEASUREDTIMES_H
