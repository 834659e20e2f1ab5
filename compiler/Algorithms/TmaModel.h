//===- TmaModel.h - What TMA can read, and what its tiles cost -*- C++ -*-===//
//
// Shared by the directions of a convolution: the tensors and windows that maps
// can describe, the shapes of tiles, and the clocks that a tile takes.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_TMAMODEL_H
#define TESSERA_COMPILER_ALGORITHMS_TMAMODEL_H

#include "compiler/Algorithms/ConvGeometry.h"
#include "compiler/Algorithms/GemmTile.h"
#include "runtime/Base/ConvProblem.h"
#include "runtime/Base/GpuTarget.h"

#include <array>
#include <span>

namespace tessera {

/// Elements of a step, 128 bytes of f16 or bf16.
inline constexpr int64_t kTmaStep = 64;

/// Whether the chip has TMA and wgmma, and the tensors are for them: f16 or
/// bf16, channels together.
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
  int halo = 0; ///< Buffers for pixels that all taps share.

  /// Of a thread.
  int countSums() const { return m * n / (consumers * 128); }
  /// Two workgroups share a multiprocessor.
  bool isSmall() const { return consumers == 1 && !isPingPong; }
  /// Others multiply while a tile is stored.
  bool hidesStores() const { return isPingPong || isSmall(); }
  GemmTile getTile(int parts) const;
};

std::span<const TmaShape> getTmaShapes();

/// In clocks of one multiprocessor.
struct TmaRates {
  double products = 1760; ///< Multiply-adds a clock.
  double l2Bytes = 43;    ///< Of the second cache a clock.
  double readBytes = 128; ///< Of shared memory, by wgmma.
  double memoryBytes = 14.7;
  double exposedSums = 9;  ///< Stored in a clock, unhidden,
  double hiddenSums = 128; ///< and behind others' products.
  double overlap = 0.3;    ///< Of the smaller of work and memory.
  double begin = 4000;
};

/// Fitted to 250 kernels on an H100 (24 forward problems, every shape): their
/// first choice reaches 0.994 of the best in geometric mean, 0.96 at least.
inline constexpr TmaRates kTmaRates;

/// Clocks to store the sums of one tile, rounded.
double getStoreClocks(const TmaShape &shape, const TmaRates &rates);
/// What a step brings, in rows of 128 bytes: those of both tiles, if nothing
/// is shared.
inline double getCopiedRows(const TmaShape &shape) { return shape.m + shape.n; }

/// Clocks of one tile of `steps`, on average, if nothing but its workgroups
/// holds them up.
double getTileClocks(const TmaShape &shape, double steps, double copiedRows,
                     const TmaRates &rates = kTmaRates);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_TMAMODEL_H
