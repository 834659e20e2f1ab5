//===- ElementType.h - Data types of types in IR ---------------*- C++ -*--===//

#ifndef TESSERA_COMPILER_TARGET_ELEMENTTYPE_H
#define TESSERA_COMPILER_TARGET_ELEMENTTYPE_H

#include "runtime/Base/ProblemTypes.h"

#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace tessera {

/// The data type that `type`, one of an element, stands for; none if no problem
/// has it.
inline std::optional<DataType> findDataType(mlir::Type type) {
  using namespace mlir;
  MLIRContext *context = type.getContext();
#define DATA_TYPE(NAME, TEXT, BYTES, DRIVER, MIOPEN, MLIR)                     \
  if (type == MLIR)                                                            \
    return DataType::NAME;
#include "runtime/Base/DataTypes.def"
  return std::nullopt;
}

/// Whether `type` is a float of 8 bits.
inline bool isFloat8(mlir::Type type) {
  std::optional<DataType> known = findDataType(type);
  return known && isFloat8(*known);
}

/// Whether products of `type` are added in f32.
inline bool hasF32Sums(mlir::Type type) {
  std::optional<DataType> known = findDataType(type);
  return known && hasF32Sums(*known);
}

} // namespace tessera

#endif // TESSERA_COMPILER_TARGET_ELEMENTTYPE_H
