//===- StepGeometry.h - Sizes of a launch of all steps ---------*- C++ -*--===//

#ifndef TESSERA_COMPILER_ALGORITHMS_RECURRENT_STEPGEOMETRY_H
#define TESSERA_COMPILER_ALGORITHMS_RECURRENT_STEPGEOMETRY_H

#include "compiler/Algorithms/Recurrent/WaveProduct.h"
#include "runtime/Base/RowWiseProblem.h"
#include "runtime/Base/TileConfig.h"

#include "llvm/Support/MathExtras.h"

namespace tessera {

/// How workgroups make all steps of some sequences: "steps-u2", "steps-u1c4".
/// Plain data.
struct StepTile {
  int units = 1;   ///< u: of a lane, all gates of each.
  int cluster = 1; ///< c: workgroups that share out the units.

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
  int64_t getBlocks() const { return gates * tile.units / shape.getLaneRows(); }
  int64_t getWaveUnits() const { return tile.units * shape.getLaneGroups(); }
  int64_t getWaves() const {
    return llvm::divideCeil(llvm::divideCeil(units, tile.cluster),
                            getWaveUnits());
  }
  /// Units of a workgroup and of a cluster, some of which may not exist.
  int64_t getGroupUnits() const { return getWaves() * getWaveUnits(); }
  int64_t getPaddedUnits() const { return getGroupUnits() * tile.cluster; }
  /// Workgroups.
  int64_t getGroups() const {
    return llvm::divideCeil(sequences, shape.getSequences()) * tile.cluster;
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

  /// Sets `inMemory`. NotSupported if the tile makes no sense for the sizes, or
  /// if a workgroup has too few registers and too little memory; `others` are
  /// tensors of a step that have an element for each unit.
  Status fit(const GpuTarget &target, int64_t others);
  /// Clocks of all steps; comparable between the tiles of one problem.
  double estimate(const GpuTarget &target) const;

private:
  int64_t countRegisters(int64_t others) const;
  int64_t countSharedBytes(const GpuTarget &target) const;
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_RECURRENT_STEPGEOMETRY_H
