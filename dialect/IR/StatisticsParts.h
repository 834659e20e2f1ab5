//===- StatisticsParts.h - What writes statistics at a store ---*- C++ -*--===//
//
// The algorithm that asks a store of tiles for statistics must know how many
// partials its lowering writes, and the lowering which one a warp writes.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_STATISTICSPARTS_H
#define TESSERA_DIALECT_IR_STATISTICSPARTS_H

#include "dialect/IR/Dnn.h"

namespace tessera::dnn {

/// The partials that the statistics of `store` have (dnn.tile_store); 0 if its
/// lowering writes none.
///
/// A warp that stores has a part for each of its tiles; or one for all, where
/// these have the same columns.
int64_t countStatisticsParts(TileStoreOp store);

/// Whether the statistics of `store` have a part for each tile of a warp.
bool hasPartOfTile(TileStoreOp store);

} // namespace tessera::dnn

#endif // TESSERA_DIALECT_IR_STATISTICSPARTS_H
