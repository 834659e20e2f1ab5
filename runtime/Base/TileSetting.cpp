//===- TileSetting.cpp - The tile that a user names -----------------------===//

#include "runtime/Base/TileSetting.h"

#include <algorithm>

using namespace tessera;

static std::string getAlgorithmList() {
  std::string list;
  for (std::string_view name : kAlgorithmNames)
    list.append(list.empty() ? "" : ", ").append(name);
  return list;
}

std::optional<TileConfig> tessera::getEnvTile(EnvReport report) {
  constexpr const char *kVariable = "TESSERA_TILE";
  const std::string text = getEnvText(kVariable).value_or("");
  if (text.empty())
    return std::nullopt;
  ErrorOr<TileConfig> tile = parseTileConfig(text);
  if (tile && std::ranges::count(kAlgorithmNames, tile->algorithm))
    return std::move(*tile);
  if (report)
    reportEnvValue(kVariable,
                   "a tile such as 'igemm-m256n256k32-w2x4-b2-mfma32', of one "
                   "of the algorithms " +
                       getAlgorithmList(),
                   report);
  return std::nullopt;
}
