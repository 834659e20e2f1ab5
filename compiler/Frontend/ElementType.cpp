//===- ElementType.cpp - Data types of problems in IR ---------------------===//

#include "compiler/Frontend/ElementType.h"

using namespace mlir;
using namespace tessera;

Type tessera::getElementType(Builder &builder, DataType type) {
  MLIRContext *context = builder.getContext();
  switch (type) {
#define DATA_TYPE(NAME, TEXT, BYTES, DRIVER, MIOPEN, MLIR)                     \
  case DataType::NAME:                                                         \
    return MLIR;
#include "runtime/Base/DataTypes.def"
  }
  llvm_unreachable("every data type has a case");
}
