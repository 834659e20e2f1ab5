//===- ChipTimes.h - Latencies and rates of a chip -------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_EMULATOR_TIME_CHIPTIMES_H
#define TESSERA_RUNTIME_EMULATOR_TIME_CHIPTIMES_H

#include <string>
#include <string_view>

namespace tessera::emulator {

/// ChipTimes.def says what each number is and where it comes from.
struct ChipTimes {
#define TESSERA_CHIP_TIME(name, ...) double name = 0;
#include "runtime/Emulator/Time/ChipTimes.def"
};

/// Returns null for a chip whose times cannot be predicted.
const ChipTimes *findChipTimes(std::string_view chip);
/// Sets one parameter by name, for studies of the model; false if there is none
/// of this name.
bool setChipTime(ChipTimes &times, std::string_view name, double value);
/// "gfx90a, gfx942, gfx1030"
std::string getTimedChips();

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_TIME_CHIPTIMES_H
