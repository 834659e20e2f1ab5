//===- OpenSamples.h - Sizes that stand for unknown ones -------*- C++ -*--===//
//
// A tile for unknown sizes serves all of a class (ProblemFamily.cpp), so it is
// chosen by what it takes at several sizes of it, not at one: a tile that is
// the best for a large image may leave most of a chip idle under a smaller one
// (docs/design/0038-sizes-as-arguments.md).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_OPENSAMPLES_H
#define TESSERA_COMPILER_ALGORITHMS_OPENSAMPLES_H

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tessera {

/// Members of a family of convolutions: its sample
/// first, then others of its class, from small to large: up to `most` pixels.
/// Where a reduction of few pixels may have splits, more of them are small, as
/// the best tile differs more; and so are those of backward weights.
std::vector<ConvProblem> getOpenSamples(const Problem &family,
                                        double most = 1 << 17,
                                        bool hasSplits = false);

/// The same, of batches of images of 7 to 112 pixels a side: for tiles that are
/// blocks of an image, which overhang it. In the class of many pixels they have
/// about `least` and `most` times as many as the other class.
std::vector<ConvProblem> getOpenImages(const Problem &family,
                                       double least = 1.5, double most = 8);

/// The candidates of the first sample. Each costs what the best one costs
/// there, times what it takes over the best one in the geometric mean of all
/// samples; more if it takes far more at one of them.
std::vector<Candidate> rankAtSamples(
    llvm::ArrayRef<ConvProblem> samples,
    llvm::function_ref<std::vector<Candidate>(const ConvProblem &)> find);

/// `candidates` with costs that begin where those of `others`, of the sample
/// that all algorithms are compared at, do.
std::vector<Candidate> scaleCosts(std::vector<Candidate> candidates,
                                  llvm::ArrayRef<Candidate> others);

/// The splits that there are of those of `tile` where the member of a family of
/// backward weights is `member`: no more than its pixels allow.
int countUsedSplits(const ConvProblem &member, const GemmTile &tile);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_OPENSAMPLES_H
