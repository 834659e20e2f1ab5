//===- ReadLaunches.h - How the kernels of a module are launched -*- C++ -*-==//

#ifndef TESSERA_COMPILER_PIPELINE_READLAUNCHES_H
#define TESSERA_COMPILER_PIPELINE_READLAUNCHES_H

#include "compiler/Pipeline/Pipeline.h"

#include "mlir/IR/BuiltinOps.h"

namespace tessera {

/// Reads the launches of the kernels of a module of stage gpu, in their order,
/// and the workspace. dnn-verify-stage has checked that the attributes exist.
void readLaunches(mlir::ModuleOp module, const GpuTarget &target,
                  PipelineResult &result);

} // namespace tessera

#endif // TESSERA_COMPILER_PIPELINE_READLAUNCHES_H
