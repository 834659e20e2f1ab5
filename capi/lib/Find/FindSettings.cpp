//===- FindSettings.cpp - What the environment asks of Find ---------------===//

#include "capi/lib/Find/FindSettings.h"

#include "runtime/Base/Env.h"

using namespace tessera;
using namespace tessera::capi;

static constexpr EnvWord kEnforces[] = {{"NONE", 1},
                                        {"DB_UPDATE", 2},
                                        {"SEARCH", 3},
                                        {"SEARCH_DB_UPDATE", 4},
                                        {"DB_CLEAN", 5}};
static constexpr EnvWord kModes[] = {
    {"NORMAL", 1}, {"FAST", 2}, {"HYBRID", 3}, {"DYNAMIC_HYBRID", 5}};

FindSettings capi::readFindSettings() {
  FindSettings settings;
  if (auto enforce = getEnvWord("MIOPEN_FIND_ENFORCE", kEnforces))
    settings.enforce = static_cast<FindEnforce>(*enforce);
  // Read for the warning about unknown values only.
  (void)getEnvWord("MIOPEN_FIND_MODE", kModes);
  if (auto timeMs = getEnvInt("MIOPEN_TUNING_TIME_MS_MAX", 1))
    settings.searchSeconds = static_cast<double>(*timeMs) / 1e3;
  if (auto count = getEnvInt("MIOPEN_DEBUG_TUNING_ITERATIONS_MAX", 1))
    settings.searchCandidates = static_cast<size_t>(*count);
  settings.tunesInBackground =
      getEnvBool("TESSERA_BACKGROUND_TUNING").value_or(false);
  return settings;
}

const FindSettings &capi::readFindSettingsOnce() {
  static const FindSettings settings = readFindSettings();
  return settings;
}
