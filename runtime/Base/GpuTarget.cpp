//===- GpuTarget.cpp - The table of chips ---------------------------------===//

#include "runtime/Base/GpuTarget.h"

#include "runtime/Base/Nearest.h"
#include "runtime/Base/UnknownTarget.h"

#include <string>
#include <vector>

using namespace tessera;

// Sources. Wave size, waves a SIMD: LLVM's AMDGPU usage guide and
// AMDGPUBaseInfo. LDS: the same, and AMD's CDNA4 white paper for gfx950. Buffer
// word 3: gfx9 has data format 32 bits; gfx10 and later add resource level 1
// and OOB_SELECT 3 (raw), as MLIR's amdgpu lowering does. Float atomics: the
// ISA guides' buffer_atomic_add_f32, which gfx906 and gfx10 lack.
static constexpr uint32_t kGfx9Buffer = 0x00027000;
static constexpr uint32_t kGfx10Buffer = 0x31027000;

// gfx950 runs v_pk_fma_f32 with op_sel:[0,1,0] wrongly and so corrupts f32
// convolutions (ROCm/rocMLIR issue 2459); the feature packed-fp32-ops is
// switched off there.
static constexpr uint32_t kNoPackedFma =
    static_cast<uint32_t>(Erratum::NoPackedF32Fma);

// MI200's f16 and bf16 MFMA flush subnormal inputs and outputs (MIOpen's
// documentation, "MI200 MFMA behavior specifics"; PyTorch's "Numerical
// accuracy" note). MI300's do not.
static constexpr uint32_t kFlushesHalf =
    static_cast<uint32_t>(Erratum::FlushesHalfSubnormals);

static constexpr GpuTarget kTargets[] = {
    // name, unit, byte dot, wave, lds, banks, waves, simds, units,
    // word3, float atomics, errata, direct LDS bytes
    {"gfx906", MatrixUnit::None, IntegerDot::Signed, 64, 65536, 32, 10, 4, 64,
     kGfx9Buffer, false, 0, /*directLdsBytes=*/4},
    {"gfx908", MatrixUnit::MfmaCdna1, IntegerDot::Signed, 64, 65536, 32, 10, 4,
     120, kGfx9Buffer, true, 0, /*directLdsBytes=*/4},
    {"gfx90a", MatrixUnit::MfmaCdna2, IntegerDot::Signed, 64, 65536, 32, 8, 4,
     110, kGfx9Buffer, true, kFlushesHalf, /*directLdsBytes=*/4},
    {"gfx942", MatrixUnit::MfmaCdna3, IntegerDot::Signed, 64, 65536, 32, 8, 4,
     304, kGfx9Buffer, true, 0, /*directLdsBytes=*/4},
    {"gfx950", MatrixUnit::MfmaCdna4, IntegerDot::Signed, 64, 163840, 64, 8, 4,
     256, kGfx9Buffer, true, kNoPackedFma, /*directLdsBytes=*/16},
    {"gfx1030", MatrixUnit::None, IntegerDot::Signed, 32, 65536, 32, 16, 2, 80,
     kGfx10Buffer, false, 0},
    {"gfx1100", MatrixUnit::WmmaGfx11, IntegerDot::Mixed, 32, 65536, 32, 16, 2,
     96, kGfx10Buffer, true, 0},
    {"gfx1151", MatrixUnit::WmmaGfx11, IntegerDot::Mixed, 32, 65536, 32, 16, 2,
     40, kGfx10Buffer, true, 0},
    {"gfx1200", MatrixUnit::WmmaGfx12, IntegerDot::Mixed, 32, 65536, 32, 16, 2,
     32, kGfx10Buffer, true, 0},
    {"gfx1201", MatrixUnit::WmmaGfx12, IntegerDot::Mixed, 32, 65536, 32, 16, 2,
     64, kGfx10Buffer, true, 0},
};

// The other chips, the untuned targets. Of their generation they have only what
// all its chips share. Features: LLVM's AMDGPU.td (dot1-insts, dot8-insts, WMMA
// of gfx11). The number of compute units is that of a small product, so that
// tiles stay small.

static constexpr GpuTarget makeGfx9(std::string_view name) {
  return {name,
          MatrixUnit::None,
          IntegerDot::None,
          64,
          65536,
          32,
          8,
          4,
          60,
          kGfx9Buffer,
          false,
          0};
}

static constexpr GpuTarget makeGfx10(std::string_view name, IntegerDot dot) {
  return {name, MatrixUnit::None, dot,   32, 65536, 32, 16, 2,
          28,   kGfx10Buffer,     false, 0};
}

static constexpr GpuTarget makeGfx11(std::string_view name) {
  return {name,
          MatrixUnit::WmmaGfx11,
          IntegerDot::Mixed,
          32,
          65536,
          32,
          16,
          2,
          16,
          kGfx10Buffer,
          true,
          0};
}

