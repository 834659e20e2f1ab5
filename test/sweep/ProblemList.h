//===- ProblemList.h - Problems of a file ----------------------*- C++ -*-===//

#ifndef TESSERA_TEST_SWEEP_PROBLEMLIST_H
#define TESSERA_TEST_SWEEP_PROBLEMLIST_H

#include "runtime/Base/Problem.h"

#include <string>
#include <vector>

namespace tessera::sweep {

/// Reads one problem a line, a network config or a driver line, in canonical
/// form. Empty lines and those that begin with '#' are passed over.
/// InvalidArgument names the first line that is no valid problem.
ErrorOr<std::vector<Problem>> readProblemList(const std::string &file);

/// Roughly what a problem costs to run: twice the products of a convolution, or
/// the elements that a pooling looks at, at least those that it writes.
double countOperations(const Problem &problem);

} // namespace tessera::sweep

#endif // TESSERA_TEST_SWEEP_PROBLEMLIST_H
