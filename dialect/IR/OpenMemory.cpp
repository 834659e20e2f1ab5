//===- OpenMemory.cpp - Memory of unknown size that windows share ---------===//

#include "dialect/IR/OpenMemory.h"
#include "dialect/IR/Dnn.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tessera;

static ArrayAttr getAttribute(Value tensor, StringRef name) {
  auto argument = dyn_cast<BlockArgument>(tensor);
  auto function = argument ? dyn_cast_if_present<FunctionOpInterface>(
                                 argument.getOwner()->getParentOp())
                           : FunctionOpInterface();
  return function ? function.getArgAttrOfType<ArrayAttr>(
                        argument.getArgNumber(), name)
                  : ArrayAttr();
}

ArrayAttr dnn::getOpenMemory(Value tensor) {
  return getAttribute(tensor, kMemoryAttrName);
}

ArrayAttr dnn::getOpenSizes(Value tensor) {
  return getAttribute(tensor, kSizesAttrName);
}

bool dnn::isOpenMemory(ArrayAttr memory, int64_t rank) {
  return static_cast<int64_t>(memory.size()) == rank &&
         llvm::all_of(memory, llvm::IsaPred<StringAttr>);
}
