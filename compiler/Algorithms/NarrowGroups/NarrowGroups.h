//===- NarrowGroups.h - Groups of few channels, side by side ---*- C++ -*-===//
//
// A group of 4 to 32 channels fills no tile of igemm. 64 channels of several
// groups are one block, whose filter is zero where a row's group is not a
// column's: which a linear map can say, since outside of a tensor is zero
// (docs/design/0010-groups.md).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_NARROWGROUPS_H
#define TESSERA_COMPILER_ALGORITHMS_NARROWGROUPS_H

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/ImplicitGemm/GemmViews.h"
#include "runtime/Base/ConvProblem.h"

namespace tessera {

/// "groups-h7w28-w1"; with four persistent workgroups a unit
/// "groups-h7w28-w1-p4"; by runs of seven blocks, down the image,
/// "groups-h4w28-w2-r7"; of backward weights "groups-h4w28-w1-s99". Plain data.
struct NarrowTile {
  static constexpr int kBlock = 64; ///< Channels of a workgroup.

  int height = 1, width = 1; ///< Of a block of pixels.
  int waves = 1;             ///< That share the pixels.
  int persistent = 0;        ///< Workgroups a unit; 0: one for each tile.
  int run = 1;     ///< Blocks of a workgroup, each below the one before it.
  int buffers = 2; ///< Of a run.
  int parts = 1;   ///< Of the pixels; more than 1 of backward weights.

  int getPixels() const { return height * width; }
  TileConfig toConfig() const;
};

ErrorOr<NarrowTile> parseNarrowTile(const TileConfig &config);

/// The views of forward and backward data, and of backward weights.
GemmViews viewNarrowImages(mlir::OpBuilder &b, dnn::ConvOp conv,
                           const ConvGeometry &geometry,
                           const NarrowTile &tile);
GemmViews viewNarrowWeights(mlir::OpBuilder &b, dnn::ConvOp conv,
                            const ConvGeometry &geometry,
                            const NarrowTile &tile);

/// NarrowRates.def says what each is.
struct NarrowRates {
#define NARROW_RATE(NAME, VALUE, MEANING) double NAME = VALUE;
#include "compiler/Algorithms/NarrowGroups/NarrowRates.def"
};
inline constexpr NarrowRates kNarrowRates;

/// The candidates of a problem that "groups" takes, in an order that does not
/// depend on the rates.
std::vector<Candidate>
getNarrowCandidates(const ConvProblem &problem, const GpuTarget &target,
                    const NarrowRates &rates = kNarrowRates);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_NARROWGROUPS_H
