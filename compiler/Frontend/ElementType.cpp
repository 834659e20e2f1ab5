//===- ElementType.cpp - Data types of problems in IR ---------------------===//

#include "compiler/Frontend/ElementType.h"

using namespace mlir;
using namespace tessera;

Type tessera::getElementType(Builder &builder, DataType type) {
  switch (type) {
  case DataType::F16:
    return builder.getF16Type();
  case DataType::BF16:
    return builder.getBF16Type();
  case DataType::F32:
    return builder.getF32Type();
  case DataType::F64:
    return builder.getF64Type();
  case DataType::I8:
    return builder.getI8Type();
  case DataType::I32:
    return builder.getI32Type();
  case DataType::I64:
    return builder.getI64Type();
  }
  llvm_unreachable("every data type has a case");
}
