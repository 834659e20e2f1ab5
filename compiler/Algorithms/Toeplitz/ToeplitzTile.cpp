//===- ToeplitzTile.cpp - The text of a tile ------------------------------===//

#include "compiler/Algorithms/Toeplitz/Toeplitz.h"
#include "runtime/Base/TextScanner.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace tessera;

TileConfig ToeplitzTile::toConfig() const {
  std::string text = "c" + std::to_string(channels) + "b" +
                     std::to_string(bands) + "r" + std::to_string(rows) + "q" +
                     std::to_string(blocks) + "t" + std::to_string(threads);
  if (iterations != 1)
    text += "n" + std::to_string(iterations);
  if (stages != 0)
    text += "s" + std::to_string(stages);
  if (workgroups != 0)
    text += "w" + std::to_string(workgroups);
  return {"toeplitz", text};
}

/// Whether a program exists for these numbers.
static bool isTile(const ToeplitzTile &tile) {
  constexpr int64_t kWarp = 32, kMaxBlocks = 16, kMaxStages = 4;
  // One instruction reads four matrices of a box, each of 8 channels.
  const int64_t maxChannels = tile.stages > 0 ? 32 : 64;
  return std::min({tile.channels, tile.bands, tile.rows, tile.blocks,
                   tile.threads, tile.iterations}) >= 1 &&
         tile.channels % kOctet == 0 && tile.channels <= maxChannels &&
         llvm::isPowerOf2_64(tile.channels) &&
         std::max(tile.bands, tile.blocks) <= kMaxBlocks &&
         tile.rows <= 4 * kMaxRows && tile.threads % kWarp == 0 &&
         tile.threads <= kMaxThreads && tile.iterations <= kMaxIterations &&
         tile.stages >= 0 && tile.stages <= kMaxStages &&
         tile.workgroups >= 0 && tile.workgroups <= kMaxIterations &&
         (tile.workgroups == 0 || tile.iterations == 1) &&
         tile.channels % (tile.threads / kWarp) == 0;
}

ErrorOr<ToeplitzTile> tessera::parseToeplitzTile(const TileConfig &config) {
  ToeplitzTile tile;
  TextScanner scanner(config.parameters);
  scanner.expect("c").number(tile.channels).expect("b").number(tile.bands);
  scanner.expect("r").number(tile.rows).expect("q").number(tile.blocks);
  scanner.expect("t").number(tile.threads);
  bool isCanonical = true;
  if (scanner.consume("n")) {
    scanner.number(tile.iterations);
    isCanonical = tile.iterations > 1; // 1 is not written.
  }
  if (scanner.consume("s")) {
    scanner.number(tile.stages);
    isCanonical = isCanonical && tile.stages > 0; // 0 is not written.
  }
  if (scanner.consume("w")) {
    scanner.number(tile.workgroups);
    isCanonical = isCanonical && tile.workgroups > 0; // Nor here.
  }
  if (!scanner.isDone() || !isCanonical || config.algorithm != "toeplitz" ||
      !isTile(tile))
    return invalidArgument("'" + config.toText() +
                           "' is not a tile, which looks like "
                           "'toeplitz-c16b4r7q4t128'");
  return tile;
}
