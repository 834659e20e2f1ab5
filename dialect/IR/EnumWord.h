//===- EnumWord.h - Enum attributes as bare words in an op -----*- C++ -*--===//
//
// custom<EnumWord>($attr) in a declarative format prints `nhwc` instead of
// `#dnn.layout<nhwc>`. The files that define ops include this header.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_ENUMWORD_H
#define TESSERA_DIALECT_IR_ENUMWORD_H

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

namespace tessera::dnn {

/// Parses an enum attribute of this dialect as its bare word.
template <typename AttrT>
mlir::ParseResult parseEnumWord(mlir::OpAsmParser &parser, AttrT &attr) {
  using EnumT = decltype(attr.getValue());
  mlir::FailureOr<EnumT> value = mlir::FieldParser<EnumT>::parse(parser);
  if (mlir::failed(value))
    return mlir::failure();
  attr = AttrT::get(parser.getContext(), *value);
  return mlir::success();
}

template <typename AttrT>
void printEnumWord(mlir::OpAsmPrinter &printer, mlir::Operation *, AttrT attr) {
  printer << stringifyEnum(attr.getValue());
}

} // namespace tessera::dnn

#endif // TESSERA_DIALECT_IR_ENUMWORD_H
