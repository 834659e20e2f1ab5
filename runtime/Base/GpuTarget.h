//===- GpuTarget.h - The chips we generate code for ------------*- C++ -*--===//
//
// A chip is a row of one table. Code asks the row ("how wide is a wave?"),
// never the name, so a new chip is a new row and a test.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_GPUTARGET_H
#define TESSERA_RUNTIME_BASE_GPUTARGET_H

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

namespace tessera {

/// The vendor of the chip, which decides the instructions that the lowering
/// ends in, and the code generator for them.
enum class Vendor : uint8_t { Amd, Nvidia };

/// The matrix instructions of a chip. Each value is a set of rows in
/// compiler/Target/MatrixInstruction.cpp.
enum class MatrixUnit {
  None,
  MfmaCdna1, ///< gfx908: bf16 of half the reduction.
  MfmaCdna2, ///< gfx90a: bf16_1k, old mnemonics.
  MfmaCdna3, ///< gfx942.
  MfmaCdna4, ///< gfx950: K doubled.
  WmmaGfx11,
  WmmaGfx12,
  MmaSm80, ///< mma.sync with reductions of 32 bytes.
};

/// Dot products of four bytes that are added to an i32.
enum class IntegerDot {
  None,
  Signed, ///< v_dot4_i32_i8, dp4a.
  Mixed,  ///< v_dot4_i32_iu8 of gfx11 and later: a sign for each operand.
};

/// Known faults of a chip, or of the compiler for it, that code generation
/// must avoid. Each names its evidence in GpuTarget.cpp.
enum class Erratum : uint32_t {
  None = 0,
  /// Packed f32 FMA gives wrong results: code is compiled without it.
  NoPackedF32Fma = 1u << 0,
  /// Matrix instructions read f16 and bf16 subnormals as zero. The product of
  /// each such element is lost, which is at most 2^-14 of the other operand.
  FlushesHalfSubnormals = 1u << 1,
};

struct GpuTarget {
  std::string_view name; ///< LLVM's -mcpu spelling.
  MatrixUnit matrixUnit;
  IntegerDot byteDot;
  uint32_t waveSize;
  uint32_t ldsBytes; ///< Per workgroup.
  uint32_t ldsBanks;
  uint32_t maxWavesPerSimd;
  uint32_t simdsPerCu;
  uint32_t computeUnits; ///< Of the largest product with this chip.
  /// Word 3 of a raw buffer descriptor whose out-of-range loads return zero.
  /// Only AMD's chips have it.
  uint32_t bufferWord3;
  bool hasFloatAtomics; ///< Adds an f32 to memory in one instruction.
  uint32_t errata;      ///< Bits of Erratum.
  /// Bytes of the widest load of a lane that goes directly to LDS; 0 if there
  /// is none.
  uint32_t directLdsBytes = 0;
  Vendor vendor = Vendor::Amd;
  /// Shared memory that a workgroup gets only by asking for it at its launch; 0
  /// if none is used.
  uint32_t dynamicSharedBytes = 0;
  bool hasTma = false;   ///< A tensor memory accelerator, with mbarriers.
  bool hasWgmma = false; ///< Products of warpgroups that read shared memory.
  /// Products of one thread into a memory of the tensor cores (tcgen05), from
  /// operands that TMA brings. No algorithm uses either there yet: only
  /// programs of a workgroup that are written by hand do.
  bool hasTensorMemory = false;
  /// Whether a launch can begin before the one in front of it has ended, and
  /// its kernel waits by itself. All later chips of NVIDIA can do this; it is
  /// true only for those on which it was measured.
  bool hasDependentLaunches = false;

  /// The most shared memory that a workgroup can have.
  uint32_t getMaxSharedBytes() const {
    return std::max(ldsBytes, dynamicSharedBytes);
  }

  bool has(Erratum erratum) const {
    return (errata & static_cast<uint32_t>(erratum)) != 0;
  }
};

/// Every chip that kernels are tuned for, in the order of the table.
std::span<const GpuTarget> getAllTargets();

/// The target of `name`, or nullptr: a row of the table, or an untuned target
/// if it is another chip of gfx9 to gfx12 that LLVM knows. Accepts the form of
/// hipDeviceProp_t::gcnArchName: "gfx90a:sramecc+:xnack-".
const GpuTarget *findTarget(std::string_view name);

/// The names of all targets for messages: "gfx90a, gfx942, ...".
std::string_view getTargetNames();

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_GPUTARGET_H
