//===- Wgmma.h - Products that read shared memory --------------*- C++ -*--===//
//
// wgmma multiplies 64 rows by up to 256 columns. Both operands are read from
// shared memory through descriptors, the sums are in the registers of a
// warpgroup. Its rows are those of the tile, or, exchanged, its columns.
// Source: PTX ISA 8.6, "Asynchronous warpgroup level matrix instructions"
// (matrix descriptor, register fragments).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_WGMMA_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_WGMMA_H

#include "compiler/Conversion/Common/Emitter.h"
#include "compiler/Conversion/Hopper/SplitOperands.h"

namespace tessera {

class Wgmma {
public:
  /// How an operand is in shared memory: TmaOperand.h.
  struct Operand {
    bool isTransposed;
    /// If it is, the bytes that lie together, 64 elements or 32 of what is no
    /// reduction; and from these to the next: another block, or another tap's.
    int64_t rowBytes, blockBytes;
  };
  /// Reduction of one instruction, of any type.
  static constexpr int64_t kReductionBytes = 32;
  /// `base` is the aligned begin of shared memory as an i32; `firstRow` the
  /// consumer's first row in the tile.
  Wgmma(Emitter &e, const HopperShape &shape, mlir::Type element, Operand a,
        Operand b, mlir::Value base, mlir::Value firstRow);

  /// A struct of half as many sums as an instruction has columns.
  mlir::Type getAccType() const { return sumType; }
  /// Sums without a value: the first step ignores them. (Zeros in registers
  /// would be moved behind the fence, where ptxas serialises the product.)
  llvm::SmallVector<mlir::Value> makeSums();

  /// Where a step's operands are: bytes behind the first buffer of each. Rows
  /// may begin anywhere, since the swizzle follows the address.
  struct Place {
    mlir::Value a, b;
    /// If not empty, where the share of each instruction's reduction is of B,
    llvm::SmallVector<mlir::Value> sharesB = {};
    /// and of A: of all blocks of rows of the first one, then of the next.
    llvm::SmallVector<mlir::Value> sharesA = {};
  };
  /// Instructions that share the reduction of a step of 128 bytes.
  static constexpr int64_t kShares = kRowBytes / kReductionBytes;
  /// Some of the instructions of a step.
  struct Shares {
    int64_t first, count;
  };
  /// Issues the products of one step, or of `shares` of it, as one group.
  llvm::SmallVector<mlir::Value> multiply(const Place &place,
                                          llvm::ArrayRef<mlir::Value> sums,
                                          bool isFirst,
                                          std::optional<Shares> shares = {});
  /// The same with A in registers, as PixelFragments loads them.
  llvm::SmallVector<mlir::Value>
  multiplyFragments(mlir::Value stage, llvm::ArrayRef<mlir::Value> fragments,
                    llvm::ArrayRef<mlir::Value> sums, bool isFirst);
  /// The same of f32, of which `fragments` are A's terms: of the first half of
  /// the reduction all blocks, then of the second. Small products come first,
  /// as each sum is rounded to what it has grown to.
  llvm::SmallVector<mlir::Value>
  multiplyTerms(mlir::Value stage,
                llvm::ArrayRef<llvm::SmallVector<SplitPair>> fragments,
                llvm::ArrayRef<mlir::Value> sums, bool isFirst);
  /// Waits until at most `groups` groups run.
  void wait(int64_t groups);

private:
  mlir::Value multiplyFragment(llvm::ArrayRef<mlir::Value> a, mlir::Value b,
                               mlir::Value sums, bool isFirst);

  Emitter &e;
  const HopperShape &shape;
  mlir::Type element;
  Operand operandA, operandB;
  mlir::Type sumType;
  mlir::Value descriptorA, descriptorB; ///< Of the first buffers.
};

/// Consumers that issue products in turns: named barrier 1 + n belongs to
/// consumer n. The last one passes the first turn, before it takes any.
void emitTakeTurn(Emitter &e, mlir::Value consumer);
void emitPassTurn(Emitter &e, mlir::Value consumer, int64_t consumers);

/// lhs + rhs, each the accumulators of one product.
mlir::Value addAccumulators(Emitter &e, mlir::Value lhs, mlir::Value rhs);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_WGMMA_H
