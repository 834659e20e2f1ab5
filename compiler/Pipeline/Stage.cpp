//===- Stage.cpp - The names of the stages --------------------------------===//

#include "compiler/Pipeline/Stage.h"

#include <iterator>

using namespace tessera;

static constexpr std::string_view kNames[] = {
    "problem", "dnn", "tiled", "workgroup", "gpu", "llvm", "isa", "object"};
static_assert(std::size(kNames) == static_cast<size_t>(Stage::Object) + 1,
              "every stage has a name");

std::string_view tessera::getName(Stage stage) {
  return kNames[static_cast<size_t>(stage)];
}

std::optional<Stage> tessera::parseStage(std::string_view name) {
  for (size_t i = 0; i != std::size(kNames); ++i)
    if (kNames[i] == name)
      return static_cast<Stage>(i);
  return std::nullopt;
}
