//===- ChooseTile.cpp - A good tile without measuring ---------------------===//

#include "compiler/Algorithms/ChooseTile.h"

#include <algorithm>
#include <utility>

using namespace tessera;

Status tessera::checkAlgorithm(const Algorithm &algorithm,
                               const Problem &problem,
                               const GpuTarget &target) {
  if (problem.isUnaligned() && !algorithm.takesUnaligned())
    return notSupported("needs tensors that begin at multiples of 16 bytes");
  if (problem.hasUnknownSizes() && !algorithm.takesUnknownSizes())
    return notSupported("needs known sizes");
  return algorithm.check(problem, target);
}

/// The candidates that the caller's workspace, or its lack, allows. Statistics
/// take one with every algorithm.
static std::vector<Candidate> getCandidates(const Algorithm &algorithm,
                                            const Problem &problem,
                                            const GpuTarget &target) {
  std::vector<Candidate> candidates = algorithm.getCandidates(problem, target);
  if (const ConvProblem *conv = problem.getConv();
      conv && problem.isWithoutWorkspace())
    std::erase_if(candidates, [&](const Candidate &candidate) {
      return conv->epilogue.hasChannelResults() ||
             algorithm.needsWorkspace(*conv, candidate.tile);
    });
  return candidates;
}

ErrorOr<std::vector<Candidate>> tessera::rankTiles(const Problem &problem,
                                                   const GpuTarget &target) {
  if (Status status = problem.verify(); !status.isOk())
    return status;
  std::string reasons;
  std::vector<Candidate> all;
  for (const Algorithm *algorithm : getAlgorithms()) {
    Status status = checkAlgorithm(*algorithm, problem, target);
    std::vector<Candidate> candidates;
    if (status.isOk())
      candidates = getCandidates(*algorithm, problem, target);
    if (candidates.empty()) {
      reasons += reasons.empty() ? "" : "; ";
      reasons += std::string(algorithm->getName()) + ": " +
                 (status.isOk() ? "no tile fits" : status.getMessage());
    }
    all.insert(all.end(), candidates.begin(), candidates.end());
  }
  if (all.empty())
    return notSupported(reasons);
  // The index is the second key, so candidates of equal cost keep their order.
  // (The standard library's std::stable_sort raises a warning.)
  std::vector<std::pair<double, size_t>> order;
  for (const Candidate &candidate : all)
    order.emplace_back(candidate.cost, order.size());
  std::ranges::sort(order);
  std::vector<Candidate> ranked;
  for (auto [cost, index] : order)
    ranked.push_back(std::move(all[index]));
  return ranked;
}

ErrorOr<TileConfig> tessera::chooseTile(const Problem &problem,
                                        const GpuTarget &target) {
  ErrorOr<std::vector<Candidate>> ranked = rankTiles(problem, target);
  return ranked ? ErrorOr<TileConfig>(ranked->front().tile)
                : ranked.getStatus();
}
