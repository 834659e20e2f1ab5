//===- WaveProduct.h - Weights times states by matrix units ----*- C++ -*--===//
//
// One wave multiplies blocks of 16 units' weights, which its lanes keep in
// registers, by the states of some sequences. The rows of a matrix instruction
// can be any units: they are chosen so that the units of which a lane has sums
// are neighbours, which it loads and stores at once. So can the elements of the
// reduction, of which a lane takes neighbours of both operands.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_RECURRENT_WAVEPRODUCT_H
#define TESSERA_COMPILER_ALGORITHMS_RECURRENT_WAVEPRODUCT_H

#include "compiler/Algorithms/Common/PointBuilder.h"
#include "compiler/Target/MatrixInstruction.h"

namespace tessera {

/// What the lanes of a wave hold of D[unit, sequence] += W[unit, k] * H[k,
/// sequence]. Plain data.
struct WaveShape {
  MatrixInstruction row; ///< Of the table; `mma.sync` is a quarter of it.

  bool isMma() const { return row.kind == MatrixKind::Mma; }
  static constexpr int64_t kUnits = 16; ///< Of one instruction.
  /// Sequences of one instruction.
  int64_t getSequences() const { return isMma() ? 8 : 16; }
  int64_t getK() const { return row.k; }
  /// Neighbours along the reduction that a lane has of one unit or sequence.
  int64_t getKPerLane() const { return row.kPerLane; }
  /// Units of an instruction and sequences of which a lane has the sums.
  int64_t getLaneUnits() const { return isMma() ? 2 : row.accRegs; }
  int64_t getLaneSequences() const { return isMma() ? 2 : 1; }
  /// Units whose weights a lane holds.
  int64_t getHeldUnits() const { return isMma() ? 2 : 1; }
  /// Registers of 32 bits of a lane's weights of 16 bits for one instruction.
  int64_t getWeightRegisters() const {
    return getHeldUnits() * getKPerLane() / 2;
  }
};

/// The shape for elements of `type` on `target`; nothing without a matrix unit
/// for it.
std::optional<WaveShape> findWaveShape(const GpuTarget &target, DataType type);

/// The part of one lane. Each block of units has the sums of getLaneUnits()
/// neighbours of all units of the lane, which are neighbours, too.
class WaveLane {
public:
  using Value = mlir::Value;
  using Values = PointBuilder::Values;

  /// `blocks` of 16 units are the wave's.
  WaveLane(PointBuilder &p, const WaveShape &shape, Value lane, int64_t blocks);

  /// The number of neighbouring units of which the lane has sums, the first of
  /// them, and its first sequence, each from the wave's first.
  int64_t countUnits() const { return blocks * shape.getLaneUnits(); }
  Value getFirstUnit() const { return firstUnit; }
  Value getFirstSequence() const { return firstSequence; }

  /// Unit `i` of those of block `block` whose weights the lane holds.
  Value getHeldUnit(int64_t block, int64_t i) const;
  /// The sequence whose state it holds, and its first element of a reduction.
  Value getHeldSequence() const { return heldSequence; }
  Value getFirstK() const { return firstK; }

  Value makeZero(mlir::Type f32) const;
  /// `sums` plus the products of the weights of getHeldUnits() units, blocks of
  /// getKPerLane() elements, with a block of the state.
  Value multiply(mlir::ArrayRef<Value> weights, Value state, Value sums) const;
  /// The sum of unit `unit` of the block and sequence `sequence`.
  Value getSum(Value sums, int64_t unit, int64_t sequence) const;

private:
  PointBuilder &p;
  WaveShape shape;
  int64_t blocks;
  Value firstUnit, firstSequence, heldSequence, firstK;
  /// Of the first block and the first of those that the lane holds.
  Value heldUnit;
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_RECURRENT_WAVEPRODUCT_H
