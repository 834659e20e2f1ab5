//===- KnobWords.h - Knobs of a plan as words in an op ---------*- C++ -*--===//
//
// custom<KnobWords>($attr) in a declarative format prints `staging 1, order m`.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_KNOBWORDS_H
#define TESSERA_DIALECT_IR_KNOBWORDS_H

#include "dialect/IR/PlanKnobs.h"

#include "mlir/IR/OpImplementation.h"

namespace tessera::dnn {

/// Parses knobs, each with its value, with commas between them.
mlir::ParseResult parseKnobWords(mlir::OpAsmParser &parser,
                                 mlir::DenseI64ArrayAttr &attr);
void printKnobWords(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                    mlir::DenseI64ArrayAttr attr);

/// Fails after an error unless `values` are those of the table, of knobs that
/// such pipelines have.
llvm::LogicalResult
verifyKnobs(llvm::ArrayRef<int64_t> values, KnobTakers takers,
            llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace tessera::dnn

#endif // TESSERA_DIALECT_IR_KNOBWORDS_H
