//===- TmaWeightTiles.h - Backward weights for TMA and wgmma ---*- C++ -*-===//
//
// The result has few tiles and a long reduction, so how many parts the
// reduction is split into decides as much as the tile.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_TMAWEIGHTTILES_H
#define TESSERA_COMPILER_ALGORITHMS_TMAWEIGHTTILES_H

#include "compiler/Algorithms/Algorithm.h"
#include "runtime/Base/ConvProblem.h"

namespace tessera {

/// The candidates of igemm for backward weights that copy by TMA; none if
/// `problem` or `target` does not allow it.
std::vector<Candidate> getTmaWeightCandidates(const ConvProblem &problem,
                                              const GpuTarget &target);
/// Those of a product whose rows are the taps, and whose columns are the
/// channels of y.
std::vector<Candidate> getTapRowCandidates(const ConvProblem &problem,
                                           const GpuTarget &target);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_TMAWEIGHTTILES_H
