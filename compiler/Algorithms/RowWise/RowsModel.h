//===- RowsModel.h - The cost model of row-wise operations -----*- C++ -*-===//

#ifndef TESSERA_COMPILER_ALGORITHMS_ROWSMODEL_H
#define TESSERA_COMPILER_ALGORITHMS_ROWSMODEL_H

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/RowWise/RowsTile.h"
#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/GpuTarget.h"

namespace tessera {

/// Fails with NotSupported if a dimension is beyond the 32-bit arithmetic of a
/// kernel.
Status checkRowsReach(const RowsGeometry &g);

/// The constants of the cost model; RowsRates.def describes each.
struct RowsRates {
#define ROWS_RATE(NAME, AMD, NVIDIA, MEANING) double NAME;
#include "compiler/Algorithms/RowWise/RowsRates.def"
};

/// The constants of the target's vendor.
RowsRates getRowsRates(const GpuTarget &target);

/// Estimate the clocks for all launches of each algorithm.
double estimateMap(const RowsGeometry &g, const RowsTile &tile,
                   const GpuTarget &target, const RowsRates &rates);
double estimateRows(const RowsGeometry &g, const RowsTile &tile,
                    const GpuTarget &target, const RowsRates &rates);
double estimateRowSplit(const RowsGeometry &g, const RowsTile &tile,
                        const GpuTarget &target, const RowsRates &rates);

/// The candidates of each algorithm for a problem that it accepts, in an order
/// that does not depend on the rates.
std::vector<Candidate> getMapCandidates(const Problem &problem,
                                        const GpuTarget &target,
                                        const RowsRates &rates);
std::vector<Candidate> getRowsCandidates(const Problem &problem,
                                         const GpuTarget &target,
                                         const RowsRates &rates);
std::vector<Candidate> getRowSplitCandidates(const Problem &problem,
                                             const GpuTarget &target,
                                             const RowsRates &rates);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_ROWSMODEL_H
