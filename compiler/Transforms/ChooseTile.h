//===- ChooseTile.h - A good tile without measuring ------------*- C++ -*-===//

#ifndef TESSERA_COMPILER_TRANSFORMS_CHOOSETILE_H
#define TESSERA_COMPILER_TRANSFORMS_CHOOSETILE_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/GpuTarget.h"
#include "runtime/Base/Problem.h"
#include "runtime/Base/TileConfig.h"

namespace tessera {

/// The tile with the least estimated time. NotSupported, with the reason, if
/// no algorithm covers the problem on the target.
ErrorOr<TileConfig> chooseTile(const Problem &problem, const GpuTarget &target);

} // namespace tessera

#endif // TESSERA_COMPILER_TRANSFORMS_CHOOSETILE_H
