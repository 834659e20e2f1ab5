//===- GemmTile.h - The parameters of an implicit GEMM ---------*- C++ -*--===//

#ifndef TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_GEMMTILE_H
#define TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_GEMMTILE_H

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
  /// LDS buffers (stages) of the main loop: "b2" if copied through registers,
  /// "d2" if copied directly to LDS, "t4" if copied by TMA, and "p4" if two
  /// warpgroups also alternate between tiles (ping-pong).
  int buffers = 2;
  /// Name of the multiply-accumulate instruction row: "mfma32", "fma".
  std::string mma;
  /// Splits of the reduction, whose partial results a second launch adds; "-s4"
  /// at the end of the text if there is more than one.
  int splits = 1;
  /// Whether partial results are added to one result by atomics instead, in
  /// another order in every run: "-a4". No model offers it; users have to
  /// request it.
  bool isAtomic = false;
  /// Workgroups of a cluster that share a tile's reduction and add their
  /// accumulators (dnn.pipeline), "-c4" at the end of the text; 1 if none do.
  /// Implies isTma and no splits.
  int cluster = 1;
  /// The side of the tile whose operand two workgroups of a cluster copy
  /// together, by multicast (dnn.pipeline): 'm' or 'n', "-cm" or "-cn" at the
  /// end of the text; 0 if none is. Implies isTma, no cluster of the reduction
  /// and no halo.
  char multicast = 0;
  /// Whether tiles are copied directly to LDS: "d2" instead of "b2".
  bool isDirect = false;
  bool isTma = false;
  bool isPingPong = false; ///< Implies isTma.
  /// Buffers for the pixels that all taps of a step's channels share, "-h2" at
  /// the end of the text; 0 if each tap loads its own.
  int halo = 0;
  /// Whether operands are swapped: wgmma's rows are the columns of the tile,
  /// and its columns the rows. "-x" at the end of the text. Implies isTma.
  bool isSwapped = false;
  /// Steps after which accumulators are promoted to sums of f32
  /// (dnn.pipeline), "-promote4" at the end of the text; 0 if never. Implies
  /// isTma and no halo.
  int promote = 0;
  /// Whether images stay in shared memory for all of their taps. No text of
  /// igemm says so; groups (NarrowGroups.h) set it.
  bool isResident = false;
  /// Tiles along m that a workgroup computes one after another. Set by groups,
  /// too.
  int run = 1;

  /// Whether a split of the reduction is a run of the pipeline's steps.
  bool splitsSteps() const { return isTma || isResident; }

  /// How many splits of backward weights there are where their number of pixels
  /// is unknown: `few` and one for so many pixels each, but no more than the
  /// tile has. The more pixels, the more each split has of them.
  struct SplitRule {
    int few, pixels;
  };
  SplitRule getSplitRule() const {
    constexpr int kFew = 6, kSteps = 12;
    return isTma ? SplitRule{kFew, kSteps * k} : SplitRule{0, buffers * k};
  }

  /// Whether f32 operands are rounded to tf32.
  bool isTf32() const { return mma.ends_with("_tf32"); }

  friend bool operator==(const GemmTile &, const GemmTile &) = default;

  TileConfig toConfig() const;
};

/// Reads what GemmTile::toConfig() writes.
ErrorOr<GemmTile> parseGemmTile(const TileConfig &config);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_GEMMTILE_H
