//===- NarrowGroups.h - Groups of few channels, side by side ---*- C++ -*--===//
//
// A group of 4 to 32 channels fills no tile of igemm. Here 64 channels of
// several groups are one block, whose filter is zero wherever the group of the
// row is not that of the column. A linear map can express this, since what is
// outside of a tensor reads as zero (docs/design/0010-groups.md).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_NARROWGROUPS_NARROWGROUPS_H
#define TESSERA_COMPILER_ALGORITHMS_NARROWGROUPS_NARROWGROUPS_H

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/ImplicitGemm/GemmViews.h"
#include "runtime/Base/ConvProblem.h"

namespace tessera {

/// A tile, whose text is "groups-h7w28-w1", with four persistent workgroups for
/// each compute unit "groups-h7w28-w1-p4", with runs of seven blocks down the
/// image "groups-h4w28-w2-r7", for backward weights "groups-h4w28-w1-s99".
/// Plain data.
struct NarrowTile {
  static constexpr int kBlock = 64; ///< The channels of a workgroup.

  int height = 1, width = 1; ///< The size of a block of pixels.
  int waves = 1;             ///< The waves that share these pixels.
  /// The persistent workgroups of a compute unit; 0: one workgroup per block.
  int persistent = 0;
  int run = 1;     ///< Blocks of a workgroup, each below the one before it.
  int buffers = 2; ///< The buffers of a run.
  int splits = 1;  ///< Splits of the pixels; backward weights has 2 or more.

  int getPixels() const { return height * width; }
  TileConfig toConfig() const;
};

ErrorOr<NarrowTile> parseNarrowTile(const TileConfig &config);

/// Create the views of forward and backward data, and of backward weights.
GemmViews viewNarrowImages(mlir::OpBuilder &b, dnn::ConvOp conv,
                           const ConvGeometry &geometry,
                           const NarrowTile &tile);
GemmViews viewNarrowWeights(mlir::OpBuilder &b, dnn::ConvOp conv,
                            const ConvGeometry &geometry,
                            const NarrowTile &tile);

/// The constants of the cost model; NarrowRates.def describes them.
struct NarrowRates {
#define NARROW_RATE(NAME, VALUE, MEANING) double NAME = VALUE;
#include "compiler/Algorithms/NarrowGroups/NarrowRates.def"
};
inline constexpr NarrowRates kNarrowRates;

/// The candidates for a problem that "groups" supports, in an order that does
/// not depend on the rates.
std::vector<Candidate>
getNarrowCandidates(const ConvProblem &problem, const GpuTarget &target,
                    const NarrowRates &rates = kNarrowRates);
/// The same for a problem of unknown sizes, of which `sample` has some: blocks
/// that do not depend on them.
std::vector<Candidate> getOpenNarrowCandidates(const ConvProblem &sample,
                                               const GpuTarget &target);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_NARROWGROUPS_NARROWGROUPS_H
