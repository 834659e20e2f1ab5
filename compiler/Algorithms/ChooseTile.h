//===- ChooseTile.h - A good tile without measuring ------------*- C++ -*-===//

#ifndef TESSERA_COMPILER_ALGORITHMS_CHOOSETILE_H
#define TESSERA_COMPILER_ALGORITHMS_CHOOSETILE_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/GpuTarget.h"
#include "runtime/Base/Problem.h"
#include "runtime/Base/TileConfig.h"

namespace tessera {

/// The tile with the least estimated cost over all algorithms. InvalidArgument
/// for a problem that is not valid; NotSupported, with each algorithm's
/// reason, if none covers the problem on the target.
ErrorOr<TileConfig> chooseTile(const Problem &problem, const GpuTarget &target);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_CHOOSETILE_H
