//===- TmaHaloTiles.h - Tiles whose taps share pixels ----------*- C++ -*--===//
//
// Decides which problems allow it, which tiles fit, and what their steps copy
// (docs/design/0009-window-reuse.md).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_TMA_TMAHALOTILES_H
#define TESSERA_COMPILER_ALGORITHMS_TMA_TMAHALOTILES_H

#include "compiler/Algorithms/Tma/TmaModel.h"

#include <vector>

namespace tessera {

/// A forward convolution, or backward data, as a GEMM whose rows are the
/// positions of HaloPositions.h.
struct TmaHalo {
  int64_t positions; ///< Of all images.
  int64_t around;    ///< Rows that a tile reads besides its own.
  int64_t taps;      ///< That share pixels.
  int64_t depthTaps; ///< Times as many taps are in all.
  int64_t channels;  ///< Of the reduction.
  int64_t groups;
  int64_t columns; ///< Of one group.

  /// Of a tile's reduction.
  int64_t countSteps(const TmaShape &shape) const;
  /// The rows that a buffer holds; see HaloOperand::chooseBoxes().
  int64_t countRows(const TmaShape &shape) const;
  /// Whether the filter is loaded once and stays in shared memory for all
  /// tiles.
  bool filterStays(const TmaShape &shape) const;
  /// The rows of pixels that a step copies, on average.
  double getRowsOfStep(const TmaShape &shape) const;
};

/// Of taps of a filter row alone if `hasOneRow`.
TmaHalo measureHalo(const ConvProblem &problem, bool hasOneRow = false);

/// The shapes, with as many stages as shared memory holds; none if the taps of
/// `problem` cannot share pixels. `problem` must be one that TMA can describe.
std::vector<TmaShape> getTmaHaloShapes(const ConvProblem &problem,
                                       const GpuTarget &target,
                                       bool hasOneRow = false);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_TMA_TMAHALOTILES_H
