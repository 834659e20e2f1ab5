//===- ProblemCost.cpp - Roughly what a problem costs ---------------------===//

#include "tools/problems/ProblemCost.h"

using namespace tessera;

double tessera::countOperations(const Problem &problem) {
  if (const ConvProblem *conv = problem.getConv())
    return conv->getFlops();
  if (const RowWiseProblem *rows = problem.getRows())
    return static_cast<double>(rows->getElements());
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
