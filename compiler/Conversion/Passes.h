//===- Passes.h - Passes from dnn to the gpu level -------------*- C++ -*--===//

#ifndef TESSERA_COMPILER_CONVERSION_PASSES_H
#define TESSERA_COMPILER_CONVERSION_PASSES_H

#include "dialect/Workgroup/Workgroup.h"

#include "mlir/Pass/Pass.h"

namespace tessera {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/Conversion/Passes.h.inc"
} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_PASSES_H
