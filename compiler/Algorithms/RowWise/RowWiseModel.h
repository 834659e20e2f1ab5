//===- RowWiseModel.h - The cost model of row-wise operations --*- C++ -*--===//

#ifndef TESSERA_COMPILER_ALGORITHMS_ROWWISE_ROWWISEMODEL_H
#define TESSERA_COMPILER_ALGORITHMS_ROWWISE_ROWWISEMODEL_H

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/RowWise/RowWiseTile.h"
#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/GpuTarget.h"

namespace tessera {

/// Fails with NotSupported if a dimension is beyond the 32-bit arithmetic of a
/// kernel.
Status checkRowWiseReach(const RowWiseGeometry &g);

/// The constants of the cost model; RowWiseRates.def describes each.
struct RowWiseRates {
#define ROW_WISE_RATE(NAME, AMD, NVIDIA, MEANING) double NAME;
#include "compiler/Algorithms/RowWise/RowWiseRates.def"
};

/// The constants of the target's vendor.
RowWiseRates getRowWiseRates(const GpuTarget &target);

/// Estimate the clocks for all launches of each algorithm.
double estimateMap(const RowWiseGeometry &g, const RowWiseTile &tile,
                   const GpuTarget &target, const RowWiseRates &rates);
double estimateRowWise(const RowWiseGeometry &g, const RowWiseTile &tile,
                       const GpuTarget &target, const RowWiseRates &rates);
double estimateRowSplit(const RowWiseGeometry &g, const RowWiseTile &tile,
                        const GpuTarget &target, const RowWiseRates &rates);

/// The candidates of each algorithm for a problem that it accepts, in an order
/// that does not depend on the rates.
std::vector<Candidate> getMapCandidates(const Problem &problem,
                                        const GpuTarget &target,
                                        const RowWiseRates &rates);
std::vector<Candidate> getRowWiseCandidates(const Problem &problem,
                                            const GpuTarget &target,
                                            const RowWiseRates &rates);
std::vector<Candidate> getRowSplitCandidates(const Problem &problem,
                                             const GpuTarget &target,
                                             const RowWiseRates &rates);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_ROWWISE_ROWWISEMODEL_H
