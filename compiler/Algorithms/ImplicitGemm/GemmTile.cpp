//===- GemmTile.cpp - The text of a GEMM tile, written and read -----------===//

#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"

#include "runtime/Base/TextScanner.h"

using namespace tessera;

static const char *getCopyLetter(const GemmTile &tile) {
  return tile.isPingPong ? "-p"
         : tile.isTma    ? "-t"
         : tile.isDirect ? "-d"
                         : "-b";
}

TileConfig GemmTile::toConfig() const {
  return {"igemm",
          "m" + std::to_string(m) + "n" + std::to_string(n) + "k" +
              std::to_string(k) + "-w" + std::to_string(wavesM) + "x" +
              std::to_string(wavesN) + getCopyLetter(*this) +
              std::to_string(buffers) + "-" + mma +
              (splits > 1 ? (isAtomic ? "-a" : "-s") + std::to_string(splits)
                          : "") +
              (cluster > 1      ? "-c" + std::to_string(cluster)
               : multicast != 0 ? std::string("-c") + multicast
                                : "") +
              (halo > 0 ? "-h" + std::to_string(halo) : "") +
              (isSwapped ? "-x" : "") +
              (promote > 0 ? "-promote" + std::to_string(promote) : "")};
}

ErrorOr<GemmTile> tessera::parseGemmTile(const TileConfig &config) {
  GemmTile tile;
  std::string_view mma;
  TextScanner scanner(config.parameters);
  scanner.expect("m").number(tile.m).expect("n").number(tile.n);
  scanner.expect("k").number(tile.k);
  scanner.expect("-w").number(tile.wavesM).expect("x").number(tile.wavesN);
  tile.isDirect = scanner.consume("-d");
  tile.isPingPong = scanner.consume("-p");
  tile.isTma = tile.isPingPong || scanner.consume("-t");
  if (!tile.isDirect && !tile.isTma)
    scanner.expect("-b");
  scanner.number(tile.buffers);
  scanner.expect("-").word(mma, "- ");
  tile.isAtomic = scanner.consume("-a");
  if (tile.isAtomic || scanner.consume("-s")) {
    scanner.number(tile.splits);
    if (tile.splits < 2)
      scanner.fail();
  }
  for (const char side : {'m', 'n'})
    if (tile.isTma && tile.multicast == 0 &&
        scanner.consume(std::string("-c") + side))
      tile.multicast = side;
  if (tile.isTma && tile.splits == 1 && tile.multicast == 0 &&
      scanner.consume("-c")) {
    scanner.number(tile.cluster);
    if (tile.cluster < 2)
      scanner.fail();
  }
  if (tile.multicast == 0 && scanner.consume("-h")) {
    scanner.number(tile.halo);
    if (tile.halo < 1)
      scanner.fail();
  }
  tile.isSwapped = tile.isTma && scanner.consume("-x");
  if (tile.isTma && tile.halo == 0 && scanner.consume("-promote")) {
    scanner.number(tile.promote);
    if (tile.promote < 1)
      scanner.fail();
  }
  if (!scanner.isDone() || config.algorithm != "igemm")
    return invalidArgument("'" + config.toText() +
                           "' is not a tile, which looks like "
                           "'igemm-m256n256k32-w2x4-b2-mfma32'");
  for (int value :
       {tile.m, tile.n, tile.k, tile.wavesM, tile.wavesN, tile.buffers})
    if (value < 1)
      return invalidArgument("tile '" + config.toText() +
                             "' has a zero, but every number must be positive");
  tile.mma = mma;
  return tile;
}
