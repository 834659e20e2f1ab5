//===- OpenMemory.cpp - Memory of unknown size that windows share ---------===//

#include "dialect/IR/OpenMemory.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tessera;

ArrayAttr dnn::getOpenMemory(Value tensor) {
  auto argument = dyn_cast<BlockArgument>(tensor);
  auto function = argument ? dyn_cast_if_present<FunctionOpInterface>(
                                 argument.getOwner()->getParentOp())
                           : FunctionOpInterface();
  return function ? function.getArgAttrOfType<ArrayAttr>(
                        argument.getArgNumber(), kMemoryAttrName)
                  : ArrayAttr();
}

bool dnn::isOpenMemory(ArrayAttr memory, int64_t rank) {
  return static_cast<int64_t>(memory.size()) == rank &&
         llvm::all_of(memory, llvm::IsaPred<StringAttr>);
}
