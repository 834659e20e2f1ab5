//===- PointHints.h - Attributes that tune point programs ------*- C++ -*--===//
//
// These attributes do not change what a kernel computes, but how a chip runs
// it, and which alignment it requires of tensors.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_POINTHINTS_H
#define TESSERA_DIALECT_IR_POINTHINTS_H

#include "llvm/ADT/StringRef.h"

namespace tessera::dnn {

/// The i64 attribute of a dnn.for_each_point with the number of workgroups that
/// should be resident on a compute unit. It limits the registers of a thread,
/// on chips whose code generator takes such a limit.
inline constexpr llvm::StringLiteral kResidentAttrName = "dnn.resident";

/// The unit attribute of a load of data that is read only once, or again soon.
/// A dnn.point_load bypasses L1, on chips that can; the data of a dnn.box_load
/// is evicted first from L2.
inline constexpr llvm::StringLiteral kStreamedAttrName = "dnn.streamed";

/// The unit attribute of a module whose tensors may be misaligned: point
/// programs access them one element at a time.
inline constexpr llvm::StringLiteral kUnalignedAttrName = "dnn.unaligned";

/// The i64 attribute of an argument of a gpu.func with the alignment in bytes
/// that its address must have. Without it, the address must be aligned to the
/// chip's widest access.
inline constexpr llvm::StringLiteral kAlignmentAttrName = "dnn.alignment";

} // namespace tessera::dnn

#endif // TESSERA_DIALECT_IR_POINTHINTS_H
