//===- Chip.h - What the emulator must know of a chip ----------*- C++ -*-===//
//
// runtime/Base/GpuTarget.h has the facts that code generation asks for. What
// is here only matters to somebody who has to *be* the chip: how a wave's
// registers look when it starts, and what the device says of itself.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_CHIP_H
#define TESSERA_RUNTIME_EMULATOR_CHIP_H

#include "runtime/Base/GpuTarget.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::emulator {

/// Where the registers are that v_accvgpr_read and _write reach.
enum class AccumulationFile {
  None,
  Separate, ///< A file of its own, as large as the kernel's other one.
  Unified,  ///< The end of the kernel's registers, from ACCUM_OFFSET on.
};

struct Chip {
  std::string_view name;
  std::string_view archName;      ///< As hipDeviceProp_t::gcnArchName.
  std::string_view marketingName; ///< As hipDeviceProp_t::name.
  uint8_t elfMachine;             ///< Low byte of ELF e_flags.
  uint8_t generation;             ///< 9, 10, 11, 12: the x of gfxNxx.
  uint32_t computeUnits;
  uint32_t clockMhz;
  /// v0 holds x | y << 10 | z << 20; otherwise v0, v1, v2.
  bool packedWorkitemIds;
  /// FLAT_SCRATCH is preset and scratch_* is used; otherwise the kernel gets a
  /// buffer descriptor and adds the wave's offset itself.
  bool architectedFlatScratch;
  /// Workgroup ids are in TTMP7/9 instead of SGPRs.
  bool workgroupIdsInTtmp;
  /// MFMA with 16-bit operands flushes denormals (MI200).
  bool matrixFlushesDenormals;
  AccumulationFile accumulation = AccumulationFile::None;

  bool isGfx9() const { return generation == 9; }
  /// VGPRs are granted in multiples of this (LLVM's AMDGPUBaseInfo).
  unsigned getVgprGranule(unsigned lanes) const {
    if (isGfx9())
      return accumulation == AccumulationFile::Unified ? 8 : 4;
    return lanes == 32 ? 8 : 4;
  }
  /// 8-bit floats without infinity and -0; all other chips follow OCP.
  bool hasFnuzFloat8() const { return name == "gfx942"; }
  const GpuTarget &getTarget() const { return *findTarget(name); }
};

/// The row for `name` ("gfx942", also with ":sramecc+:xnack-"), or nullptr.
const Chip *findChip(std::string_view name);
/// "gfx906, gfx908, ...": for messages.
std::string getChipNames();
/// The row for the low byte of an ELF header's e_flags, or nullptr.
const Chip *findChipByElfMachine(uint32_t elfFlags);

/// High halves of the flat addresses that mean LDS and scratch. Any value that
/// no host pointer has will do: kernels ask for them (src_shared_base).
inline constexpr uint32_t kSharedAperture = 0x00010000;
inline constexpr uint32_t kPrivateAperture = 0x00020000;

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_CHIP_H
