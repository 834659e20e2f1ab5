//===- EveryAlgorithm.h - A problem by all of its algorithms ---*- C++ -*--===//

#ifndef TESSERA_TEST_UNIT_EXECUTE_EVERYALGORITHM_H
#define TESSERA_TEST_UNIT_EXECUTE_EVERYALGORITHM_H

#include "compiler/Algorithms/Algorithm.h"
#include "test/unit/execute/ConvFixture.h"

#include <map>

namespace tessera::test {

/// The best tile of each algorithm that takes `problem`.
inline std::vector<TileConfig> getTiles(const ConvProblem &problem) {
  std::map<std::string, Candidate> best;
  for (const Algorithm *algorithm : getAlgorithms()) {
    if (!algorithm->check(problem, getTarget()).isOk())
      continue;
    for (const Candidate &candidate :
         algorithm->getCandidates(problem, getTarget())) {
      auto [entry, isNew] =
          best.try_emplace(candidate.tile.algorithm, candidate);
      if (!isNew && candidate.cost < entry->second.cost)
        entry->second = candidate;
    }
  }
  std::vector<TileConfig> tiles;
  for (const auto &[name, candidate] : best)
    tiles.push_back(candidate.tile);
  return tiles;
}

/// Runs it with each of its algorithms, and returns how many there are.
inline size_t checkAll(const ConvProblem &problem) {
  EXPECT_TRUE(problem.verify().isOk()) << problem.verify().getMessage();
  const std::vector<TileConfig> tiles = getTiles(problem);
  for (const TileConfig &tile : tiles) {
    SCOPED_TRACE(tile.toText());
    auto engine = makeEngine(std::make_shared<FixedTileCompiler>(tile));
    checkConv(*engine, problem, reference::DataKind::Uniform);
  }
  return tiles.size();
}

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_EXECUTE_EVERYALGORITHM_H
