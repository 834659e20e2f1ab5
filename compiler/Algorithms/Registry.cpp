//===- Registry.cpp - All algorithms of the compiler ----------------------===//

#include "compiler/Algorithms/Registry.h"
#include "compiler/Algorithms/Algorithm.h"

#include <array>

using namespace tessera;

std::span<const Algorithm *const> tessera::getAlgorithms() {
  static const std::array kAlgorithms = {
      &getImplicitGemm(), &getStem(),         &getNarrowGroups(),
      &getPacked(),       &getChannelsLast(), &getDepthwise(),
      &getToeplitz(),     &getWinograd(),     &getGeneralConv(),
      &getPool(),         &getPoolSplit(),    &getRowWiseMap(),
      &getRows(),         &getRowWiseSplit(), &getRecurrent(),
  };
  return kAlgorithms;
}

const Algorithm *tessera::findAlgorithm(const TileConfig &tile) {
  for (const Algorithm *algorithm : getAlgorithms())
    if (algorithm->getName() == tile.algorithm)
      return algorithm;
  return nullptr;
}
