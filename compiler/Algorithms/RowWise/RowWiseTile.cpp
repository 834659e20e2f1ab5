//===- RowWiseTile.cpp - Prints and parses tiles of row-wise operations ---===//

#include "compiler/Algorithms/RowWise/RowWiseTile.h"

#include "runtime/Base/TextScanner.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

TileConfig RowWiseTile::toConfig(std::string_view algorithm) const {
  std::string text = "v" + std::to_string(vector);
  if (algorithm != "map")
    text += "t" + std::to_string(threads) + "r" + std::to_string(groups);
  if (algorithm == "rowsplit")
    text += "p" + std::to_string(splits);
  if (getSharedRows() > 1)
    text += "n" + std::to_string(shared[0]) + "m" + std::to_string(shared[1]);
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
  if (config.algorithm == "rowwise" && !scanner.isDone())
    scanner.expect("n")
        .number(tile.shared[0])
        .expect("m")
        .number(tile.shared[1]);
  const RowWiseTile example{8, 64, 4, 32};
  if (!scanner.isDone())
    return invalidArgument("'" + config.toText() +
                           "' is not a tile for rows, which looks like '" +
                           example.toConfig(config.algorithm).toText() + "'");
  for (int value : {tile.vector, tile.threads, tile.groups, tile.splits,
                    tile.shared[0], tile.shared[1]})
    if (value < 1 || !llvm::isPowerOf2_32(value))
      return invalidArgument("tile '" + config.toText() +
                             "' has a number that is no power of two");
  constexpr int kMaxVector = 16, kMaxThreads = 1024;
  if (tile.vector > kMaxVector || tile.threads > kMaxThreads ||
      tile.groups > kMaxThreads || tile.threads * tile.groups > kMaxThreads ||
      tile.splits > kMaxThreads || tile.shared[0] > kMaxThreads ||
      tile.shared[1] > kMaxThreads)
    return invalidArgument("tile '" + config.toText() +
                           "' is too large for a workgroup");
  return tile;
}

bool tessera::canShareRows(const RowWiseGeometry &g, const RowWiseTile &tile) {
  constexpr int64_t kMaxSums = 64; // Of a thread, in registers.
  constexpr int64_t kMaxBytes = 48 << 10, kWordBytes = 4;
  const int64_t rows = tile.getSharedRows();
  if (rows == 1)
    return true;
  for (auto [i, count] : llvm::enumerate(tile.shared))
    if (count > 1 &&
        (i >= g.sharedDims.size() || g.lengths[g.sharedDims[i]] % count != 0))
      return false;
  return rows <= tile.threads && rows * g.countSums() <= kMaxSums &&
         tile.groups * rows * g.countSums() * getSharedPitch(tile.threads) *
                 kWordBytes <=
             kMaxBytes;
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
  if (!canShareRows(g, *tile))
    return op.emitOpError() << "has no blocks of " << tile->getSharedRows()
                            << " rows that share what they load, which tile '"
                            << config.toText() << "' has";
  return *tile;
}
