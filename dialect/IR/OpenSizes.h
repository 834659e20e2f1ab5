//===- OpenSizes.h - Lists of sizes of which some are unknown --*- C++ -*--===//
//
// custom<OpenSizes>($attr) in a declarative format prints `[64, ?, 3]`, where
// `?` is ShapedType::kDynamic. The files that define ops include this header.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_OPENSIZES_H
#define TESSERA_DIALECT_IR_OPENSIZES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"

namespace tessera::dnn {

/// Appends the sizes of a list in square brackets.
inline mlir::ParseResult parseSizes(mlir::AsmParser &parser,
                                    llvm::SmallVectorImpl<int64_t> &sizes) {
  return parser.parseCommaSeparatedList(
      mlir::AsmParser::Delimiter::Square, [&]() -> mlir::ParseResult {
        int64_t &size = sizes.emplace_back(mlir::ShapedType::kDynamic);
        return succeeded(parser.parseOptionalQuestion())
                   ? mlir::success()
                   : parser.parseInteger(size);
      });
}

inline void printSizes(mlir::AsmPrinter &printer,
                       llvm::ArrayRef<int64_t> sizes) {
  printer << "[";
  llvm::interleaveComma(sizes, printer, [&](int64_t size) {
    if (mlir::ShapedType::isDynamic(size))
      printer << "?";
    else
      printer << size;
  });
  printer << "]";
}

inline mlir::ParseResult parseOpenSizes(mlir::OpAsmParser &parser,
                                        mlir::DenseI64ArrayAttr &attr) {
  llvm::SmallVector<int64_t> sizes;
  if (parseSizes(parser, sizes))
    return mlir::failure();
  attr = parser.getBuilder().getDenseI64ArrayAttr(sizes);
  return mlir::success();
}

inline void printOpenSizes(mlir::OpAsmPrinter &printer, mlir::Operation *,
                           mlir::DenseI64ArrayAttr attr) {
  printSizes(printer, attr.asArrayRef());
}

} // namespace tessera::dnn

#endif // TESSERA_DIALECT_IR_OPENSIZES_H
