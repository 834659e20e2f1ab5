//===- LaunchLds.h - LDS that a launch may request -------------*- C++ -*--===//
//
// A kernel may declare at most GpuTarget::ldsBytes of LDS statically. On
// NVIDIA's chips a launch can request more, as dynamic shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_TARGET_LAUNCHLDS_H
#define TESSERA_COMPILER_TARGET_LAUNCHLDS_H

#include "runtime/Base/GpuTarget.h"

namespace tessera {

/// The most bytes of LDS that a workgroup can have, static or dynamic.
int64_t getMaxLdsBytes(const GpuTarget &target);

} // namespace tessera

#endif // TESSERA_COMPILER_TARGET_LAUNCHLDS_H
