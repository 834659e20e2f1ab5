//===- GpuTarget.cpp - The table of chips ---------------------------------===//

#include "runtime/Base/GpuTarget.h"

#include <string>

using namespace tessera;

// Sources. Wave size, waves a SIMD: LLVM's AMDGPU usage guide and
// AMDGPUBaseInfo. LDS: the same, and AMD's CDNA4 white paper for
// gfx950. Buffer word 3: gfx9 data format 32 bits; gfx10 and later add
// resource level 1 and OOB_SELECT 3 (raw), as MLIR's amdgpu lowering does.
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
    // name, unit, wave, lds, banks, waves, simds, units,
    // word3, errata
    {"gfx90a", MatrixUnit::MfmaCdna2, 64, 65536, 32, 8, 4, 110, kGfx9Buffer,
     kFlushesHalf},
    {"gfx942", MatrixUnit::MfmaCdna3, 64, 65536, 32, 8, 4, 304, kGfx9Buffer, 0},
    {"gfx950", MatrixUnit::MfmaCdna4, 64, 163840, 64, 8, 4, 256, kGfx9Buffer,
     kNoPackedFma},
    {"gfx1030", MatrixUnit::None, 32, 65536, 32, 16, 2, 80, kGfx10Buffer, 0},
    {"gfx1100", MatrixUnit::WmmaGfx11, 32, 65536, 32, 16, 2, 96, kGfx10Buffer,
     0},
    {"gfx1151", MatrixUnit::WmmaGfx11, 32, 65536, 32, 16, 2, 40, kGfx10Buffer,
     0},
    {"gfx1200", MatrixUnit::WmmaGfx12, 32, 65536, 32, 16, 2, 32, kGfx10Buffer,
     0},
    {"gfx1201", MatrixUnit::WmmaGfx12, 32, 65536, 32, 16, 2, 64, kGfx10Buffer,
     0},
};

std::span<const GpuTarget> tessera::getAllTargets() { return kTargets; }

const GpuTarget *tessera::findTarget(std::string_view name) {
  name = name.substr(0, name.find(':'));
  for (const GpuTarget &target : kTargets)
    if (target.name == name)
      return &target;
  return nullptr;
}

std::string_view tessera::getTargetNames() {
  static const std::string names = [] {
    std::string text;
    for (const GpuTarget &target : kTargets)
      text += (text.empty() ? "" : ", ") + std::string(target.name);
    return text;
  }();
  return names;
}
