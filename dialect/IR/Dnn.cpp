//===- Dnn.cpp - Register the attributes, types and ops of dnn ------------===//

#include "dialect/IR/Dnn.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera::dnn;

#include "dialect/IR/DnnDialect.cpp.inc"
#include "dialect/IR/DnnEnums.cpp.inc"

void DnnDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "dialect/IR/DnnConvOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/IR/DnnPoolOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/IR/DnnRowWiseOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/IR/DnnPointOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/IR/DnnBoxOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/IR/DnnTileOps.cpp.inc"
      >();
}
