//===- Passes.h - Passes that check the pipeline ---------------*- C++ -*--===//

#ifndef TESSERA_COMPILER_PIPELINE_PASSES_H
#define TESSERA_COMPILER_PIPELINE_PASSES_H

#include "mlir/Pass/Pass.h"

namespace tessera {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/Pipeline/Passes.h.inc"
} // namespace tessera

#endif // TESSERA_COMPILER_PIPELINE_PASSES_H
