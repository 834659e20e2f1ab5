//===- RowsModel.h - What reducing and mapping rows costs ------*- C++ -*-===//

#ifndef TESSERA_COMPILER_ALGORITHMS_ROWSMODEL_H
#define TESSERA_COMPILER_ALGORITHMS_ROWSMODEL_H

#include "compiler/Algorithms/RowsTile.h"
#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/GpuTarget.h"

namespace tessera {

/// NotSupported if a dimension is beyond the 32-bit arithmetic of a kernel.
Status checkRowsReach(const RowsGeometry &g);

/// Clocks of the chip for the launches of each algorithm.
double estimateMap(const RowsGeometry &g, const RowsTile &tile,
                   const GpuTarget &target);
double estimateRows(const RowsGeometry &g, const RowsTile &tile,
                    const GpuTarget &target);
double estimateRowSplit(const RowsGeometry &g, const RowsTile &tile,
                        const GpuTarget &target);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_ROWSMODEL_H