static constexpr GpuTarget kOtherTargets[] = {
    makeGfx9("gfx900"),
    makeGfx9("gfx902"),
    makeGfx9("gfx904"),
    makeGfx9("gfx909"),
    makeGfx9("gfx90c"),
    makeGfx10("gfx1010", IntegerDot::None),
    makeGfx10("gfx1011", IntegerDot::Signed),
    makeGfx10("gfx1012", IntegerDot::Signed),
    makeGfx10("gfx1013", IntegerDot::None),
    makeGfx10("gfx1031", IntegerDot::Signed),
    makeGfx10("gfx1032", IntegerDot::Signed),
    makeGfx10("gfx1033", IntegerDot::Signed),
    makeGfx10("gfx1034", IntegerDot::Signed),
    makeGfx10("gfx1035", IntegerDot::Signed),
    makeGfx10("gfx1036", IntegerDot::Signed),
    makeGfx11("gfx1101"),
    makeGfx11("gfx1102"),
    makeGfx11("gfx1103"),
    makeGfx11("gfx1150"),
    makeGfx11("gfx1152"),
    makeGfx11("gfx1153"),
};

// NVIDIA's chips, from the CUDA programming guide's table of compute
// capabilities. `waves` is the warps of an SM divided by its four schedulers.
// Shared memory is what a kernel may declare statically, 48 KiB on all of them;
// a kernel gets more only if its launch asks for it. The matrix units are those
// that sm_80 introduced and all later chips have.

static constexpr GpuTarget makeSm(std::string_view name, uint32_t warps,
                                  uint32_t units,
                                  MatrixUnit unit = MatrixUnit::MmaSm80) {
  constexpr uint32_t kSchedulers = 4, kStaticShared = 49152;
  // cp.async came with the same chips.
  const uint32_t directLdsBytes = unit == MatrixUnit::None ? 0 : 16;
  return {name,
          unit,
          IntegerDot::Signed,
          32,
          kStaticShared,
          32,
          warps / kSchedulers,
          kSchedulers,
          units,
          /*bufferWord3=*/0,
          /*hasFloatAtomics=*/true,
          /*errata=*/0,
          directLdsBytes,
          Vendor::Nvidia};
}

// 228 KiB of an SM less the 1 KiB that CUDA reserves. The kernels use what only
// sm_90 itself has ("sm_90a").
static constexpr GpuTarget makeSm90() {
  GpuTarget target = makeSm("sm_90", 64, 132);
  target.dynamicSharedBytes = 232448;
  target.hasTma = true;
  target.hasWgmma = true;
  target.hasDependentLaunches = true;
  return target;
}

// Its code uses tcgen05 ("sm_100a").
static constexpr GpuTarget makeSm100() {
  GpuTarget target = makeSm("sm_100", 64, 132);
  target.hasTensorMemory = true;
  return target;
}

// The number of multiprocessors is that of the largest product (A100, H100
// SXM); untuned targets have that of a small one.
static constexpr GpuTarget kSmTargets[] = {
    makeSm("sm_80", 64, 108),
    makeSm90(),
    makeSm("sm_75", 32, 14, MatrixUnit::None),
    makeSm("sm_86", 48, 20),
    makeSm("sm_87", 48, 8),
    makeSm("sm_89", 48, 20),
    makeSm100(),
    makeSm("sm_103", 64, 132),
    makeSm("sm_110", 48, 20),
    makeSm("sm_120", 48, 20),
    makeSm("sm_121", 48, 20),
};

std::span<const GpuTarget> tessera::getAllTargets() { return kTargets; }

static constexpr std::span<const GpuTarget> kTables[] = {
    kTargets, kOtherTargets, kSmTargets};

const GpuTarget *tessera::findTarget(std::string_view name) {
  name = name.substr(0, name.find(':'));
  for (std::span<const GpuTarget> table : kTables)
    for (const GpuTarget &target : table)
      if (target.name == name)
        return &target;
  return nullptr;
}

std::string_view tessera::getTargetNames() {
  static const std::string names = [] {
    std::string text;
    for (std::span<const GpuTarget> table :
         {std::span<const GpuTarget>(kTargets),
          std::span<const GpuTarget>(kSmTargets)})
      for (const GpuTarget &target : table)
        text += (text.empty() ? "" : ", ") + std::string(target.name);
    return text;
  }();
  return names;
}

static Status refuse(std::string_view name,
                     std::span<const std::string_view> candidates,
                     std::string_view list) {
  const std::string nearest(findNearest(name, candidates));
  return invalidArgument(
      "'" + std::string(name) + "' is no target" +
      (nearest.empty() ? "" : " (is " + nearest + " meant?)") + "; there are " +
      std::string(list));
}

static std::vector<std::string_view>
getNames(std::span<const std::span<const GpuTarget>> tables) {
  std::vector<std::string_view> names;
  for (std::span<const GpuTarget> table : tables)
    for (const GpuTarget &target : table)
      names.push_back(target.name);
  return names;
}

Status tessera::refuseTarget(std::string_view name) {
  return refuse(name, getNames(kTables), getTargetNames());
}

Status tessera::refuseTarget(std::string_view name,
                             std::span<const GpuTarget> known) {
  const std::vector<std::string_view> names = getNames({&known, 1});
  std::string list;
  for (std::string_view other : names)
    list += (list.empty() ? "" : ", ") + std::string(other);
  return refuse(name, names, list);
}
