//===- RowsModel.h - What reducing and mapping rows costs ------*- C++ -*-===//

#ifndef TESSERA_COMPILER_ALGORITHMS_ROWSMODEL_H
#define TESSERA_COMPILER_ALGORITHMS_ROWSMODEL_H

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/RowWise/RowsTile.h"
#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/GpuTarget.h"

namespace tessera {

/// NotSupported if a dimension is beyond the 32-bit arithmetic of a kernel.
Status checkRowsReach(const RowsGeometry &g);

/// RowsRates.def says what each is.
struct RowsRates {
#define ROWS_RATE(NAME, AMD, NVIDIA, MEANING) double NAME;
#include "compiler/Algorithms/RowWise/RowsRates.def"
};

/// The compiler's own.
RowsRates getRowsRates(const GpuTarget &target);

/// Clocks of the chip for the launches of each algorithm.
double estimateMap(const RowsGeometry &g, const RowsTile &tile,
                   const GpuTarget &target, const RowsRates &rates);
double estimateRows(const RowsGeometry &g, const RowsTile &tile,
                    const GpuTarget &target, const RowsRates &rates);
double estimateRowSplit(const RowsGeometry &g, const RowsTile &tile,
                        const GpuTarget &target, const RowsRates &rates);

/// Tiles of each algorithm for a problem that it accepts, in an order that does
/// not depend on the rates.
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
