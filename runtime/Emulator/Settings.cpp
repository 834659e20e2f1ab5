//===- Settings.cpp - What the environment asks of the emulator -----------===//

#include "runtime/Emulator/Settings.h"

#include "runtime/Base/Env.h"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <thread>

using namespace tessera::emulator;

static uint64_t getNumber(const char *name, uint64_t otherwise,
                          int64_t least = 1,
                          int64_t most = tessera::kMostEnvInt) {
  return static_cast<uint64_t>(
      tessera::getEnvInt(name, least, most, tessera::reportEnvOnStderr)
          .value_or(static_cast<int64_t>(otherwise)));
}

static bool isOn(const char *name) {
  return tessera::getEnvBool(name, tessera::reportEnvOnStderr).value_or(true);
}

static std::string readChip(const std::string &otherwise) {
  static constexpr std::string_view kPrefix = "emulated:";
  const std::string device = tessera::getEnvText("TESSERA_DEVICE").value_or("");
  if (device.starts_with(kPrefix))
    return device.substr(kPrefix.size());
  if (!device.empty() && device != "emulated")
    tessera::reportEnvValue(
        "TESSERA_DEVICE",
        "emulated or emulated:<chip> for the emulated device, which is " +
            otherwise,
        tessera::reportEnvOnStderr);
  return otherwise;
}

static CheckSet readChecks() {
  const std::string text =
      tessera::getEnvText("TESSERA_EMULATOR_CHECK").value_or("");
  if (text.empty())
    return CheckSet::defaults();
  if (std::optional<CheckSet> checks = CheckSet::parse(text))
    return *checks;
  std::string names;
  for (std::string_view name : kCheckNames)
    names.append(", ").append(name);
  tessera::reportEnvValue("TESSERA_EMULATOR_CHECK",
                          "a list of all, none, default" + names +
                              ", each of which a minus takes out",
                          tessera::reportEnvOnStderr);
  return CheckSet::defaults();
}

Settings tessera::emulator::readSettings() {
  Settings settings;
  settings.chip = readChip(settings.chip);
  constexpr unsigned kMostThreads = 256;
  settings.threads = static_cast<unsigned>(getNumber(
      "TESSERA_EMULATOR_THREADS",
      std::clamp(std::thread::hardware_concurrency(), 1u, kMostThreads), 1,
      kMostThreads));
  settings.maxInstructions =
      getNumber("TESSERA_EMULATOR_MAX_INSTRUCTIONS", settings.maxInstructions);
  settings.maxGroups = getNumber("TESSERA_EMULATOR_GROUPS", 0, 0);
  if (settings.maxGroups)
    std::fprintf(stderr,
                 "tessera: TESSERA_EMULATOR_GROUPS is set: at most %llu groups "
                 "of a launch are executed, and results are incomplete\n",
                 static_cast<unsigned long long>(settings.maxGroups));
  settings.checks = readChecks();
  settings.statsPath =
      tessera::getEnvText("TESSERA_EMULATOR_STATS").value_or("");
  if (!isOn("TESSERA_EMULATOR_STATS_ADDRESSES"))
    settings.statsLevel = MeasureLevel::Counts;
  settings.logErrors = isOn("TESSERA_EMULATOR_LOG");
  return settings;
}

const Settings &tessera::emulator::readSettingsOnce() {
  static const Settings settings = readSettings();
  return settings;
}
