//===- ChooseTile.cpp - A good tile without measuring ---------------------===//

#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Algorithms/Algorithm.h"

#include <limits>

using namespace tessera;

/// What the lowering has no instructions for, whatever the algorithm.
static Status checkEpilogue(const Problem &problem) {
  const ConvProblem *conv = problem.getConv();
  if (conv && conv->dataType == DataType::F64 &&
      isTranscendental(conv->epilogue.activation))
    return notSupported("the activation " +
                        std::string(getName(conv->epilogue.activation)) +
                        " needs an exponential, which chips have in f32 only; "
                        "the convolution is one of f64");
  return Status::ok();
}

ErrorOr<TileConfig> tessera::chooseTile(const Problem &problem,
                                        const GpuTarget &target) {
  if (Status status = problem.verify(); !status.isOk())
    return status;
  if (Status status = checkEpilogue(problem); !status.isOk())
    return status;
  std::string reasons;
  TileConfig best;
  double bestCost = std::numeric_limits<double>::infinity();
  for (const Algorithm *algorithm : getAlgorithms()) {
    Status status = algorithm->check(problem, target);
    std::vector<Candidate> candidates;
    if (status.isOk())
      candidates = algorithm->getCandidates(problem, target);
    if (candidates.empty()) {
      reasons += reasons.empty() ? "" : "; ";
      reasons += std::string(algorithm->getName()) + ": " +
                 (status.isOk() ? "no tile fits" : status.getMessage());
    }
    for (const Candidate &candidate : candidates)
      if (candidate.cost < bestCost) {
        bestCost = candidate.cost;
        best = candidate.tile;
      }
  }
  if (best.algorithm.empty())
    return notSupported(reasons);
  return best;
}
