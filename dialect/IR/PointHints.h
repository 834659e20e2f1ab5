//===- PointHints.h - What a point program tells its lowering --*- C++ -*-===//
//
// Not what a kernel computes, but how a chip should run it, and what that asks
// of the addresses of tensors.
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

/// Name of the unit attribute of a dnn.point_load of what is read but once, or
/// again at once: chips that can leave it out of the first cache.
inline constexpr llvm::StringLiteral kStreamedAttrName = "dnn.streamed";

/// Name of the unit attribute of a module whose tensors may begin at any
/// element: point programs access them one element at a time.
inline constexpr llvm::StringLiteral kUnalignedAttrName = "dnn.unaligned";

/// Name of the i64 attribute of an argument of a gpu.func with the bytes that
/// the address must be a multiple of. Where there is none, the widest access of
/// the chip decides.
inline constexpr llvm::StringLiteral kAlignmentAttrName = "dnn.alignment";

} // namespace tessera::dnn

#endif // TESSERA_DIALECT_IR_POINTHINTS_H
