//===- FindSearch.h - A Find that takes its time ---------------*- C++ -*-===//

#ifndef TESSERA_CAPI_LIB_FINDSEARCH_H
#define TESSERA_CAPI_LIB_FINDSEARCH_H

#include "capi/lib/Find/FindSettings.h"
#include "runtime/Engine/Engine.h"

namespace tessera::capi {

/// Forgets what tuning has found for the problem, if MIOPEN_FIND_ENFORCE asks
/// for that. Before the kernel is prepared.
void cleanForFind(Engine &engine, const Problem &problem,
                  const FindSettings &settings);

/// Tunes the problem if the client or the environment asks for it, once in a
/// process, or lets that be done in the background. `current` is the kernel so
/// far: clients know its workspace and may have no more. A tuning that fails
/// leaves it as it is. On tensors of our own: the client's keep their values.
/// Gives the kernel to use from now on.
ErrorOr<const LoadedKernel *> searchForFind(Engine &engine,
                                            const Problem &problem,
                                            const LoadedKernel &current,
                                            bool isAsked,
                                            const FindSettings &settings);

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_FINDSEARCH_H
