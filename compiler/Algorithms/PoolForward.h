//===- PoolForward.h - A pooling as a point program ------------*- C++ -*-===//

#ifndef TESSERA_COMPILER_ALGORITHMS_POOLFORWARD_H
#define TESSERA_COMPILER_ALGORITHMS_POOLFORWARD_H

#include "compiler/Algorithms/PoolGeometry.h"
#include "compiler/Algorithms/PoolTile.h"

namespace tessera {

/// Whether the positions of a window are written out one after the other, each
/// pixel being loaded once for all outputs of a thread; else they are walked by
/// loops, for one output.
bool isWrittenOut(const PoolGeometry &geometry, const PoolTile &tile);

/// Whether each thread reads the images of its channels as one run of elements,
/// each image being a window.
bool ownsImages(const PoolGeometry &geometry, const PoolTile &tile);

/// Replaces a forward `pool` by its program.
void buildPoolForward(dnn::PoolOp pool, const PoolTile &tile);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_POOLFORWARD_H
