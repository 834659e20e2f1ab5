//===- Settings.cpp - What the environment asks of the emulator -----------===//

#include "runtime/Emulator/Settings.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <thread>

using namespace tessera::emulator;

static std::string get(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

static uint64_t getNumber(const char *name, uint64_t otherwise) {
  std::string text = get(name);
  char *end = nullptr;
  uint64_t value = std::strtoull(text.c_str(), &end, 0);
  return text.empty() || *end || value == 0 ? otherwise : value;
}

Settings tessera::emulator::readSettings() {
  Settings settings;
  static constexpr std::string_view kPrefix = "emulated:";
  std::string device = get("TESSERA_DEVICE");
  if (device.starts_with(kPrefix))
    settings.chip = device.substr(kPrefix.size());
  settings.threads = static_cast<unsigned>(
      std::min<uint64_t>(256, getNumber("TESSERA_EMULATOR_THREADS",
                                        std::max(1u, std::thread::hardware_concurrency()))));
  settings.maxInstructions = getNumber("TESSERA_EMULATOR_MAX_INSTRUCTIONS",
                                       settings.maxInstructions);
  settings.statsPath = get("TESSERA_EMULATOR_STATS");
  settings.logErrors = get("TESSERA_EMULATOR_LOG") != "0";
  return settings;
}
