//===- EmitId.h - The number of a thread or a block ------------*- C++ -*--===//

#ifndef TESSERA_COMPILER_CONVERSION_COMMON_EMITID_H
#define TESSERA_COMPILER_CONVERSION_COMMON_EMITID_H

#include "compiler/Conversion/Common/Emitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <optional>

namespace tessera {

/// What OpT, an op of a vendor's, gives: one of `count` numbers, if that is
/// known.
template <typename OpT>
mlir::Value emitId(Emitter &e, std::optional<int64_t> count) {
  mlir::Type i32 = e.b.getI32Type();
  if (!count)
    return OpT::create(e.b, e.loc, i32);
  return OpT::create(
      e.b, e.loc, i32,
      mlir::LLVM::ConstantRangeAttr::get(e.b.getContext(), llvm::APInt(32, 0),
                                         llvm::APInt(32, *count)));
}

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COMMON_EMITID_H
