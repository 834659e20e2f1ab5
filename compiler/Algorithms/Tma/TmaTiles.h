//===- TmaTiles.h - GEMM tiles for TMA and wgmma ---------------*- C++ -*-===//
//
// Which problems a tensor map can describe, and which tiles are worth trying
// for them. The lowering checks again, op by op; here a problem is kept from
// tiles that could not be built.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_TMATILES_H
#define TESSERA_COMPILER_ALGORITHMS_TMATILES_H

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Tma/TmaModel.h"
#include "runtime/Base/ConvProblem.h"

namespace tessera {

/// The candidates of igemm that copy by TMA; none if `problem` or `target` does
/// not allow it.
std::vector<Candidate> getTmaCandidates(const ConvProblem &problem,
                                        const GpuTarget &target);
/// The same by other rates than the chip's, for those who fit them.
std::vector<Candidate> getTmaCandidates(const ConvProblem &problem,
                                        const GpuTarget &target,
                                        const TmaRates &rates);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_TMATILES_H
