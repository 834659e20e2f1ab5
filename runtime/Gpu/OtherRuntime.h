//===- OtherRuntime.h - Two HIP runtimes in one process --------*- C++ -*-===//
//
// A process can load a second libamdhip64: one that a framework brings along,
// or the system's beside our stand-in for it. Memory and streams of one are of
// no use to the other, and what a client then sees is a failed launch, or
// nothing. So it is told, once in a process, with both files and what to do.
//
// Nobody looks at every call. A look costs a walk over the loaded objects, some
// microseconds, and only where that finds another runtime are the runtimes
// asked. It is taken when a handle is made, when a handle gets its first
// stream, at a handle's first launch, and when a launch has failed: later than
// the first, because a runtime may be loaded later.
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

/// Warns if the stream is another runtime's.
void warnOfForeignStream(const GpuApi &gpu, hipStream_t stream);

/// Warns if one of the pointers, which may be null, is to another runtime's
/// memory.
void warnOfForeignMemory(const GpuApi &gpu,
                         std::span<const void *const> pointers);

/// From now on the runtime of this file is no sign of a client that uses it.
void addTriedRuntime(const std::string &path);

} // namespace tessera

#endif // TESSERA_RUNTIME_GPU_OTHERRUNTIME_H
