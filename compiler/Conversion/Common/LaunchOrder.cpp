//===- LaunchOrder.cpp - Workgroups and tiles in a launch's order ---------===//

#include "compiler/Conversion/Common/LaunchOrder.h"
#include "dialect/IR/Dnn.h"
#include "runtime/Base/TileOrder.h"

using namespace mlir;
using namespace tessera;

/// The eight bytes of a scalar, of which 0 is 0.
static Value getFromEnd(gpu::GPUFuncOp kernel) {
  Builder b(kernel.getContext());
  auto name = b.getStringAttr(std::string(getName(kFromEndArg)));
  const unsigned index = kernel.getNumArguments();
  for (unsigned argument = 0; argument < index; ++argument)
    if (kernel.getArgAttr(argument, dnn::kArgAttrName) == name)
      return kernel.getArgument(argument);
  (void)kernel.insertArgument(
      index, b.getI64Type(),
      b.getDictionaryAttr(b.getNamedAttr(dnn::kArgAttrName, name)),
      kernel.getLoc());
  return kernel.getArgument(index);
}

Value tessera::emitLaunchOrder(Emitter &e, gpu::GPUFuncOp kernel, Value number,
                               int64_t count) {
  Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getI64IntegerAttr(0));
  Value isFromEnd = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ne,
                                          getFromEnd(kernel), zero);
  Value fromLast =
      arith::SubIOp::create(e.b, e.loc, e.constant(count - 1), number);
  return e.select(isFromEnd, fromLast, number);
}
