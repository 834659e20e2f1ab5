//===- ProblemCost.h - Roughly what a problem costs ------------*- C++ -*--===//

#ifndef TESSERA_TOOLS_PROBLEMS_PROBLEMCOST_H
#define TESSERA_TOOLS_PROBLEMS_PROBLEMCOST_H

#include "runtime/Base/Problem.h"

namespace tessera {

/// The approximate cost of running a problem: twice the products of a
/// convolution, or the elements that a pooling reads, but at least those that
/// it writes.
double countOperations(const Problem &problem);

} // namespace tessera

#endif // TESSERA_TOOLS_PROBLEMS_PROBLEMCOST_H
