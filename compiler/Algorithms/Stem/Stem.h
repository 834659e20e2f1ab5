//===- Stem.h - Convolutions of few input channels -------------*- C++ -*--===//
//
// The first layer of a network has one to four input channels. Its reduction
// is short, and all of it is loaded at once
// (compiler/Conversion/Cooperative/WindowTile.h); docs/design/0005-stems.md
// says why.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_STEM_STEM_H
#define TESSERA_COMPILER_ALGORITHMS_STEM_STEM_H

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/ImplicitGemm/GemmViews.h"
#include "runtime/Base/ConvProblem.h"
#include "runtime/Base/TileConfig.h"

namespace tessera {

/// A tile, whose text is "stem-h16w16n64-w4x1-mfma32", with "-p2" at the end
/// for two persistent workgroups. Plain data.
struct StemTile {
  /// The output pixels and channels of a workgroup.
  int height = 1, width = 1;
  int n = 1;
  /// The waves along pixels and channels.
  int wavesM = 1, wavesN = 1;
  std::string mma;
  /// The persistent workgroups of a compute unit, which copy the filter to LDS
  /// once; 0 if each workgroup computes one tile.
  int perUnit = 0;

  int getPixels() const { return height * width; }
  TileConfig toConfig() const;
};

ErrorOr<StemTile> parseStemTile(const TileConfig &config);

/// The run of the reduction, which is contiguous in the image: the taps of a
/// line of the filter, with the channels if they are innermost. It is padded to
/// whole chunks; `lead` of the padding elements come before the taps, so that
/// wider loads of a line are aligned.
struct StemRun {
  int64_t length = 0;
  int64_t lead = 0;

  /// Makes the run for `taps` elements (channels included), `pad` elements of
  /// padding, lines of `line` elements, and chunks of `chunk` elements.
  static StemRun make(int64_t taps, int64_t pad, int64_t line, int64_t chunk);
};

/// Creates the views of a stem. The arguments of tensors whose channels are
/// innermost get a type in which columns and channels are one dimension.
GemmViews viewStem(mlir::OpBuilder &b, dnn::ConvOp conv,
                   const ConvGeometry &geometry, const StemTile &tile);

/// The constants of the cost model; StemRates.def describes them.
struct StemRates {
#define STEM_RATE(NAME, VALUE, MEANING) double NAME = VALUE;
#include "compiler/Algorithms/Stem/StemRates.def"
};
inline constexpr StemRates kStemRates;

/// The candidates for a problem that "stem" supports, in an order that does not
/// depend on the rates.
std::vector<Candidate> getStemCandidates(const ConvProblem &problem,
                                         const GpuTarget &target,
                                         const StemRates &rates = kStemRates);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_STEM_STEM_H
