//===- ProblemList.cpp - Problems of a file -------------------------------===//

#include "test/sweep/ProblemList.h"

#include <fstream>

using namespace tessera;
using namespace tessera::sweep;

ErrorOr<std::vector<Problem>>
tessera::sweep::readProblemList(const std::string &file) {
  std::ifstream stream(file);
  if (!stream)
    return invalidArgument("cannot read '" + file + "'");
  std::vector<Problem> problems;
  int64_t number = 1;
  for (std::string line; std::getline(stream, line); ++number) {
    if (line.empty() || line.front() == '#')
      continue;
    ErrorOr<Problem> problem = parseDriverCommand(line);
    Status status = problem ? problem->verify() : problem.getStatus();
    if (!status.isOk())
      return invalidArgument("line " + std::to_string(number) + " of '" + file +
                             "': " + status.getMessage());
    problems.push_back(*problem);
  }
  return problems;
}

double tessera::sweep::countOperations(const Problem &problem) {
  if (const ConvProblem *conv = problem.getConv())
    return conv->getFlops();
  const PoolProblem &pool = *problem.getPool();
  const double window =
      static_cast<double>(pool.window.d * pool.window.h * pool.window.w);
  const double looked =
      window * static_cast<double>(pool.getOutputLengths().getElements());
  return pool.direction == Direction::Forward
             ? looked
             : looked +
                   static_cast<double>(pool.getInputLengths().getElements());
}
