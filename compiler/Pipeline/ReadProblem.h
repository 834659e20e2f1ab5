//===- ReadProblem.h - The problem that a dnn module states ----*- C++ -*--===//

#ifndef TESSERA_COMPILER_PIPELINE_READPROBLEM_H
#define TESSERA_COMPILER_PIPELINE_READPROBLEM_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/Problem.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace tessera {

/// Recovers the problem from a module that a frontend built or that a person
/// wrote, since tiles are chosen by problem. Fails with NotSupported if the
/// module does not hold exactly one primitive or no problem stands for it.
ErrorOr<Problem> readProblem(mlir::ModuleOp module);

} // namespace tessera

#endif // TESSERA_COMPILER_PIPELINE_READPROBLEM_H
