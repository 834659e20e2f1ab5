//===- Chip.h - What the emulator must know of a chip ----------*- C++ -*--===//
//
// runtime/Base/GpuTarget.h has the facts that code generation needs. This has
// what only an emulator needs: how a wave's registers look when it starts, and
// what the device reports about itself.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_CHIP_H
#define TESSERA_RUNTIME_EMULATOR_CHIP_H

#include "runtime/Base/GpuTarget.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::emulator {

/// The registers that v_accvgpr_read and _write access.
enum class AccumulationFile {
  None,
  Separate, ///< A separate file, as large as the VGPRs of the kernel.
  Unified,  ///< The end of the kernel's VGPRs, from ACCUM_OFFSET on.
};

struct Chip {
  std::string_view name;
  std::string_view archName;      ///< hipDeviceProp_t::gcnArchName
  std::string_view marketingName; ///< hipDeviceProp_t::name
  uint8_t elfMachine;             ///< The low byte of the ELF header's e_flags.
  uint8_t generation;             ///< The x of gfxNxx: 9, 10, 11 or 12.
  uint32_t computeUnits;
  uint32_t clockMhz;
  /// If true, v0 holds x | y << 10 | z << 20; otherwise v0, v1 and v2 hold x, y
  /// and z.
  bool packedWorkitemIds;
  /// If true, FLAT_SCRATCH is preset and kernels use scratch_*; otherwise the
  /// kernel gets a buffer descriptor and adds the wave's offset itself.
  bool architectedFlatScratch;
  /// If true, workgroup ids are in TTMP7 and TTMP9 instead of SGPRs.
  bool workgroupIdsInTtmp;
  /// MFMA with 16-bit operands flushes denormals (MI200).
  bool matrixFlushesDenormals;
  AccumulationFile accumulation = AccumulationFile::None;

  bool isGfx9() const { return generation == 9; }
  /// VGPRs are allocated in multiples of this (LLVM's AMDGPUBaseInfo).
  unsigned getVgprGranule(unsigned lanes) const {
    if (isGfx9())
      return accumulation == AccumulationFile::Unified ? 8 : 4;
    return lanes == 32 ? 8 : 4;
  }
  /// Whether the 8-bit floats are FNUZ, without infinity and -0. All other
  /// chips follow OCP.
  bool hasFnuzFloat8() const { return name == "gfx942"; }
  const GpuTarget &getTarget() const { return *findTarget(name); }
};

/// Returns the row for `name` ("gfx942", also with ":sramecc+:xnack-"), or
/// nullptr.
const Chip *findChip(std::string_view name);
/// Returns "gfx906, gfx908, ..." for messages.
std::string getChipNames();
/// Returns the row for the low byte of an ELF header's e_flags, or nullptr.
const Chip *findChipByElfMachine(uint32_t elfFlags);

/// High halves of the flat addresses of LDS and scratch. They may be any values
/// that no host pointer has, because kernels read them from src_shared_base and
/// src_private_base.
inline constexpr uint32_t kSharedAperture = 0x00010000;
inline constexpr uint32_t kPrivateAperture = 0x00020000;

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_CHIP_H
