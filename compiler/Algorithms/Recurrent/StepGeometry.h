//===- StepGeometry.h - Sizes of a launch of all steps ---------*- C++ -*--===//

#ifndef TESSERA_COMPILER_ALGORITHMS_RECURRENT_STEPGEOMETRY_H
#define TESSERA_COMPILER_ALGORITHMS_RECURRENT_STEPGEOMETRY_H

#include "compiler/Algorithms/Recurrent/WaveProduct.h"
#include "runtime/Base/RowWiseProblem.h"
#include "runtime/Base/TileConfig.h"

#include "llvm/Support/MathExtras.h"

namespace tessera {

/// How a workgroup makes all steps of some sequences: "steps-b1". Plain data.
struct StepTile {
  int blocks = 1; ///< Blocks of 16 units of a wave.

  TileConfig toConfig() const;
};

/// Reads what StepTile::toConfig() writes.
ErrorOr<StepTile> parseStepTile(const TileConfig &config);

/// The space of a problem with steps, and how waves share it out.
struct StepGeometry {
  int64_t steps, sequences, units;
  int64_t elements; ///< Of the state that a unit reduces.
  int64_t weights;  ///< Tensors of weights.
  WaveShape shape;
  StepTile tile;

  /// Parts of the state: each has an element for each unit.
  int64_t getParts() const { return elements / units; }
  /// A part of the state as whole instructions take it.
  int64_t getPaddedPart() const { return llvm::alignTo(units, shape.getK()); }
  int64_t getInstructions() const {
    return getParts() * getPaddedPart() / shape.getK();
  }
  int64_t getWaveUnits() const { return WaveShape::kUnits * tile.blocks; }
  int64_t getWaves() const { return llvm::divideCeil(units, getWaveUnits()); }
  /// Units of all waves, some of which may not exist.
  int64_t getPaddedUnits() const { return getWaves() * getWaveUnits(); }
  int64_t getGroups() const {
    return llvm::divideCeil(sequences, shape.getSequences());
  }
  /// Elements between parts, and between sequences, of the state in shared
  /// memory.
  int64_t getPartPitch() const {
    return std::max(getPaddedPart(), getPaddedUnits());
  }
  int64_t getPitch() const;
  int64_t getSharedBytes() const {
    constexpr int64_t kBuffers = 2, kElementBytes = 2;
    return kBuffers * shape.getSequences() * getPitch() * kElementBytes;
  }

  /// Registers of a lane that hold weights.
  int64_t getWeightRegisters() const {
    return weights * tile.blocks * getInstructions() *
           shape.getWeightRegisters();
  }
  /// Ok, or NotSupported if a workgroup has too few registers, or too little
  /// shared memory. `others` are registers of one sum for what a step loads.
  Status checkFit(const GpuTarget &target, int64_t others) const;
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_RECURRENT_STEPGEOMETRY_H
