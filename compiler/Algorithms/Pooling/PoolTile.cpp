//===- PoolTile.cpp - Prints and parses the tile of a pooling -------------===//

#include "compiler/Algorithms/Pooling/PoolTile.h"

#include "runtime/Base/TextScanner.h"

using namespace tessera;

TileConfig PoolTile::toConfig() const {
  return {"pool", "c" + std::to_string(channels) + "h" + std::to_string(rows) +
                      "w" + std::to_string(columns)};
}

ErrorOr<PoolTile> tessera::parsePoolTile(const TileConfig &config) {
  PoolTile tile;
  TextScanner scanner(config.parameters);
  scanner.expect("c").number(tile.channels);
  scanner.expect("h").number(tile.rows).expect("w").number(tile.columns);
  if (!scanner.isDone() || config.algorithm != "pool")
    return invalidArgument("'" + config.toText() +
                           "' is not a tile of a pooling, which looks like "
                           "'pool-c8h2w1'");
  for (int value : {tile.channels, tile.rows, tile.columns})
    if (value < 1)
      return invalidArgument("tile '" + config.toText() +
                             "' has a zero, but every number must be positive");
  return tile;
}
