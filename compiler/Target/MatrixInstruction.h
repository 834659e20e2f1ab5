//===- MatrixInstruction.h - Table of matrix instructions ------*- C++ -*--===//
//
// The table says how the lanes of one wave hold the operands and accumulators
// of a matrix instruction. The lowering depends on this table and never on the
// chip, so that a new instruction is a new entry. The instruction "fma" is made
// of plain fused multiply-adds (or dot products of bytes), which every chip
// has.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_TARGET_MATRIXINSTRUCTION_H
#define TESSERA_COMPILER_TARGET_MATRIXINSTRUCTION_H

#include "runtime/Base/GpuTarget.h"
#include "runtime/Base/ProblemTypes.h"

#include <optional>
#include <string_view>

namespace tessera {

/// The kind of instruction that an entry stands for.
enum class MatrixKind { Fma, Mfma, Wmma, Mma };

/// A number for each lane: the sum over digits of
/// lane / divisor % modulus * factor. With a modulus of 0 there is no
/// remainder.
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
/// P: lane L holds row getRowOfP().at(L) and the next `pRows` - 1 rows at a
/// distance of `pStep`, and `kPerLane` neighbouring k of each. getChunkOfLane()
/// numbers the lanes that hold different k of a row (on gfx11 all hold the
/// same). Q: the same. D: lane L holds columns j, those that are its rows of Q,
/// and of each column in register r the row
/// i = (r / accVector) * accStride + getFirstResult().at(L) + r % accVector.
/// The registers of the first column come first.
struct MatrixInstruction {
  /// Shape and kind as a tile's text has them; the length of the reduction
  /// follows from the chip and the type.
  std::string_view name;
  MatrixKind kind;
  /// Rows of P, and columns of D, which are rows of Q, of one instruction.
  int rows;
  int columns;
  /// The length of the reduction of one instruction, and how much of it a lane
  /// holds.
  int k;
  int kPerLane;
  /// Accumulators of a lane: f32, or i32 for bytes, or f64 for f64.
  int accRegs;
  int accVector;
  int accStride;
  /// Rows of each operand that a lane holds, and their distance.
  int pRows = 1;
  int pStep = 0;
  int qRows = 1;
  int qStep = 0;
  /// Whether elements are f64, of which a word of ldmatrix is half.
  bool isDouble = false;

  bool isFma() const { return kind == MatrixKind::Fma; }
  /// The number of lanes that hold different k of one row.
  int getLaneChunks() const { return k / kPerLane; }
  /// Accumulators of a lane in one column of D.
  int getColumnRegs() const { return accRegs / qRows; }

  LaneMap getRowOfP() const;
  LaneMap getRowOfQ() const;
  LaneMap getChunkOfLane() const;
  LaneMap getFirstResult() const;

  /// Whether the operands may be read by ldmatrix. It reads four matrices of 8
  /// rows by 16 bytes, of which each lane gets four bytes of a row; lane L
  /// supplies the address of row L % 8 of matrix L / 8. One read has two of a
  /// lane's rows of P, or both of its rows of Q, and two chunks of each.
  bool readsMatrices() const { return kind == MatrixKind::Mma && !isDouble; }
  static constexpr int kMatrixChunks = 2;
  int getMatrixReadsOfP() const { return pRows / 2; }
  LaneMap getMatrixRowOfP() const;
  LaneMap getMatrixRowOfQ() const;
  LaneMap getMatrixChunkOfP() const;
  LaneMap getMatrixChunkOfQ() const;
};

/// Returns the instruction `name` for operands of `type` on `target`, if the
/// chip has it.
std::optional<MatrixInstruction> findMatrixInstruction(const GpuTarget &target,
                                                       std::string_view name,
                                                       DataType type);

} // namespace tessera

#endif // TESSERA_COMPILER_TARGET_MATRIXINSTRUCTION_H
