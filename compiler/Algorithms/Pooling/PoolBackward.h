//===- PoolBackward.h - A pooling's gradient as a point program -*- C++ -*-===//

#ifndef TESSERA_COMPILER_ALGORITHMS_POOLING_POOLBACKWARD_H
#define TESSERA_COMPILER_ALGORITHMS_POOLING_POOLBACKWARD_H

#include "compiler/Algorithms/Pooling/PoolGeometry.h"
#include "compiler/Algorithms/Pooling/PoolTile.h"

namespace tessera {

/// Whether each image has one window, which contains all of it.
bool hasOneWindow(const PoolGeometry &geometry);

/// Whether the windows that contain a thread's pixels are unrolled. If they are
/// too many, a thread owns one pixel and loops over its windows.
bool isBackwardUnrolled(const PoolGeometry &geometry, const PoolTile &tile);

/// Replaces a backward `pool` by its program.
void buildPoolBackward(dnn::PoolOp pool, const PoolTile &tile);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_POOLING_POOLBACKWARD_H
