//===- LaunchLds.h - LDS that a launch asks for ----------------*- C++ -*-===//
//
// The code of a kernel may declare so much LDS (GpuTarget::ldsBytes), which on
// NVIDIA's chips is less than there is: a launch can ask for more.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_TARGET_LAUNCHLDS_H
#define TESSERA_COMPILER_TARGET_LAUNCHLDS_H

#include "runtime/Base/GpuTarget.h"

namespace tessera {

/// The most LDS that a workgroup can have, declared or asked for.
int64_t getMaxLdsBytes(const GpuTarget &target);

} // namespace tessera

#endif // TESSERA_COMPILER_TARGET_LAUNCHLDS_H
