//===- TmaHaloTiles.h - Tiles whose taps share pixels ----------*- C++ -*-===//
//
// Which problems allow it, which tiles fit, and what their steps bring
// (docs/design/0009-window-reuse.md).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_TMAHALOTILES_H
#define TESSERA_COMPILER_ALGORITHMS_TMAHALOTILES_H

#include "compiler/Algorithms/Tma/TmaModel.h"

#include <vector>

namespace tessera {

/// A forward convolution, or backward data, whose rows are positions.
struct TmaHalo {
  int64_t positions; ///< Of all images.
  int64_t around;    ///< Rows that a tile needs besides its own.
  int64_t taps;
  int64_t steps; ///< Of a tile's reduction.
  int64_t groups;
  int64_t columns; ///< Of one group.

  /// Rows that a buffer holds; see HaloOperand::chooseBoxes().
  int64_t countRows(const TmaShape &shape) const;
  /// Whether the filter comes once and stays.
  bool filterStays(const TmaShape &shape) const;
  /// Rows of pixels that a step brings, on average.
  double getRowsOfStep(const TmaShape &shape) const;
};

TmaHalo measureHalo(const ConvProblem &problem);

/// Shapes with as many stages as shared memory holds; none if taps of `problem`
/// share nothing. It must be one that TMA can describe.
std::vector<TmaShape> getTmaHaloShapes(const ConvProblem &problem,
                                       const GpuTarget &target);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_TMAHALOTILES_H
