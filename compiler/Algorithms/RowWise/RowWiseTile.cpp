//===- RowWiseTile.cpp - Prints and parses tiles of row-wise operations ---===//

#include "compiler/Algorithms/RowWise/RowWiseTile.h"
#include "dialect/IR/Steps.h"

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

/// With rows that share loads, registers are few. Blocks of rows along both
/// dimensions took twice as long on an H100 where two were loaded at once.
int RowWiseTile::getBlocksAtOnce() const {
  if (getSharedRows() == 1)
    return 4;
  return shared[1] == 1 && shared[0] <= 8 ? 2 : 1;
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

int64_t tessera::countDistinctRows(const RowWiseGeometry &g,
                                   const RowWiseTensor &tensor,
                                   const RowWiseTile &tile) {
  int64_t rows = 1;
  for (auto [dim, shared] : llvm::zip(g.sharedDims, tile.shared))
    rows *= tensor.strides[dim] != 0 ? shared : 1;
  return rows;
}

/// The registers of what a thread has loaded and not yet used.
static int64_t countLoaded(const RowWiseGeometry &g, const RowWiseTile &tile) {
  constexpr int64_t kRegisterBytes = 4;
  int64_t bytes = 0;
  for (const RowWiseTensor &tensor : g.tensors)
    if (tensor.role == RowRole::Input && !g.isOnePerRow(tensor))
      bytes += countDistinctRows(g, tensor, tile) * tile.vector *
               tensor.elementBytes;
  return tile.getBlocksAtOnce() * bytes / kRegisterBytes;
}

bool tessera::canShareRows(const RowWiseGeometry &g, const RowWiseTile &tile) {
  // With more registers, the best tiles of an LSTM's steps became several times
  // slower on an H100.
  constexpr int64_t kMaxSums = 64, kMaxRegisters = 160;
  constexpr int64_t kMaxBytes = 48 << 10, kWordBytes = 4;
  const int64_t rows = tile.getSharedRows();
  if (rows == 1)
    return true;
  for (auto [i, count] : llvm::enumerate(tile.shared))
    if (count > 1 &&
        (i >= g.sharedDims.size() || g.lengths[g.sharedDims[i]] % count != 0))
      return false;
  const int64_t sums = rows * g.countSums();
  return rows <= tile.threads && sums <= kMaxSums &&
         sums + countLoaded(g, tile) <= kMaxRegisters &&
         tile.groups * sums * getSharedPitch(tile.threads) * kWordBytes <=
             kMaxBytes;
}

FailureOr<RowWiseTile> tessera::readRowWiseTile(Operation *primitive,
                                                const TileConfig &config) {
  auto op = dyn_cast<dnn::RowWiseOp>(primitive);
  if (!op)
    return primitive->emitOpError("has no rows, but tile '")
           << config.toText() << "' is for them";
  if (op->hasAttr(dnn::kStepsAttrName))
    return op.emitOpError("has steps that wait for each other, but tile '")
           << config.toText() << "' makes one step of a recurrent network only";
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
