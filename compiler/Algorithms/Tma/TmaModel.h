//===- TmaModel.h - What TMA can read, and what its tiles cost -*- C++ -*-===//
//
// Shared by the directions of a convolution: the tensors and windows that maps
// can describe, the shapes of tiles, and the clocks that a tile takes.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_TMAMODEL_H
#define TESSERA_COMPILER_ALGORITHMS_TMAMODEL_H

#include "compiler/Algorithms/Common/ConvGeometry.h"
#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"
#include "runtime/Base/ConvProblem.h"
#include "runtime/Base/GpuTarget.h"

#include <array>

namespace tessera {

/// Elements of a step of 16-bit factors, 128 bytes.
inline constexpr int64_t kTmaStep = 64;

/// Elements of a step of `problem`: as many bytes.
int64_t getTmaStep(const ConvProblem &problem);
/// Elements of 16 bytes, of which strides must be made.
int64_t getTmaUnit(const ConvProblem &problem);

/// Whether the chip has TMA and wgmma, and the tensors are for them: f16, bf16,
/// or f32 that may be rounded to tf32, channels together.
bool hasTmaTensors(const ConvProblem &problem, const GpuTarget &target);

/// Depth, height and width of `problem`; of one element if it has no depth.
std::array<ConvDim, 3> getConvDims(const ConvProblem &problem);

/// Whether im2col mode walks the images of `problem` as the window does.
bool fitsWindow(const ConvProblem &problem);

struct TmaShape {
  int m, n;
  int consumers; ///< That share the rows.
  bool isPingPong;
  int stages;
  int halo = 0;             ///< Buffers for pixels that all taps share.
  bool isExchanged = false; ///< Pixels are the columns of wgmma.
  int stagers = 2;          ///< Staging buffers of a warp for the result.

  /// Of a thread.
  int countSums() const { return m * n / (consumers * 128); }
  /// Two workgroups share a multiprocessor.
  bool isSmall() const { return consumers == 1 && !isPingPong; }
  GemmTile getTile(const ConvProblem &problem, int parts) const;
};

/// In clocks of one multiprocessor; TmaRates.def says what each is.
struct TmaRates {
#define TMA_RATE(NAME, VALUE, MEANING) double NAME = VALUE;
#include "compiler/Algorithms/Tma/TmaRates.def"
};

/// Fitted to 2520 kernels on an H100 (184 runs of a problem, forward and
/// backward data, batches of 1 to 256; stages.txt and resnet50-tiles.txt of
/// tools/bench/results/h100): the first choice reaches 0.991 of the best in
/// geometric mean, 0.916 at least. To repeat it: tools/dnn-fit.
inline constexpr TmaRates kTmaRates;

/// The same of tf32, whose results have twice the bytes: fitted to 534 kernels
/// of 52 runs (tf32-tiles.txt of the same folder), 0.993 and 0.961.
inline constexpr TmaRates kTmaTf32Rates = {
#define TMA_RATE(NAME, VALUE, MEANING) .NAME = VALUE,
#include "compiler/Algorithms/Tma/TmaTf32Rates.def"
};

const TmaRates &getTmaRates(const ConvProblem &problem);

/// Of x, w and y, each moved once.
double countTensorBytes(const ConvProblem &problem);

/// What a step of a tile copies.
struct TmaTraffic {
  double rows;            ///< The tile's, or fewer if taps share them.
  double columns;         ///< Of the filter; the tile's, more, or none.
  bool hasWindow = false; ///< Whether the rows are pixels of a window,
  bool isStrided = false; ///< whose taps do not read what others have read.
  double busy = 1;        ///< Share of the multiprocessors that have a tile.
  double multiplied = 1;  ///< Share of a step that is, past which are zeros.
};

/// Clocks to store the sums of one tile, rounded to 16 bits.
double getStoreClocks(const TmaShape &shape, const TmaRates &rates);
/// Clocks of `turns` tiles whose products take `products` each, and which take
/// `stored` to store.
double getWorkClocks(const TmaShape &shape, double turns, double products,
                     double stored);
/// Clocks of a step of a tile, on average, if nothing but its workgroups holds
/// it up. A step is 128 bytes of each row, of which tf32 has half as many
/// elements, and multiplies half as many a clock.
double getStepClocks(const TmaShape &shape, const TmaTraffic &traffic,
                     const TmaRates &rates = kTmaRates);
/// Share of the smaller of work and memory that a ring whose steps take `step`
/// clocks does not hide. Pixels come from memory with the first taps of a tile,
/// and all workgroups ask for them at about the same time; a ring that reaches
/// far ahead asks while others' later taps leave memory alone.
double getOverlap(const TmaShape &shape, double step, const TmaRates &rates);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_TMAMODEL_H
