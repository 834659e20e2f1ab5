//===- GlobalBuffer.h - A tensor behind a buffer descriptor ----*- C++ -*-===//
//
// AMD's buffer instructions check an offset against the descriptor's size:
// loads out of range give zero and stores do nothing. That is our padding and
// our tails, at the price of one select.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_GLOBALBUFFER_H
#define TESSERA_COMPILER_CONVERSION_GLOBALBUFFER_H

#include "compiler/Conversion/Emitter.h"
#include "runtime/Base/GpuTarget.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

namespace tessera {

/// An offset that is out of range of every descriptor we make.
inline constexpr int64_t kOutOfRange = int64_t(1) << 31;

/// A raw buffer descriptor over `bytes` bytes at `pointer`.
inline mlir::Value makeBuffer(Emitter &e, mlir::Value pointer, int64_t bytes,
                              const GpuTarget &target) {
  mlir::OpBuilder &b = e.b;
  mlir::Value stride = e.constant(b.getI16IntegerAttr(0));
  mlir::Value size = e.constant(b.getI64IntegerAttr(bytes));
  mlir::Value flags = e.constant(target.bufferWord3);
  auto type = mlir::LLVM::LLVMPointerType::get(b.getContext(), 8);
  return mlir::ROCDL::MakeBufferRsrcOp::create(b, e.loc, type, pointer, stride,
                                               size, flags);
}

/// Loads `type` at byte offset `lane` (a VGPR, range-checked) + `uniform` (an
/// SGPR, not checked).
inline mlir::Value loadBuffer(Emitter &e, mlir::Value buffer, mlir::Type type,
                              mlir::Value lane, mlir::Value uniform) {
  return mlir::ROCDL::RawPtrBufferLoadOp::create(e.b, e.loc, type, buffer, lane,
                                                 uniform, e.constant(0),
                                                 nullptr, nullptr, nullptr);
}

inline void storeBuffer(Emitter &e, mlir::Value value, mlir::Value buffer,
                        mlir::Value lane) {
  mlir::ROCDL::RawPtrBufferStoreOp::create(e.b, e.loc, value, buffer, lane,
                                           e.constant(0), e.constant(0),
                                           nullptr, nullptr, nullptr);
}

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_GLOBALBUFFER_H
