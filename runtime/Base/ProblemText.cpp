//===- ProblemText.cpp - Pieces of a network config -----------------------===//

#include "runtime/Base/ProblemText.h"

using namespace tessera;

bool tessera::namesDepth(std::string_view text) {
  // "-n64c256d4h14w14-": only lengths have a d between digits and before an h.
  size_t lengths = text.find("-n");
  if (lengths == text.npos)
    return false;
  std::string_view field = text.substr(lengths + 1);
  field = field.substr(0, field.find('-'));
  return field.find('d') != field.npos;
}

bool tessera::isNetworkConfig(std::string_view word) {
  for (std::string_view kind : {"conv-", "pool-", "rowwise-"})
    if (word.starts_with(kind))
      return true;
  return false;
}

ErrorOr<Problem> tessera::parseNetworkConfig(std::string_view text) {
  std::string_view plain = text;
  auto consumeSuffix = [&](std::string_view suffix) {
    const bool hasSuffix = plain.ends_with(suffix);
    if (hasSuffix)
      plain.remove_suffix(suffix.size());
    return hasSuffix;
  };
  const bool isUnaligned = consumeSuffix(kUnalignedSuffix);
  const bool isWithoutWorkspace = consumeSuffix(kNoWorkspaceSuffix);
  const bool isSmall = consumeSuffix(kSmallSuffix);
  TextScanner scanner(plain);
  bool hasDepth = namesDepth(text);
  Problem problem;
  if (scanner.consume("pool-"))
    problem = scanPoolProblem(scanner, hasDepth);
  else if (scanner.consume("rowwise-"))
    problem = scanRowWiseProblem(scanner);
  else
    problem = scanConvProblem(scanner.expect("conv-"), hasDepth);
  if (isUnaligned)
    problem = problem.asUnaligned();
  if (isSmall)
    problem = problem.asSmall();
  if (isWithoutWorkspace)
    problem = problem.asWithoutWorkspace();
  if (!scanner.isDone() || problem.toNetworkConfig() != text)
    return invalidArgument("'" + std::string(text) +
                           "' is not a network config, which looks like '" +
                           ConvProblem().toNetworkConfig() + "'");
  if (Status status = problem.verify(); !status.isOk())
    return status.withContext("network config '" + std::string(text) + "'");
  return problem;
}
