//===- PoolForward.h - A pooling as a point program ------------*- C++ -*-===//

#ifndef TESSERA_COMPILER_ALGORITHMS_POOLFORWARD_H
#define TESSERA_COMPILER_ALGORITHMS_POOLFORWARD_H

#include "compiler/Algorithms/Pooling/PoolGeometry.h"
#include "compiler/Algorithms/Pooling/PoolTile.h"

namespace tessera {

/// Whether the positions of a window are written out one after the other, each
/// pixel being loaded once for all outputs of a thread; else they are walked by
/// loops, for one output.
bool isWrittenOut(const PoolGeometry &geometry, const PoolTile &tile);

/// Replaces a forward `pool` by its program.
void buildPoolForward(dnn::PoolOp pool, const PoolTile &tile);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_POOLFORWARD_H
