//===- ChooseTile.h - A good tile without measuring ------------*- C++ -*--===//

#ifndef TESSERA_COMPILER_ALGORITHMS_CHOOSETILE_H
#define TESSERA_COMPILER_ALGORITHMS_CHOOSETILE_H

#include "compiler/Algorithms/Algorithm.h"

namespace tessera {

/// Ok if the algorithm covers the problem on the target, else NotSupported with
/// the reason. `problem` must be valid.
Status checkAlgorithm(const Algorithm &algorithm, const Problem &problem,
                      const GpuTarget &target);

/// The tile with the least estimated cost over all algorithms. InvalidArgument
/// if the problem is not valid; NotSupported, with the reason of each
/// algorithm, if none covers the problem on the target.
ErrorOr<TileConfig> chooseTile(const Problem &problem, const GpuTarget &target);

/// All tiles of all algorithms that cover the problem, the best first. Fails as
/// chooseTile() does.
ErrorOr<std::vector<Candidate>> rankTiles(const Problem &problem,
                                          const GpuTarget &target);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_CHOOSETILE_H
