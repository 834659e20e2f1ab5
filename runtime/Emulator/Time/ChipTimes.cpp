//===- ChipTimes.cpp - Latencies and rates of a chip ----------------------===//

#include "runtime/Emulator/Time/ChipTimes.h"

using namespace tessera::emulator;

static constexpr ChipTimes kGfx90a = {
#define TESSERA_CHIP_TIME(name, gfx90a, gfx942, gfx1030) gfx90a,
#include "runtime/Emulator/Time/ChipTimes.def"
};
static constexpr ChipTimes kGfx942 = {
#define TESSERA_CHIP_TIME(name, gfx90a, gfx942, gfx1030) gfx942,
#include "runtime/Emulator/Time/ChipTimes.def"
};
static constexpr ChipTimes kGfx1030 = {
#define TESSERA_CHIP_TIME(name, gfx90a, gfx942, gfx1030) gfx1030,
#include "runtime/Emulator/Time/ChipTimes.def"
};

const ChipTimes *tessera::emulator::findChipTimes(std::string_view chip) {
  return chip == "gfx90a"    ? &kGfx90a
         : chip == "gfx942"  ? &kGfx942
         : chip == "gfx1030" ? &kGfx1030
                             : nullptr;
}

bool tessera::emulator::setChipTime(ChipTimes &times, std::string_view name,
                                    double value) {
#define TESSERA_CHIP_TIME(field, ...)                                          \
  if (name == #field) {                                                        \
    times.field = value;                                                       \
    return true;                                                               \
  }
#include "runtime/Emulator/Time/ChipTimes.def"
  return false;
}

std::string tessera::emulator::getTimedChips() {
  return "gfx90a, gfx942, gfx1030";
}
