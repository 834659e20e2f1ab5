//===- ElementType.h - Data types of problems in IR ------------*- C++ -*--===//

#ifndef TESSERA_COMPILER_FRONTEND_ELEMENTTYPE_H
#define TESSERA_COMPILER_FRONTEND_ELEMENTTYPE_H

#include "runtime/Base/ProblemTypes.h"

#include "mlir/IR/Builders.h"

namespace tessera {

mlir::Type getElementType(mlir::Builder &builder, DataType type);

} // namespace tessera

#endif // TESSERA_COMPILER_FRONTEND_ELEMENTTYPE_H
