//===- ChooseTile.h - A good tile without measuring ------------*- C++ -*-===//

#ifndef TESSERA_COMPILER_ALGORITHMS_CHOOSETILE_H
#define TESSERA_COMPILER_ALGORITHMS_CHOOSETILE_H

#include "compiler/Algorithms/Algorithm.h"

namespace tessera {

/// Ok if the algorithm covers the problem on the target, else NotSupported with
/// the reason. `problem` is valid.
Status checkAlgorithm(const Algorithm &algorithm, const Problem &problem,
                      const GpuTarget &target);

/// The tile with the least estimated cost over all algorithms. InvalidArgument
/// for a problem that is not valid; NotSupported, with each algorithm's
/// reason, if none covers the problem on the target.
ErrorOr<TileConfig> chooseTile(const Problem &problem, const GpuTarget &target);

/// Every tile of every algorithm that covers the problem, the best first; the
/// same failures.
ErrorOr<std::vector<Candidate>> rankTiles(const Problem &problem,
                                          const GpuTarget &target);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_CHOOSETILE_H
