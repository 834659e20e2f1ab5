//===- WaveProduct.h - Weights times states of a wave ----------*- C++ -*--===//
//
// One wave multiplies the weights of some units by the states of some
// sequences, by matrix instructions or by fused multiply-adds. The rows of a
// matrix instruction can be any gates of any units: they are chosen so that a
// lane has the accumulators of all gates of its units, and that these are
// neighbours, which it loads and stores at once. So can the elements of the
// reduction, of which a lane takes neighbours of both operands.
//
// By fused multiply-adds, neighbouring lanes share out the reduction of a unit:
// each has all gates and all sequences, in f32, and in the end they add up
// their accumulators, after which each has some of the sequences.
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
  /// By fused multiply-adds: lanes that share out a reduction, groups of such
  /// lanes, and sequences.
  int64_t lanes = 1, groups = 1, sequences = 1;

  bool isMma() const { return row.kind == MatrixKind::Mma; }
  bool isFma() const { return row.isFma(); }
  static constexpr int64_t kRows = 16; ///< Gates of units of an instruction.
  /// Sequences of one instruction.
  int64_t getSequences() const {
    return isFma() ? sequences : isMma() ? 8 : 16;
  }
  /// Of them, those whose states a lane multiplies.
  int64_t getHeldSequences() const { return isFma() ? sequences : 1; }
  int64_t getK() const { return isFma() ? lanes * row.kPerLane : row.k; }
  /// Neighbours along the reduction that a lane has of one unit or sequence.
  int64_t getKPerLane() const { return row.kPerLane; }
  /// Rows of an instruction and sequences of which a lane has the accumulators.
  int64_t getLaneRows() const { return isMma() ? 2 : row.accRegs; }
  int64_t getLaneSequences() const {
    return isFma() ? std::max<int64_t>(sequences / lanes, 1) : isMma() ? 2 : 1;
  }
  /// Lanes that have the accumulators of one sequence.
  int64_t getLaneGroups() const {
    return isFma() ? groups : kRows / getLaneRows();
  }
  /// Lanes that have the same accumulators, of which only the first one keeps
  /// them.
  int64_t getCopies() const {
    return isFma() ? std::max<int64_t>(lanes / sequences, 1) : 1;
  }
  /// Rows whose weights a lane holds.
  int64_t getHeldRows() const { return isMma() ? 2 : 1; }
  /// Elements of a lane's weights for one instruction.
  int64_t getHeldElements() const { return getHeldRows() * getKPerLane(); }
};

/// The shape for elements of `type` on `target`: by fused multiply-adds if
/// there is no matrix unit for it, whose lanes makeFmaShape() gives. Nothing
/// for types that are no floats of up to 32 bits.
std::optional<WaveShape> findWaveShape(const GpuTarget &target, DataType type);
/// `lanes` share out a reduction, and have `sequences`.
WaveShape makeFmaShape(int64_t waveSize, int64_t lanes, int64_t sequences);

/// A unit and a gate whose weights a lane holds.
struct HeldRow {
  int64_t gate;
  mlir::Value unit; ///< From the wave's first.
};

/// The segment of one lane: all gates of some neighbouring units. Its rows of
/// all instructions are the first gate of these, then the second one.
class WaveLane {
public:
  using Value = mlir::Value;
  using Values = PointBuilder::Values;

  WaveLane(PointBuilder &p, const WaveShape &shape, Value lane, int64_t gates,
           int64_t units);

  /// The number of its units, the first of them, and its first sequence, each
  /// from the wave's first.
  int64_t countUnits() const { return units; }
  Value getFirstUnit() const { return firstUnit; }
  Value getFirstSequence() const { return firstSequence; }

  /// The instructions for one step along the reduction.
  int64_t countBlocks() const { return gates * units / shape.getLaneRows(); }
  /// The `i`th row of block `block` whose weights the lane holds.
  HeldRow getHeldRow(int64_t block, int64_t i) const;
  /// The sequence whose state it holds, and its first element of a reduction.
  Value getHeldSequence() const { return heldSequence; }
  /// Whether the lane keeps its accumulators; null if all do.
  Value getKeeps() const { return keeps; }
  Value getFirstK() const { return firstK; }

  Value makeZero(mlir::Type f32) const;
  /// `accumulators` plus the products of the weights of the held rows, blocks
  /// of getKPerLane() elements, with a block of the state.
  Value multiply(mlir::ArrayRef<Value> weights, Value state,
                 Value accumulators) const;
  /// What getSum() takes, of the accumulators of all blocks, those of the first
  /// held sequence first.
  Values finish(Values accumulators) const;
  /// The sum of a gate of a unit and a sequence, of the accumulators of all
  /// blocks.
  Value getSum(mlir::ArrayRef<Value> accumulators, int64_t gate, int64_t unit,
               int64_t sequence) const;

private:
  PointBuilder &p;
  WaveShape shape;
  int64_t gates, units;
  Value firstUnit, firstSequence, heldSequence, firstK, keeps;
  Value share; ///< Number of the lane among those of a reduction.
  /// The unit of its first held row, if that is of the first ones of a lane.
  Value heldUnit;
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_RECURRENT_WAVEPRODUCT_H
