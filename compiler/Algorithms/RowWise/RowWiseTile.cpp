//===- RowWiseTile.cpp - Prints and parses tiles of row-wise operations ---===//

#include "compiler/Algorithms/RowWise/RowWiseTile.h"

#include "runtime/Base/TextScanner.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

TileConfig RowWiseTile::toConfig(std::string_view algorithm) const {
  std::string text = "v" + std::to_string(vector);
  if (algorithm != "map")
    text += "t" + std::to_string(threads) + "r" + std::to_string(groups);
  if (algorithm == "rowsplit")
    text += "p" + std::to_string(splits);
  return {std::string(algorithm), text};
}

ErrorOr<RowWiseTile> tessera::parseRowWiseTile(const TileConfig &config) {
  RowWiseTile tile;
  TextScanner scanner(config.parameters);
  scanner.expect("v").number(tile.vector);
  if (config.algorithm != "map")
    scanner.expect("t").number(tile.threads).expect("r").number(tile.groups);
  if (config.algorithm == "rowsplit")
    scanner.expect("p").number(tile.splits);
  const RowWiseTile example{8, 64, 4, 32};
  if (!scanner.isDone())
    return invalidArgument("'" + config.toText() +
                           "' is not a tile for rows, which looks like '" +
                           example.toConfig(config.algorithm).toText() + "'");
  for (int value : {tile.vector, tile.threads, tile.groups, tile.splits})
    if (value < 1 || !llvm::isPowerOf2_32(value))
      return invalidArgument("tile '" + config.toText() +
                             "' has a number that is no power of two");
  constexpr int kMaxVector = 16, kMaxThreads = 1024;
  if (tile.vector > kMaxVector || tile.threads > kMaxThreads ||
      tile.groups > kMaxThreads || tile.threads * tile.groups > kMaxThreads ||
      tile.splits > kMaxThreads)
    return invalidArgument("tile '" + config.toText() +
                           "' is too large for a workgroup");
  return tile;
}

FailureOr<RowWiseTile> tessera::readRowWiseTile(Operation *primitive,
                                                const TileConfig &config) {
  auto op = dyn_cast<dnn::RowWiseOp>(primitive);
  if (!op)
    return primitive->emitOpError("has no rows, but tile '")
           << config.toText() << "' is for them";
  ErrorOr<RowWiseTile> tile = parseRowWiseTile(config);
  if (!tile)
    return op.emitOpError() << tile.getStatus().getMessage();
  const RowWiseGeometry g(op);
  const int64_t length = g.lengths[g.vectorDim];
  if (ShapedType::isDynamic(length) ? tile->vector > 1
                                    : length % tile->vector != 0)
    return op.emitOpError()
           << "has " << g.lengths[g.vectorDim]
           << " elements side by side, which tile '" << config.toText()
           << "' does not divide into blocks of " << tile->vector;
  return *tile;
}
