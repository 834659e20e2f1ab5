//===- TileConfig.h - How a problem is solved ------------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_BASE_TILECONFIG_H
#define TESSERA_RUNTIME_BASE_TILECONFIG_H

#include "runtime/Base/ErrorOr.h"

#include <string>
#include <string_view>

namespace tessera {

/// A tile: the algorithm and every parameter that a tuner may vary. Plain data
/// with one canonical text, which goes into the cache key and the perf DB:
/// "igemm-m256n256k32-w2x4-b2-mfma32". Only the algorithm knows what the
/// parameters mean (compiler/Algorithms).
struct TileConfig {
  std::string algorithm;  ///< "igemm": letters and digits.
  std::string parameters; ///< What follows the first "-"; may be empty.

  friend bool operator==(const TileConfig &, const TileConfig &) = default;

  std::string toText() const {
    return parameters.empty() ? algorithm : algorithm + "-" + parameters;
  }
};

/// Reads what TileConfig::toText() writes; InvalidArgument for a text that
/// names no algorithm.
ErrorOr<TileConfig> parseTileConfig(std::string_view text);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_TILECONFIG_H
