//===- LdsPointer.cpp - A place in an LDS buffer as a pointer -------------===//

#include "compiler/Conversion/Common/LdsPointer.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tessera;

Value tessera::emitLdsPointer(Emitter &e, Value buffer, Value bytes) {
  Value base =
      memref::ExtractAlignedPointerAsIndexOp::create(e.b, e.loc, buffer);
  base = arith::IndexCastOp::create(e.b, e.loc, e.b.getI32Type(), base);
  Type type = LLVM::LLVMPointerType::get(e.b.getContext(), 3);
  Value pointer = LLVM::IntToPtrOp::create(e.b, e.loc, type, base);
  return LLVM::GEPOp::create(e.b, e.loc, type, e.b.getI8Type(), pointer, bytes,
                             LLVM::GEPNoWrapFlags::inbounds);
}
