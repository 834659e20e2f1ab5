//===- MatrixInstruction.h - Table of multiply-accumulate rows -*- C++ -*-===//
//
// How the lanes of one wave hold the operands of a matrix instruction. The
// lowering asks the row and never the chip, so that a new instruction is a new
// row. The row "fma" makes a matrix instruction out of plain fused
// multiply-adds (or dot products of bytes): every chip has it.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_TARGET_MATRIXINSTRUCTION_H
#define TESSERA_COMPILER_TARGET_MATRIXINSTRUCTION_H

#include "runtime/Base/GpuTarget.h"

#include <optional>
#include <string_view>

namespace tessera {

/// What a row is made of.
enum class MatrixKind { Fma, Mfma, Wmma, Mma };

/// A number that each lane has: the sum of its digits, each
/// lane / divisor % modulus * factor. A modulus of 0 is none.
struct LaneMap {
  struct Digit {
    int divisor = 1;
    int modulus = 0;
    int factor = 0;
  };
  Digit digits[2];

  constexpr int at(int lane) const {
    int sum = 0;
    for (const Digit &digit : digits) {
      int value = lane / digit.divisor;
      sum += (digit.modulus ? value % digit.modulus : value) * digit.factor;
    }
    return sum;
  }
};

/// D[i, j] += sum over k of P[i, k] * Q[j, k], by one wave.
///
/// P: lane L holds row getRowOfP().at(L) and the `pParts` - 1 rows that follow
/// it `pStep` apart, and of each `kPerLane` neighbouring k; getChunkOfLane()
/// numbers the lanes that hold different k of a row (all hold the same on
/// gfx11). Q: the same. D: lane L holds, of the columns j that are its rows of
/// Q, the rows
/// i = (r / accVector) * accStride + getFirstResult().at(L) + r % accVector
/// for register r of the column; those of the first column come first.
struct MatrixInstruction {
  /// Shape and kind; the reduction follows from the chip and the type.
  std::string_view name;
  MatrixKind kind;
  /// Rows of P and columns of D (rows of Q) of one instruction.
  int rows;
  int columns;
  /// Reduction of one instruction, and how much of it one lane holds.
  int k;
  int kPerLane;
  /// Accumulators a lane: f32, i32 of bytes, f64 of doubles.
  int accRegs;
  int accVector;
  int accStride;
  /// Rows of each factor that a lane holds, and how far apart they lie.
  int pParts = 1;
  int pStep = 0;
  int qParts = 1;
  int qStep = 0;

  bool isFma() const { return kind == MatrixKind::Fma; }
  /// Lanes that hold different k of one row.
  int getLaneChunks() const { return k / kPerLane; }
  /// Accumulators of one column of D.
  int getColumnRegs() const { return accRegs / qParts; }

  LaneMap getRowOfP() const;
  LaneMap getRowOfQ() const;
  LaneMap getChunkOfLane() const;
  LaneMap getFirstResult() const;

  /// Chips of mma.sync may read matrices of 8 rows by 16 bytes, of which each
  /// lane then has four bytes of a row. One read is four of them. Of P it holds
  /// two of a lane's parts, of Q both, and of each two chunks. Lane L says
  /// where row L % 8 of matrix L / 8 lies.
  bool readsMatrices() const { return kind == MatrixKind::Mma; }
  static constexpr int kMatrixChunks = 2;
  int getMatrixReadsOfP() const { return pParts / 2; }
  LaneMap getMatrixRowOfP() const;
  LaneMap getMatrixRowOfQ() const;
  LaneMap getMatrixChunkOfP() const;
  LaneMap getMatrixChunkOfQ() const;
};

/// The factor types that a row may be made for.
enum class FactorType { F16, BF16, F32, F64, I8 };

/// The row `name` for factors of `type` on `target`, if it has one.
std::optional<MatrixInstruction> findMatrixInstruction(const GpuTarget &target,
                                                       std::string_view name,
                                                       FactorType type);

} // namespace tessera

#endif // TESSERA_COMPILER_TARGET_MATRIXINSTRUCTION_H
