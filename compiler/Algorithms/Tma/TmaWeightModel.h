//===- TmaWeightModel.h - What backward weights with TMA costs -*- C++ -*-===//
//
// Backward weights as a product of matrices: what tiles of all kinds share, and
// the clocks that they take.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_TMA_TMAWEIGHTMODEL_H
#define TESSERA_COMPILER_ALGORITHMS_TMA_TMAWEIGHTMODEL_H

#include "compiler/Algorithms/Tma/TmaModel.h"
#include "compiler/Algorithms/Tma/TmaWeightTiles.h"

#include "llvm/Support/MathExtras.h"

#include <vector>

namespace tessera::weights {

/// Backward weights as a GEMM; sizes are those of one group.
struct WeightsGemm {
  int64_t rows, columns;
  int64_t steps; ///< Of the reduction over pixels.
  int64_t groups;

  int64_t countTiles(const TmaShape &shape) const {
    return groups * llvm::divideCeilSigned(rows, shape.m) *
           llvm::divideCeilSigned(columns, shape.n);
  }
};

/// The product of `p`, whose columns are the taps' blocks of channels;
/// `hasTapRows` makes them its rows.
WeightsGemm getGemm(const ConvProblem &p, bool hasTapRows = false);

/// Whether TMA can copy x and y.
bool fitsTma(const ConvProblem &p, const GpuTarget &target);

/// The stages of the pipeline: as many as fit shared memory beside one staging
/// buffer of each warp. Terms of f32 (`isSplit`) take the columns' space twice.
int countStages(const TmaShape &shape, const GpuTarget &target,
                bool isSplit = false);

/// Columns of a block of pixels (PixelOperands.h).
int64_t getPixelColumns(const ConvProblem &p);

/// Whether a shape suits the type. Of tf32 consumers read operand A from
/// registers (PixelOperands.h): they cannot alternate between tiles, and
/// fragments need registers beside the accumulators, of which three consumers
/// have fewer until some move to them.
bool fitsType(const ConvProblem &p, const TmaShape &shape);

/// Whether the reduction must be split: only the launch that adds splits reads
/// further tensors of the epilogue.
bool mustSplit(const ConvProblem &p);

/// The numbers of splits that fill the chip for some waves, or as much of it as
/// their steps allow. No split is empty.
std::vector<int> getSplits(const ConvProblem &p, int64_t steps, int64_t tiles,
                           int64_t atOnce);

/// What a step copies. A copy has 128 bytes; if a group has fewer, copies begin
/// anywhere in a cache line and touch two lines, which other groups read again,
/// as the taps of a window do. For 32 groups of 8 channels (3x3, 64 images of
/// 28x28, on an H100), to which nothing was fitted, four tiles took 0.82 to
/// 0.87 of the time that this expects, and a fifth, which leaves
/// multiprocessors idle, 0.76.
TmaTraffic getTraffic(const ConvProblem &p, int rows, int columns);

/// All clocks: those of the waves of tiles, of memory, of the launch and of the
/// sum of the splits. `again` are the bytes that are read more than once.
double addUp(const ConvProblem &p, double work, double overlap, int splits,
             const GpuTarget &target, const TmaWeightRates &rates,
             double again = 0);

/// Clocks of the launch of a tile whose steps copy each operand anew.
double estimateClocks(const ConvProblem &p, const WeightsGemm &gemm,
                      const TmaShape &shape, int splits,
                      const GpuTarget &target,
                      const TmaWeightRates &rates = kTmaWeightRates);

} // namespace tessera::weights

#endif // TESSERA_COMPILER_ALGORITHMS_TMA_TMAWEIGHTMODEL_H
