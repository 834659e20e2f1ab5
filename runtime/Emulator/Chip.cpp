//===- Chip.cpp - The emulated chips --------------------------------------===//

#include "runtime/Emulator/Chip.h"

using namespace tessera;
using namespace tessera::emulator;

// ELF machine numbers: llvm/BinaryFormat/ELF.h. Compute units and clocks: the
// largest product with that chip (MI60, MI100, MI210, MI300X, MI355X, RX 6900
// XT, RX 7900 XTX, Radeon 8060S, RX 9060 XT, RX 9070 XT).
static constexpr Chip kChips[] = {
    // name, arch, marketing, elf, gen, CUs, MHz, packed, flat, ttmp, flush,
    // accumulation
    {"gfx906", "gfx906:sramecc+:xnack-", "AMD Instinct MI60 (emulated)", 0x2f,
     9, 64, 1800, false, false, false, false},
    {"gfx908", "gfx908:sramecc+:xnack-", "AMD Instinct MI100 (emulated)", 0x30,
     9, 120, 1502, false, false, false, false, AccumulationFile::Separate},
    {"gfx90a", "gfx90a:sramecc+:xnack-", "AMD Instinct MI210 (emulated)", 0x3f,
     9, 104, 1700, true, false, false, true, AccumulationFile::Unified},
    {"gfx942", "gfx942:sramecc+:xnack-", "AMD Instinct MI300X (emulated)", 0x4c,
     9, 304, 2100, true, true, false, false, AccumulationFile::Unified},
    {"gfx950", "gfx950:sramecc+:xnack-", "AMD Instinct MI355X (emulated)", 0x4f,
     9, 256, 2400, true, true, false, false, AccumulationFile::Unified},
    {"gfx1030", "gfx1030", "AMD Radeon RX 6900 XT (emulated)", 0x36, 10, 80,
     2250, false, false, false, false},
    {"gfx1100", "gfx1100", "AMD Radeon RX 7900 XTX (emulated)", 0x41, 11, 96,
     2500, true, true, false, false},
    {"gfx1151", "gfx1151", "AMD Radeon 8060S (emulated)", 0x4a, 11, 40, 2900,
     true, true, false, false},
    {"gfx1200", "gfx1200", "AMD Radeon RX 9060 XT (emulated)", 0x48, 12, 32,
     3130, true, true, true, false},
    {"gfx1201", "gfx1201", "AMD Radeon RX 9070 XT (emulated)", 0x4e, 12, 64,
     2970, true, true, true, false},
};

const Chip *tessera::emulator::findChip(std::string_view name) {
  name = name.substr(0, name.find(':'));
  for (const Chip &chip : kChips)
    if (chip.name == name)
      return &chip;
  return nullptr;
}

std::string tessera::emulator::getChipNames() {
  std::string names;
  for (const Chip &chip : kChips)
    names += (names.empty() ? "" : ", ") + std::string(chip.name);
  return names;
}

const Chip *tessera::emulator::findChipByElfMachine(uint32_t elfFlags) {
  for (const Chip &chip : kChips)
    if (chip.elfMachine == (elfFlags & 0xff))
      return &chip;
  return nullptr;
}
