//===- Settings.cpp - What the environment asks of the emulator -----------===//

#include "runtime/Emulator/Settings.h"

#include "runtime/Base/Env.h"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <thread>

using namespace tessera::emulator;

static uint64_t getNumber(const char *name, uint64_t otherwise) {
  std::optional<int64_t> value = tessera::getEnvInt(name);
  if (value && *value > 0)
    return static_cast<uint64_t>(*value);
  if (std::string text = tessera::getEnvText(name).value_or(""); !text.empty())
    std::fprintf(stderr,
                 "tessera: %s needs a positive number, not '%s'; %llu is "
                 "used\n",
                 name, text.c_str(),
                 static_cast<unsigned long long>(otherwise));
  return otherwise;
}

Settings tessera::emulator::readSettings() {
  Settings settings;
  static constexpr std::string_view kPrefix = "emulated:";
  std::string device = tessera::getEnvText("TESSERA_DEVICE").value_or("");
  if (device.starts_with(kPrefix))
    settings.chip = device.substr(kPrefix.size());
  else if (!device.empty() && device != "emulated")
    std::fprintf(stderr,
                 "tessera: TESSERA_DEVICE is '%s', but this is the emulated "
                 "device; it takes 'emulated:gfx942' for example, and is %s\n",
                 device.c_str(), settings.chip.c_str());
  uint64_t hostThreads = std::max(1u, std::thread::hardware_concurrency());
  settings.threads = static_cast<unsigned>(std::min<uint64_t>(
      256, getNumber("TESSERA_EMULATOR_THREADS", hostThreads)));
  settings.maxInstructions =
      getNumber("TESSERA_EMULATOR_MAX_INSTRUCTIONS", settings.maxInstructions);
  settings.maxGroups = getNumber("TESSERA_EMULATOR_GROUPS", 0);
  if (settings.maxGroups)
    std::fprintf(stderr,
                 "tessera: TESSERA_EMULATOR_GROUPS is set: at most %llu groups "
                 "of a launch are executed, and results are incomplete\n",
                 static_cast<unsigned long long>(settings.maxGroups));
  std::string unknown;
  if (auto checks = CheckSet::parse(
          tessera::getEnvText("TESSERA_EMULATOR_CHECK").value_or("default"),
          &unknown))
    settings.checks = *checks;
  else
    std::fprintf(stderr,
                 "tessera: TESSERA_EMULATOR_CHECK has the unknown word '%s'; "
                 "the defaults are used\n",
                 unknown.c_str());
  settings.statsPath =
      tessera::getEnvText("TESSERA_EMULATOR_STATS").value_or("");
  if (!tessera::getEnvBool("TESSERA_EMULATOR_STATS_ADDRESSES").value_or(true))
    settings.statsLevel = MeasureLevel::Counts;
  settings.logErrors =
      tessera::getEnvBool("TESSERA_EMULATOR_LOG").value_or(true);
  return settings;
}

const Settings &tessera::emulator::readSettingsOnce() {
  static const Settings settings = readSettings();
  return settings;
}
