//===- FindSearch.h - Tuning by a Find -------------------------*- C++ -*--===//

#ifndef TESSERA_CAPI_LIB_FIND_FINDSEARCH_H
#define TESSERA_CAPI_LIB_FIND_FINDSEARCH_H

#include "capi/lib/Find/FindSettings.h"
#include "runtime/Engine/Engine.h"

namespace tessera::capi {

/// Deletes what tuning has found for the problem, if MIOPEN_FIND_ENFORCE asks
/// for that. Must run before the kernel is prepared, which reads it.
void cleanForFind(Engine &engine, const Problem &problem,
                  const FindSettings &settings);

/// Tunes the problem once in a process, if the client or the environment asks
/// for it, or queues it for tuning in the background. Returns the kernel to use
/// afterwards. `current` is the kernel so far; its workspace is the limit,
/// because clients have asked for that size already. If tuning fails, `current`
/// is returned. Tuning runs on tensors of its own, so that those of the client
/// keep their values.
ErrorOr<const LoadedKernel *> searchForFind(Engine &engine,
                                            const Problem &problem,
                                            const LoadedKernel &current,
                                            bool isAsked,
                                            const FindSettings &settings);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_FIND_FINDSEARCH_H
