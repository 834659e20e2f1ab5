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
enum class MatrixKind { Fma, Mfma, Wmma };

/// D[i, j] += sum over k of P[i, k] * Q[j, k], by one wave.
///
/// P: lane L holds row L / getPDivisor() % rows, and `kPerLane` neighbouring k;
/// the lanes beyond the rows hold the next k, or the same where there are no
/// more (gfx11). D: lane L holds, of column j = L % columns, the rows
/// i = (r / accVector) * accStride + (L / columns) * accVector + r % accVector
/// for register r.
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

  bool isFma() const { return kind == MatrixKind::Fma; }
  /// Row of P, as (L / pDivisor) % rows; of Q, as L % columns. Matrix units
  /// index both by L % rows; the fma row spreads a grid of lanes.
  int getPDivisor() const { return isFma() ? columns : 1; }
  /// Lanes that hold different k of one row.
  int getLaneChunks() const { return k / kPerLane; }
};

/// The factor types that a row may be made for.
enum class FactorType { F16, BF16, F32, F64, I8 };

/// The row `name` for factors of `type` on `target`, if it has one.
std::optional<MatrixInstruction> findMatrixInstruction(const GpuTarget &target,
                                                       std::string_view name,
                                                       FactorType type);

} // namespace tessera

#endif // TESSERA_COMPILER_TARGET_MATRIXINSTRUCTION_H
