//===- TmaTiles.h - GEMM tiles for TMA and wgmma ---------------*- C++ -*--===//
//
// Decides which problems tensor maps can describe, and which tiles are worth
// trying for them. The lowering checks again, op by op; the checks here keep a
// problem from tiles that could not be built.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_TMA_TMATILES_H
#define TESSERA_COMPILER_ALGORITHMS_TMA_TMATILES_H

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Tma/TmaModel.h"
#include "runtime/Base/ConvProblem.h"

namespace tessera {

/// The candidates of igemm with TMA copies; none if `problem` or `target` does
/// not allow it.
std::vector<Candidate> getTmaCandidates(const ConvProblem &problem,
                                        const GpuTarget &target);
/// The same with other rates than those of the chip, for tools that fit rates.
std::vector<Candidate> getTmaCandidates(const ConvProblem &problem,
                                        const GpuTarget &target,
                                        const TmaRates &rates);

/// Whether a problem of unknown sizes, of which `sample` has some, is copied by
/// TMA: images of 16 or 32 bits.
Status checkOpenTma(const ConvProblem &sample, const GpuTarget &target);
/// Its candidates: tiles that depend on no size, without halos and clusters;
/// those of backward weights have as many splits as suit the sample.
std::vector<Candidate> getOpenTmaCandidates(const ConvProblem &sample,
                                            const GpuTarget &target);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_TMA_TMATILES_H
