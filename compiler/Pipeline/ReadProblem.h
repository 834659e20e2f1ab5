//===- ReadProblem.h - The problem that a dnn module states ----*- C++ -*-===//

#ifndef TESSERA_COMPILER_PIPELINE_READPROBLEM_H
#define TESSERA_COMPILER_PIPELINE_READPROBLEM_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/Problem.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace tessera {

/// What buildConvModule() was given, from its result, or from text that a
/// person wrote: the choice of a tile asks for a problem, not for IR.
/// NotSupported if the module does not hold exactly one dnn.conv.
ErrorOr<Problem> readProblem(mlir::ModuleOp module);

} // namespace tessera

#endif // TESSERA_COMPILER_PIPELINE_READPROBLEM_H
