//===- TileConfig.h - How a problem is solved ------------------*- C++ -*-===//

#ifndef TESSERA_RUNTIME_BASE_TILECONFIG_H
#define TESSERA_RUNTIME_BASE_TILECONFIG_H

#include "runtime/Base/ErrorOr.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

/// A tile: the algorithm and every parameter that a tuner may turn. Plain data
/// with one canonical text, which goes into the cache key and the perf DB:
/// "igemm-m256n256k32-w2x4-b2-mfma32".
struct TileConfig {
  /// GEMM tile of one workgroup: m output pixels, n output channels, k
  /// reduction elements a step.
  int m = 0;
  int n = 0;
  int k = 0;
  /// Waves of the workgroup along m and n.
  int wavesM = 1;
  int wavesN = 1;
  /// LDS buffers of the main loop.
  int buffers = 2;
  /// Name of the multiply-accumulate instruction row: "mfma32", "fma".
  std::string mma;

  friend bool operator==(const TileConfig &, const TileConfig &) = default;

  std::string toText() const;
};

/// Reads what TileConfig::toText() writes.
ErrorOr<TileConfig> parseTileConfig(std::string_view text);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_TILECONFIG_H
