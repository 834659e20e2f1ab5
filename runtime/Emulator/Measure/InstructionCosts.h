//===- InstructionCosts.h - What one instruction costs a chip --*- C++ -*--===//
//
// Everything that the text of an instruction tells: its class, how many
// multiplications it does, and for how many clocks it occupies which unit of a
// compute unit. ChipCosts.def has the numbers and their sources.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_MEASURE_INSTRUCTIONCOSTS_H
#define TESSERA_RUNTIME_EMULATOR_MEASURE_INSTRUCTIONCOSTS_H

#include <array>
#include <cstdint>
#include <string_view>

namespace tessera::emulator {

/// Finer than InstructionClass, which the decoder needs. Depends on the
/// mnemonic only.
enum class CostClass : uint8_t {
  Matrix, ///< MFMA, WMMA and their sparse forms
  Dot,
  Packed, ///< v_pk_*: two values a lane
  Transcendental,
  Double, ///< f64 arithmetic
  Dual,   ///< VOPD: two operations, one instruction
  Valu,
  Salu,
  Smem,
  VmemLoad,
  VmemStore,
  VmemAtomic,
  LdsRead,
  LdsWrite,
  LdsAtomic,
  Wait,
  Barrier,
  Branch,
  Other, ///< s_nop, hints, cache control, the end
};
inline constexpr unsigned kCostClasses = 19;
/// The name in the JSON output: "matrix", "vmem_load".
std::string_view getName(CostClass kind);

/// One row of ChipCosts.def, with the columns in the same order.
struct ChipCosts {
  std::string_view name;
  uint32_t waveSize, issueClocks;
  uint32_t vgprs, vgprGranule, maxWaves;
  uint32_t simds;
  uint32_t ldsBytes, ldsClockBytes, memoryClockBytes;
  uint32_t segmentBytes;
  uint32_t doubleFactor;

  /// The number of compute units of a unit of this table.
  uint32_t getComputeUnits() const { return waveSize == 64 ? 1 : 2; }
};
/// Lanes whose addresses the texture addresser of a compute unit takes in a
/// clock.
#define TESSERA_ADDRESS_LANES(lanes)                                           \
  inline constexpr uint32_t kAddressLanes = lanes;
#include "runtime/Emulator/Measure/ChipCosts.def"
/// `chip` must be one of the names in Chip.cpp.
const ChipCosts &getChipCosts(std::string_view chip);

struct InstructionCost {
  CostClass kind = CostClass::Other;
  /// Clocks until the next instruction of the same wave may issue.
  uint32_t issueClocks = 0;
  uint32_t valuClocks = 0;   ///< of the SIMD's vector unit
  uint32_t matrixClocks = 0; ///< of the SIMD's matrix unit
  uint32_t laneBytes = 0;    ///< Moved to or from memory or LDS by one lane.
  uint64_t macs = 0;         ///< Matrix instructions: for all lanes together.
  uint32_t macsPerLane = 0;  ///< fma and dot products: for each active lane.
};

/// `lanes` is the wave's size. A matrix instruction whose rate is not in the
/// table costs as much as an ordinary vector instruction.
InstructionCost getInstructionCost(const ChipCosts &chip, unsigned lanes,
                                   std::string_view text);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_MEASURE_INSTRUCTIONCOSTS_H
