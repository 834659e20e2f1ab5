//===- PoolForward.h - A pooling as a point program ------------*- C++ -*--===//

#ifndef TESSERA_COMPILER_ALGORITHMS_POOLING_POOLFORWARD_H
#define TESSERA_COMPILER_ALGORITHMS_POOLING_POOLFORWARD_H

#include "compiler/Algorithms/Pooling/PoolGeometry.h"
#include "compiler/Algorithms/Pooling/PoolTile.h"

namespace tessera {

/// Whether the positions of a window are unrolled, so that each pixel is loaded
/// once for all outputs of a thread. If they are too many, a thread owns one
/// output and loops over them.
bool isUnrolled(const PoolGeometry &geometry, const PoolTile &tile);

/// Replaces a forward `pool` by its program.
void buildPoolForward(dnn::PoolOp pool, const PoolTile &tile);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_POOLING_POOLFORWARD_H
