//===- EveryAlgorithm.h - A problem by all of its algorithms ---*- C++ -*--===//

#ifndef TESSERA_TEST_UNIT_EXECUTE_EVERYALGORITHM_H
#define TESSERA_TEST_UNIT_EXECUTE_EVERYALGORITHM_H

#include "compiler/Algorithms/Algorithm.h"
#include "test/unit/execute/ConvFixture.h"

#include <map>

namespace tessera::test {

/// Tiles are of one kind if they have one algorithm.
inline std::string getAlgorithm(const TileConfig &tile) {
  return tile.algorithm;
}

/// The best tile of each kind of the algorithms that take `problem`.
inline std::vector<TileConfig>
getTiles(const ConvProblem &problem,
         std::string (*getKind)(const TileConfig &) = getAlgorithm) {
  std::map<std::string, Candidate> best;
  for (const Algorithm *algorithm : getAlgorithms()) {
    if (!algorithm->check(problem, getTarget()).isOk())
      continue;
    for (const Candidate &candidate :
         algorithm->getCandidates(problem, getTarget())) {
      auto [entry, isNew] =
          best.try_emplace(getKind(candidate.tile), candidate);
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

/// Runs twice, and expects the same numbers of channels, bit for bit.
inline void checkSameBits(const ConvProblem &problem) {
  auto engine = makeEngine(createJitCompiler());
  const ConvOutcome first =
      runConv(*engine, problem, reference::DataKind::Uniform, 7);
  const ConvOutcome second =
      runConv(*engine, problem, reference::DataKind::Uniform, 7);
  EXPECT_TRUE(first.passed()) << first.toText();
  EXPECT_EQ(first.channelResults.size(), 2u);
  EXPECT_EQ(first.channelResults, second.channelResults);
}

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_EXECUTE_EVERYALGORITHM_H
