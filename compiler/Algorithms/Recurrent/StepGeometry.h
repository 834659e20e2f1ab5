//===- StepGeometry.h - Sizes of a launch of all steps ---------*- C++ -*--===//

#ifndef TESSERA_COMPILER_ALGORITHMS_RECURRENT_STEPGEOMETRY_H
#define TESSERA_COMPILER_ALGORITHMS_RECURRENT_STEPGEOMETRY_H

#include "compiler/Algorithms/Recurrent/WaveProduct.h"
#include "runtime/Base/RowWiseProblem.h"
#include "runtime/Base/TileConfig.h"

#include "llvm/Support/MathExtras.h"

namespace tessera {

/// How workgroups make all steps of some sequences: "steps-u2", "steps-u1c4",
/// by fused multiply-adds "steps-u1l8s4"; or a single step, in which each has
/// some units: "steps-u1k8s2". Plain data.
struct StepTile {
  int units = 1;   ///< u: of a lane, all gates of each.
  int cluster = 1; ///< c: workgroups that share out the units.
  int splits = 0;  ///< k: waves that share out the reduction of one step, or 0.
  int lanes = 0;   ///< l: that share out the reduction of a unit, or 0.
  /// s: instructions that a wave has along the sequences; by fused
  /// multiply-adds, the sequences of a workgroup.
  int tiles = 1;

  bool isOneStep() const { return splits > 0; }
  bool isFma() const { return lanes > 0; }

  TileConfig toConfig() const;
};

/// Reads what StepTile::toConfig() writes.
ErrorOr<StepTile> parseStepTile(const TileConfig &config);

/// The space of a problem with steps, and how waves share it out.
struct StepGeometry {
  int64_t steps, sequences, units;
  int64_t elements; ///< Of the state that a unit reduces.
  int64_t gates;    ///< Tensors of weights.
  WaveShape shape;
  StepTile tile;
  /// Of the instructions along the reduction, the last ones, whose weights lie
  /// in shared memory, because the registers are full (fit()).
  int64_t inMemory = 0;
  /// Of one step, how many loads of weights, and of the state, come before the
  /// product that needs the first of them (fit()).
  int64_t weightsAhead = 0, stateAhead = 0;

  /// Takes a tile for waves of `waveSize`.
  void setTile(const StepTile &newTile, int64_t waveSize) {
    tile = newTile;
    if (shape.isFma() && tile.isFma())
      shape = makeFmaShape(waveSize, tile.lanes, tile.tiles);
  }

  /// Parts of the state: each has an element for each unit.
  int64_t getSegments() const { return elements / units; }
  /// A segment of the state as whole instructions take it.
  int64_t getPaddedSegment() const {
    return llvm::alignTo(units, shape.getK());
  }
  /// Instructions along the reduction, and for one step along it.
  int64_t getInstructions() const {
    return getSegments() * getPaddedSegment() / shape.getK();
  }
  /// Those of one wave.
  int64_t getWaveInstructions() const {
    return getInstructions() / std::max(tile.splits, 1);
  }
  /// Of them, those of one step whose elements a lane loads at once: both
  /// operands have the same elements in an instruction, which may be any, so
  /// that it takes neighbours for two where one has fewer than 16 bytes.
  int64_t getMerged() const {
    constexpr int64_t kElements = 8;
    return shape.getKPerLane() < kElements && getWaveInstructions() % 2 == 0
               ? 2
               : 1;
  }
  int64_t getBlocks() const { return gates * tile.units / shape.getLaneRows(); }
  int64_t getWaveUnits() const { return tile.units * shape.getLaneGroups(); }
  int64_t getWaves() const {
    return tile.isOneStep()
               ? tile.splits
               : llvm::divideCeil(llvm::divideCeil(units, tile.cluster),
                                  getWaveUnits());
  }
  /// Units of a workgroup, and of all that share out the units, some of which
  /// may not exist.
  int64_t getGroupUnits() const {
    return (tile.isOneStep() ? 1 : getWaves()) * getWaveUnits();
  }
  int64_t getUnitGroups() const {
    return tile.isOneStep() ? llvm::divideCeil(units, getWaveUnits())
                            : tile.cluster;
  }
  int64_t getPaddedUnits() const { return getGroupUnits() * getUnitGroups(); }
  /// Sequences of a workgroup.
  int64_t getGroupSequences() const {
    return shape.getSequences() * (tile.isOneStep() ? tile.tiles : 1);
  }
  /// Bytes of an element in registers and shared memory.
  int64_t getElementBytes() const { return shape.isFma() ? 4 : 2; }
  /// Workgroups.
  int64_t getGroups() const {
    return llvm::divideCeil(sequences, getGroupSequences()) * getUnitGroups();
  }
  /// Elements between segments, and between sequences, of the state in shared
  /// memory.
  int64_t getSegmentPitch() const {
    return std::max(getPaddedSegment(), getPaddedUnits());
  }
  int64_t getPitch() const;
  /// Elements of a wave's weights in shared memory.
  int64_t getMemoryElements(int64_t waveSize) const {
    return getBlocks() * inMemory * waveSize * shape.getHeldElements();
  }

  /// Accumulators that a lane has of all blocks and tiles, and the bytes of
  /// those of all waves of a workgroup.
  int64_t getLaneSums() const {
    return tile.tiles * getBlocks() * shape.getLaneRows() *
           shape.getLaneSequences();
  }
  int64_t getPartialBytes(int64_t waveSize) const {
    return tile.splits * waveSize * getLaneSums() * 4;
  }

  /// Sets `inMemory`, or what is ahead. NotSupported if the tile makes no sense
  /// for the sizes, or if a workgroup has too few registers and too little
  /// memory; `others` are tensors of a step that have an element for each unit.
  Status fit(const GpuTarget &target, int64_t others);
  /// Clocks of a step, without what comes once, and of one that is a launch or
  /// two of its own, without matrix units.
  double estimateStep(const GpuTarget &target) const;
  double estimateLaunches(const GpuTarget &target) const;
  /// Clocks of all steps; comparable between the tiles of one problem.
  double estimate(const GpuTarget &target) const;

private:
  Status fitOneStep(const GpuTarget &target, int64_t others);
  Status fitProduct() const;
  double estimateOneStep(const GpuTarget &target) const;
  int64_t countRegisters(int64_t others) const;
  int64_t countSharedBytes(const GpuTarget &target) const;
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_RECURRENT_STEPGEOMETRY_H
