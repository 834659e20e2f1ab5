//===- Passes.h - Passes from dnn to dnn -----------------------*- C++ -*--===//

#ifndef TESSERA_COMPILER_TRANSFORMS_PASSES_H
#define TESSERA_COMPILER_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace tessera {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/Transforms/Passes.h.inc"
} // namespace tessera

#endif // TESSERA_COMPILER_TRANSFORMS_PASSES_H
