//===- TmaModel.h - What TMA can read, and what its tiles cost -*- C++ -*--===//
//
// Shared by the directions of a convolution: the tensors and windows that
// tensor maps can describe, the shapes of tiles, and the clocks that a tile
// takes.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_TMA_TMAMODEL_H
#define TESSERA_COMPILER_ALGORITHMS_TMA_TMAMODEL_H

#include "compiler/Algorithms/Common/ConvGeometry.h"
#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"
#include "runtime/Base/ConvProblem.h"
#include "runtime/Base/GpuTarget.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace tessera {

/// The reduction elements of a whole step of 16-bit operands, 128 bytes.
inline constexpr int64_t kTmaStep = 64;

/// The reduction elements of a whole step of `problem`, also 128 bytes.
int64_t getTmaStep(const ConvProblem &problem);
/// The elements of 16 bytes, which all strides must be multiples of.
int64_t getTmaUnit(const ConvProblem &problem);

/// What the columns of a tile are a multiple of where a step is pixels: those
/// of f32 are whole copies of 128 bytes.
int64_t getPixelColumns(int64_t elementBytes);

/// Whether results of a tile of `columns`, if they have 8 bits, fill the
/// shortest row that is staged, of 32 bytes.
bool fitsStagedRows(const ConvProblem &p, int64_t columns);

/// Whether the chip has TMA and wgmma, and the tensors suit them: f16, bf16 or
/// f32, with channels innermost.
bool hasTmaTensors(const ConvProblem &problem, const GpuTarget &target);

/// Whether `problem` is pointwise with channels first, so that each image is a
/// matrix of channels by pixels, and these are read and written as they are
/// (ImageViews.h). Types are f16, bf16 and f32 that is split, of which matrices
/// may be transposed; backward weights has none, and may be tf32, too.
bool isImageProduct(const ConvProblem &problem, const GpuTarget &target);

/// Depth, height and width of `problem`; the depth is one element if it has
/// none.
std::array<ConvDim, 3> getConvDims(const ConvProblem &problem);

/// Whether im2col mode walks the images of `problem` as the window does.
bool fitsWindow(const ConvProblem &problem);

/// Whether wgmma reads the operands of `problem` only with the reduction
/// together in memory, so that backward data transposes the filter first.
bool readsRowsOnly(const ConvProblem &problem);

struct TmaShape {
  int m, n;
  int consumers; ///< Warpgroups that share the rows.
  bool isPingPong;
  int stages;
  int halo = 0;                 ///< Buffers for pixels that taps share.
  bool isSwapped = false;       ///< Pixels are the columns of wgmma.
  int stagers = 2;              ///< Staging buffers of a warp for the result.
  int stepBytes = 2 * kTmaStep; ///< Of each row; 64 or 32 for few channels.
  int cluster = 1;              ///< Workgroups that share the reduction.
  /// Whether two workgroups of a cluster copy their rows for each other.
  bool sharesRows = false;
  /// Whether only the taps of a filter row share pixels, as of unknown sizes.
  bool hasOneRow = false;

  /// The accumulators of a thread.
  int countAccumulators() const { return m * n / (consumers * 128); }
  /// The columns that a workgroup stores: of a cluster, 16 or its share.
  int getStoredColumns() const {
    constexpr int kLeast = 16;
    return cluster == 1 ? n : std::max(kLeast, n / cluster);
  }
  /// The pieces of columns in which results of 16 bits are stored: 64 columns,
  /// or fewer if the tile has less.
  int64_t getPieceColumns() const;
  int64_t countPieces() const {
    return (getStoredColumns() + getPieceColumns() - 1) / getPieceColumns();
  }
  /// Whether two workgroups share a multiprocessor. Those of clusters have it
  /// for themselves, so that as many of their steps as it holds are on the way.
  bool isSmall() const { return consumers == 1 && !isPingPong && cluster == 1; }
  GemmTile getTile(const ConvProblem &problem, int splits) const;
};

/// In clocks of one multiprocessor; TmaRates.def says what each rate is.
struct TmaRates {
#define TMA_RATE(NAME, VALUE, MEANING) double NAME = VALUE;
#include "compiler/Algorithms/Tma/TmaRates.def"
};

/// The exponent `blend` with which a step takes as long as what limits it most,
/// and a rate that limits none.
inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// Fitted to drawn problems of seeds 1, 2, 5 and 6, layers at batch 1 and 4,
/// tiles of few channels and all tiles of 27 problems on an H100; the files of
/// tools/bench/results/h100 whose names begin with drawn, small, narrow,
/// pointwise and tuning, and, kept, chosen-tiles.csv. A descent along gradients
/// of a copy of the model found them from the constants before
/// (docs/guides/cost-models.md), which pulled on each. The first choice reaches
/// 0.982 of the best of 221 problems in geometric mean, 0.853 at least.
/// `sameLine`, `fewWaves` and `copiesFirst` are from later searches of the
/// same.
inline constexpr TmaRates kTmaRates;

