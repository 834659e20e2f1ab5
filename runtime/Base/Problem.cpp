//===- Problem.cpp - Any problem ------------------------------------------===//

#include "runtime/Base/ProblemText.h"

using namespace tessera;

Problem Problem::canonicalize() const {
  if (hasUnknownSizes())
    return *this;
  Problem canonical = std::visit(
      [](const auto &problem) { return Problem(problem.canonicalize()); },
      value);
  canonical.unaligned = unaligned;
  canonical.withoutWorkspace = withoutWorkspace;
  return canonical;
}

std::string Problem::toNetworkConfig() const {
  std::string text = std::visit(
      [](const auto &problem) { return problem.toNetworkConfig(); }, value);
  if (small)
    text += kSmallSuffix;
  if (withoutWorkspace)
    text += kNoWorkspaceSuffix;
  if (unaligned)
    text += kUnalignedSuffix;
  return text;
}

uint64_t Problem::getHash() const {
  FieldMixer mixer;
  mixer.number(value.index());
  for (bool flag : {unaligned, withoutWorkspace, small})
    mixer.option({}, {}, flag);
  std::visit([&](const auto &problem) { mix(mixer, problem); }, value);
  return mixer.getHash();
}
