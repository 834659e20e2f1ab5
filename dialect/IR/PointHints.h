//===- PointHints.h - What a point program tells its lowering --*- C++ -*-===//
//
// Not what a kernel computes, but how a chip should run it.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_POINTHINTS_H
#define TESSERA_DIALECT_IR_POINTHINTS_H

#include "llvm/ADT/StringRef.h"

namespace tessera::dnn {

/// Name of the i64 attribute of a dnn.for_each_point with the workgroups that
/// should share a compute unit: their threads get no more registers than that
/// leaves, on chips where the code generator asks.
inline constexpr llvm::StringLiteral kResidentAttrName = "dnn.resident";

} // namespace tessera::dnn

#endif // TESSERA_DIALECT_IR_POINTHINTS_H