/// The same for tf32, whose results have twice the bytes, and for f32 that is
/// split: fitted with tf32-tiles.txt and f32-tiles.csv beside drawn problems.
inline constexpr TmaRates kTmaTf32Rates = {
#define TMA_RATE(NAME, VALUE, MEANING) .NAME = VALUE,
#include "compiler/Algorithms/Tma/TmaTf32Rates.def"
};

/// `shape` with whole steps, and with shorter ones that read fewer channels
/// past the last of `channels`: one step, or, of volumes, several of 64 bytes
/// that read none (docs/design/0025-narrow-channels.md); and the longest ones
/// that end with the last channel where whole steps do not
/// (docs/design/0006-hopper.md). Others were slower on an H100.
std::vector<TmaShape> getStepShapes(const ConvProblem &problem, TmaShape shape,
                                    int64_t channels);
/// The columns of the narrowest tile worth trying for `columns` of a result.
int getFewestColumns(int64_t columns);

const TmaRates &getTmaRates(const ConvProblem &problem);

/// Whether `problem` is of f32 that may not be rounded, which is split into
/// terms of bf16 (docs/design/0027-splits-in-registers.md).
bool splitsF32(const ConvProblem &problem);
/// Products of split f32 for each of tf32: six of 16 bits for two.
inline constexpr double kSplitProducts = 3;
/// Whether `shape` can split f32. If columns lie together in memory they come
/// in copies of 32.
bool fitsSplits(const TmaShape &shape, bool hasColumnBlocks);
/// Clocks of a step of f32 besides its products, while operands are split. If
/// rows lie together in memory, their fragments are loaded one by one. Read off
/// 76 kernels on an H100 (f32-tiles.csv of
/// tools/bench/results/h100/2026-11-23).
double getSplitClocks(const TmaShape &shape, bool hasRowBlocks);

/// The bytes of x, w and y, each moved once.
double countTensorBytes(const ConvProblem &problem);

/// The lines of L2 that `bytes` touch on average if they begin at any multiple
/// of `pitch`.
double countLines(int64_t pitch, int64_t bytes);

/// What a step of a tile copies.
struct TmaTraffic {
  double rows;            ///< The tile's, or fewer if taps share them.
  double columns;         ///< Of the filter; the tile's, more, or none.
  bool hasWindow = false; ///< Whether the rows are pixels of a window,
  bool isDeep = false;    ///< and of a volume.
  bool isStrided = false; ///< Whether its taps read no pixel twice.
  double busy = 1;        ///< Share of the multiprocessors that have a tile.
  double multiplied = 1;  ///< Share of a step that is not padded with zeros.
  double padded = 0;      ///< Share of steps that reach beyond the channels.
  double rowLines = 1;    ///< Lines of L2 that a row touches, on average,
  double columnLines = 1; ///< and a row of the filter.
  double beyond = 0;      ///< Rows of the filter that reach beyond the columns.
  double meeting = 0;     ///< Requests that meet at a line of the filter.
};

/// Clocks to store the accumulators of one tile, rounded to 16 bits.
double getStoreClocks(const TmaShape &shape, const TmaRates &rates);
/// Clocks of `waves` tiles one after another, each of which takes `products` to
/// multiply and `stored` to store.
double getWorkClocks(const TmaShape &shape, double waves, double products,
                     double stored);
/// What the launch that adds splits costs: clocks to begin, clocks of each wait
/// for memory, and the bytes that a multiprocessor moves in a clock.
struct SumRates {
  double begin, pass, bytes;
};

/// Clocks of the launch that adds `splits` partial results of `elements` 16-bit
/// elements; 0 for a single one.
double getSumClocks(const SumRates &rates, int64_t elements, int splits,
                    const GpuTarget &target);

/// Clocks in which the workgroups of a cluster meet, and, if they share a
/// reduction, exchange f32 accumulators and add them; 0 without one.
double getClusterClocks(const TmaShape &shape, const TmaRates &rates);

/// The average clocks of a step of a tile if nothing but its workgroups holds
/// it up. A step is some bytes of each row, of which tf32 has half as many
/// elements, and multiplies half as many a clock.
double getStepClocks(const TmaShape &shape, const TmaTraffic &traffic,
                     const TmaRates &rates = kTmaRates);
/// The share of the smaller of work and memory that a pipeline whose steps take
/// `step` clocks does not hide. Pixels come from memory with the first taps of
/// a tile, and all workgroups ask for them at about the same time. A pipeline
/// that reaches far ahead asks while the later taps of others leave memory
/// idle.
double getOverlap(const TmaShape &shape, double step, const TmaRates &rates);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_TMA_TMAMODEL_H
