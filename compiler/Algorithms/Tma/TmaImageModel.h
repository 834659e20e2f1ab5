//===- TmaImageModel.h - What forward and backward data cost ---*- C++ -*--===//
//
// Forward and backward data with TMA as a product of images and filter: what
// tensor maps can describe, and the clocks that tiles take.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_TMA_TMAIMAGEMODEL_H
#define TESSERA_COMPILER_ALGORITHMS_TMA_TMAIMAGEMODEL_H

#include "compiler/Algorithms/Tma/TmaModel.h"
#include "runtime/Base/ConvProblem.h"

#include <vector>

namespace tessera::images {

/// A convolution as the GEMM of images, which are read through a window, and a
/// filter.
struct TmaGemm {
  int64_t rows, columns, channels; ///< Of one group; channels of the reduction.
  int64_t groups; ///< Times the classes of strided backward data.
  int64_t taps;   ///< Of all classes together.
  int64_t classes = 1;
  std::vector<int64_t> classTaps = {1}; ///< Of each class, the most first.
};

/// Backward data is a forward convolution of the gradient for each class of
/// pixels that the same taps reach. With `hasImages` it is a product of the
/// filter and each image (isImageProduct()).
TmaGemm getGemm(const ConvProblem &p, bool hasImages = false);

/// Whether the offsets of addresses reach all of the result, up to 2 GiB.
bool isInReach(const ConvProblem &p);

/// Whether TMA can copy what is read, and the result can be stored.
bool fitsTma(const ConvProblem &p, const GpuTarget &target);

/// The tiles of the result.
int64_t countTiles(const TmaGemm &gemm, const TmaShape &shape);

/// The waves of workgroups that `splits` of the tiles of a shape are. Tiles of
/// strided backward data have as many steps as their class has taps; those with
/// the most come first, and the others fill the units that these leave idle. So
/// it takes as long as all tiles together, or as whole waves of any of the
/// longest ones.
double countWaves(const TmaGemm &gemm, const TmaShape &shape,
                  const GpuTarget &target, int splits = 1);

/// The clocks that a launch with tiles of `shape` takes, with its `splits`.
double estimateClocks(const ConvProblem &p, const TmaShape &shape, int splits,
                      const GpuTarget &target, const TmaRates &rates);

} // namespace tessera::images

#endif // TESSERA_COMPILER_ALGORITHMS_TMA_TMAIMAGEMODEL_H
