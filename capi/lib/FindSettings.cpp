//===- FindSettings.cpp - What the environment asks of Find ---------------===//

#include "capi/lib/FindSettings.h"

#include "runtime/Base/Env.h"
#include "runtime/Base/Log.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <span>
#include <string>

using namespace tessera;
using namespace tessera::capi;

namespace {
/// A value of a variable: MIOpen takes the number and the name.
struct NamedValue {
  const char *name;
  int value;
};
} // namespace

static constexpr NamedValue kEnforces[] = {{"NONE", 1},
                                           {"DB_UPDATE", 2},
                                           {"SEARCH", 3},
                                           {"SEARCH_DB_UPDATE", 4},
                                           {"DB_CLEAN", 5}};
static constexpr NamedValue kModes[] = {
    {"NORMAL", 1}, {"FAST", 2}, {"HYBRID", 3}, {"DYNAMIC_HYBRID", 5}};

static void warn(const char *variable, const std::string &value) {
  logMessage(LogLevel::Warning, std::string(variable) + " is '" + value +
                                    "', which means nothing; it is not used");
}

static std::optional<int> readNamed(const char *variable,
                                    std::span<const NamedValue> values) {
  std::optional<std::string> text = getEnvText(variable);
  if (!text || text->empty())
    return std::nullopt;
  std::string upper = *text;
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) {
    return static_cast<char>(std::toupper(c));
  });
  for (const NamedValue &value : values)
    if (upper == value.name || upper == std::to_string(value.value))
      return value.value;
  warn(variable, *text);
  return std::nullopt;
}

static std::optional<int64_t> readPositive(const char *variable) {
  const std::optional<std::string> text = getEnvText(variable);
  if (!text || text->empty())
    return std::nullopt;
  const std::optional<int64_t> number = getEnvInt(variable);
  if (number && *number > 0)
    return number;
  warn(variable, *text);
  return std::nullopt;
}

FindSettings capi::readFindSettings() {
  FindSettings settings;
  if (auto enforce = readNamed("MIOPEN_FIND_ENFORCE", kEnforces))
    settings.enforce = static_cast<FindEnforce>(*enforce);
  // Only to tell who has misspelt it.
  (void)readNamed("MIOPEN_FIND_MODE", kModes);
  if (auto timeMs = readPositive("MIOPEN_TUNING_TIME_MS_MAX"))
    settings.searchSeconds = static_cast<double>(*timeMs) / 1e3;
  if (auto count = readPositive("MIOPEN_DEBUG_TUNING_ITERATIONS_MAX"))
    settings.searchCandidates = static_cast<size_t>(*count);
  settings.tunesInBackground =
      getEnvBool("TESSERA_BACKGROUND_TUNING").value_or(false);
  return settings;
}

const FindSettings &capi::readFindSettingsOnce() {
  static const FindSettings settings = readFindSettings();
  return settings;
}
