//===- OtherRuntime.h - Two HIP runtimes in one process --------*- C++ -*--===//
//
// A process can load a second libamdhip64: one that a framework bundles, or the
// system's beside our stand-in for it. Memory and streams of one are of no use
// to the other, and all that a client then sees is a failed launch, or nothing.
// So it is warned, once in a process, with both files and what to do.
//
// Not every call is checked. A check walks over the loaded objects, which costs
// some microseconds, and only if that finds another runtime are the runtimes
// asked. The check is made when a handle is created, when a handle gets its
// first stream, at a handle's first launch, and when a launch has failed. The
// creation of the first handle alone would not do, because a runtime may be
// loaded later.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_GPU_OTHERRUNTIME_H
#define TESSERA_RUNTIME_GPU_OTHERRUNTIME_H

#include "runtime/Gpu/GpuApi.h"

#include <span>

namespace tessera {

/// Warns if the process has loaded another libamdhip64 than the one of `gpu`
/// and those that GpuApiLoader has tried.
void warnOfOtherRuntime(const GpuApi &gpu);

/// Warns if the stream belongs to another runtime.
void warnOfForeignStream(const GpuApi &gpu, hipStream_t stream);

/// Warns if one of the pointers, which may be null, points to another runtime's
/// memory.
void warnOfForeignMemory(const GpuApi &gpu,
                         std::span<const void *const> pointers);

/// Records that we have opened the runtime of this file ourselves, so that it
/// is no sign of a client that uses it.
void addTriedRuntime(const std::string &path);

} // namespace tessera

#endif // TESSERA_RUNTIME_GPU_OTHERRUNTIME_H
