//===- GemmTile.h - The parameters of an implicit GEMM ---------*- C++ -*-===//

#ifndef TESSERA_COMPILER_ALGORITHMS_GEMMTILE_H
#define TESSERA_COMPILER_ALGORITHMS_GEMMTILE_H

#include "runtime/Base/TileConfig.h"

#include <cstdint>

namespace tessera {

/// The tile of an implicit GEMM, "igemm-m256n256k32-w2x4-b2-mfma32". Plain
/// data.
struct GemmTile {
  /// GEMM tile of one workgroup: m rows, n columns of the result, k reduction
  /// elements a step.
  int m = 0;
  int n = 0;
  int k = 0;
  /// Waves of the workgroup along m and n; with TMA, the warpgroups that share
  /// a tile's rows.
  int wavesM = 1;
  int wavesN = 1;
  /// LDS buffers of the main loop: "b2"; copied directly to LDS, "d2"; by TMA,
  /// "t4", and "p4" if two warpgroups take tiles in turn (ping-pong).
  int buffers = 2;
  /// Name of the multiply-accumulate instruction row: "mfma32", "fma".
  std::string mma;
  /// Parts of the reduction, which a second launch adds; "-s4" at the end of
  /// the text if there is more than one.
  int parts = 1;
  /// Whether the parts are added to one result by atomics instead, in another
  /// order in every run: "-a4". No model offers it; somebody has to ask.
  bool isAtomic = false;
  /// Whether tiles are copied directly to LDS: "d2" instead of "b2".
  bool isDirect = false;
  bool isTma = false;
  bool isPingPong = false; ///< Implies isTma.
  /// Buffers for the pixels that all taps of a step's channels see, "-h2" at
  /// the end of the text; none if each tap brings its own. Implies isTma or
  /// isDirect.
  int halo = 0;
  /// Whether wgmma's rows are the columns of the tile, and its columns the
  /// rows:
  /// "-x" at the end of the text. Implies isTma.
  bool isExchanged = false;
  /// Whether images stay in shared memory for all of their taps; of no text of
  /// igemm's, but of groups (NarrowGroups.h).
  bool isResident = false;
  /// Tiles along m that a workgroup takes one after another; of groups, too.
  int run = 1;

  /// Whether a part of the reduction is a run of the pipeline's steps.
  bool sharesSteps() const { return isTma || isResident; }

  /// Whether factors of f32 are rounded to tf32.
  bool isTf32() const { return mma.ends_with("_tf32"); }

  friend bool operator==(const GemmTile &, const GemmTile &) = default;

  TileConfig toConfig() const;
};

/// Reads what GemmTile::toConfig() writes.
ErrorOr<GemmTile> parseGemmTile(const TileConfig &config);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_GEMMTILE_H
