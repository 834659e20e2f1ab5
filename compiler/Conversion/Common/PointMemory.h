//===- PointMemory.h - A tensor that point programs access -----*- C++ -*--===//
//
// Where a coordinate is outside, checked memory (DeviceOps.h) gives zero and
// ignores stores at the price of one select. Its offsets reach 2 GiB; a larger
// tensor is accessed by 64-bit addresses behind a branch.
//
// On a chip with predicates every tensor is accessed by addresses: the check of
// the coordinates is the predicate, and what the accesses of a thread have in
// common is one address with the rest in the instructions.
//
// A block is moved by accesses as wide as there are, which ask for an alignment
// of the tensor; of a tensor that may begin anywhere, by one for each element.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COMMON_POINTMEMORY_H
#define TESSERA_COMPILER_CONVERSION_COMMON_POINTMEMORY_H

#include "compiler/Conversion/Common/Emitter.h"
#include "compiler/Conversion/Common/LinearForm.h"
#include "compiler/Conversion/Common/SizeArguments.h"
#include "dialect/IR/Dnn.h"

namespace tessera {

/// A tensor argument of a kernel. Lives while the kernel is lowered.
class PointMemory {
public:
  /// Emits the descriptor, if there is to be one, of `argument` of the function
  /// whose sizes are `sizes`. `isConstant`: nothing stores to it while the
  /// kernel runs. `isEarly`: the kernel waits for those who may still store to
  /// it. `isAligned`: it does not begin anywhere.
  PointMemory(Emitter &e, mlir::BlockArgument argument, mlir::Value pointer,
              SizeArguments &sizes, bool isConstant, bool isEarly,
              bool isAligned);

  /// Replace the op by accesses, emitted at the builder's place.
  void lower(Emitter &e, dnn::PointLoadOp load, const KnownRanges &known);
  void lower(Emitter &e, dnn::PointStoreOp store, const KnownRanges &known);

  /// What the accesses so far ask of the tensor's address, in bytes.
  int64_t getAlignment() const { return alignment; }

private:
  /// Where an access goes.
  struct Place {
    mlir::Value address; ///< Byte offset in the descriptor, or a pointer.
    mlir::Value valid;   ///< Null if always inside.
    bool usesDescriptor;
  };
  template <typename OpT>
  Place makePlace(Emitter &e, OpT op, const KnownRanges &known) const;
  mlir::Value makeOffset(Emitter &e, const LinearForm &form, mlir::Value valid,
                         const KnownRanges &known) const;
  mlir::Value makePointer(Emitter &e, const LinearForm &form,
                          const KnownRanges &known) const;
  mlir::Value makeWideOffset(Emitter &e, const LinearForm &form) const;
  SizeExpr getSpan() const;
  void addOffset(Emitter &e, LinearForm &form, mlir::Value coordinate,
                 size_t dim) const;
  int64_t takeAlignment(Emitter &e, mlir::Type type);

  mlir::MemRefType type;
  int64_t firstElement = 0;
  int64_t elementBytes;
  int64_t accessBytes; ///< Of the widest access.
  int64_t alignment = 1;
  SizeArguments *sizes;
  llvm::SmallVector<SizeExpr> lengths;
  llvm::SmallVector<SizeExpr> strides; ///< In elements.
  mlir::Value pointer;
  CheckedMemory descriptor; ///< Null: too large for one, or not wanted.
  bool isSmall;             ///< Offsets have 31 bits.
  bool isConstant, isEarly;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COMMON_POINTMEMORY_H
