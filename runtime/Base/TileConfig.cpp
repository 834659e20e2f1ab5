//===- TileConfig.cpp - The text of a tile, to and fro --------------------===//

#include "runtime/Base/TileConfig.h"

#include <algorithm>
#include <cctype>

using namespace tessera;

ErrorOr<TileConfig> tessera::parseTileConfig(std::string_view text) {
  size_t dash = std::min(text.find('-'), text.size());
  TileConfig tile = {std::string(text.substr(0, dash)), {}};
  if (dash != text.size())
    tile.parameters = text.substr(dash + 1);
  bool isWord = !tile.algorithm.empty() &&
                std::ranges::all_of(tile.algorithm, [](unsigned char c) {
                  return std::isalnum(c) != 0;
                });
  if (!isWord || tile.toText() != text)
    return invalidArgument("'" + std::string(text) +
                           "' is not a tile, which looks like "
                           "'igemm-m256n256k32-w2x4-b2-mfma32'");
  return tile;
}
