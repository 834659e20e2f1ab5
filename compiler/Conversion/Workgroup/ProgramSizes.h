//===- ProgramSizes.h - Sizes in a workgroup's program ---------*- C++ -*--===//
//
// At stage `workgroup` a number made of unknown sizes is a wg.size, and a
// division by it is one: only the kernel has arguments.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_WORKGROUP_PROGRAMSIZES_H
#define TESSERA_COMPILER_CONVERSION_WORKGROUP_PROGRAMSIZES_H

#include "compiler/Conversion/Common/SizeArguments.h"
#include "dialect/Workgroup/Workgroup.h"

namespace tessera {

class ProgramSizes final : public SizeArguments {
public:
  /// Numbers are made at the begin of `entry`, each once.
  ProgramSizes(mlir::func::FuncOp function, mlir::Block *entry)
      : SizeArguments(function), entry(entry) {}

  mlir::Value emit(Emitter &e, const SizeExpr &size) override {
    if (size.getNumber())
      return e.constant(*size.getNumber());
    mlir::Value &value = values[size.toText()];
    if (!value) {
      mlir::OpBuilder::InsertionGuard guard(e.b);
      e.b.setInsertionPointToStart(entry);
      value = wg::SizeOp::create(e.b, e.loc, e.b.getI32Type(), size.toText());
    }
    return value;
  }
  mlir::Value emitQuotient(Emitter &e, mlir::Value value,
                           const SizeExpr &by) override {
    return mlir::arith::DivUIOp::create(e.b, e.loc, value, emit(e, by));
  }
  mlir::Value emitRemainder(Emitter &e, mlir::Value value,
                            const SizeExpr &by) override {
    return mlir::arith::RemUIOp::create(e.b, e.loc, value, emit(e, by));
  }

private:
  mlir::Block *entry;
  llvm::StringMap<mlir::Value> values;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_WORKGROUP_PROGRAMSIZES_H
