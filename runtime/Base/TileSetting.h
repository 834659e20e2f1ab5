//===- TileSetting.h - The tile that a user names --------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_BASE_TILESETTING_H
#define TESSERA_RUNTIME_BASE_TILESETTING_H

#include "runtime/Base/Env.h"
#include "runtime/Base/TileConfig.h"

#include <array>

namespace tessera {

/// The algorithms of compiler/Algorithms/Registry.cpp, for a process that has
/// not loaded the compiler and must tell a tile from a mistake.
inline constexpr std::array<std::string_view, 15> kAlgorithmNames = {
    "igemm",     "stem",     "groups",   "packed",   "nhwc",
    "depthwise", "toeplitz", "winograd", "general",  "pool",
    "poolsplit", "map",      "rowwise",  "rowsplit", "steps"};

/// The tile that TESSERA_TILE names, if its algorithm exists. The compiler
/// passes a null `report`, because the process that it works for has already
/// reported the mistake.
std::optional<TileConfig> getEnvTile(EnvReport report);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_TILESETTING_H
