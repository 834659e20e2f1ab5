//===- Env.cpp - The environment, typed -----------------------------------===//

#include "runtime/Base/Env.h"

#include "runtime/Base/Log.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <mutex>
#include <set>
#include <string_view>

using namespace tessera;

//===----------------------------------------------------------------------===//
// Reports of invalid values
//===----------------------------------------------------------------------===//

void tessera::reportEnvInLog(const std::string &sentence) {
  logMessage(LogLevel::Warning, sentence);
}

void tessera::reportEnvOnStderr(const std::string &sentence) {
  std::fprintf(stderr, "tessera: %s\n", sentence.c_str());
}

/// Whether nothing was reported about `name` yet; marks it as reported.
static bool takeReport(const char *name) {
  // Never destroyed: static objects may read variables when the process ends.
  static std::mutex &mutex = *new std::mutex;
  static std::set<std::string> &told = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  return told.insert(name).second;
}

void tessera::reportEnvValue(const char *name, const std::string &allowed,
                             EnvReport report) {
  if (takeReport(name))
    report(std::string(name) + " is '" + getEnvText(name).value_or("") +
           "', but must be " + allowed + "; it counts as not set");
}

//===----------------------------------------------------------------------===//
// Readers
//===----------------------------------------------------------------------===//

std::optional<std::string> tessera::getEnvText(const char *name) {
  const char *value = std::getenv(name);
  if (!value)
    return std::nullopt;
  return value;
}

static bool isOneOf(std::string_view text,
                    std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

static std::string toUpper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return static_cast<char>(std::toupper(c));
  });
  return text;
}

std::optional<bool> tessera::parseEnvBool(std::string_view text) {
  const std::string upper = toUpper(std::string(text));
  if (isOneOf(upper, {"1", "ON", "YES", "TRUE", "ENABLE", "ENABLED"}))
    return true;
  if (isOneOf(upper, {"0", "OFF", "NO", "FALSE", "DISABLE", "DISABLED"}))
    return false;
  return std::nullopt;
}

std::optional<bool> tessera::getEnvBool(const char *name, EnvReport report) {
  const std::string text = getEnvText(name).value_or("");
  const std::optional<bool> value = parseEnvBool(text);
  if (!value && !text.empty())
    reportEnvValue(name,
                   "1, on, yes, true, enable or enabled, or 0, off, no, false, "
                   "disable or disabled",
                   report);
  return value;
}

static std::optional<int64_t> parseInt(std::string_view text) {
  const char *end = text.data() + text.size();
  int64_t value = 0;
  auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end)
    return std::nullopt;
  return value;
}

/// Describes the range, as in "a whole number from 1 to 60". No caller has an
/// upper bound without a lower one.
static std::string describeRange(int64_t least, int64_t most) {
  if (least == kLeastEnvInt)
    return "a whole number";
  return "a whole number " + (most == kMostEnvInt
                                  ? "of at least " + std::to_string(least)
                                  : "from " + std::to_string(least) + " to " +
                                        std::to_string(most));
}

std::optional<int64_t> tessera::getEnvInt(const char *name, int64_t least,
                                          int64_t most, EnvReport report) {
  const std::string text = getEnvText(name).value_or("");
  if (text.empty())
    return std::nullopt;
  const std::optional<int64_t> value = parseInt(text);
  if (value && *value >= least && *value <= most)
    return value;
  reportEnvValue(name, describeRange(least, most), report);
  return std::nullopt;
}

static std::string describeWords(std::span<const EnvWord> words) {
  std::string text;
  for (const EnvWord &word : words) {
    if (!text.empty())
      text += &word == &words.back() ? " or " : ", ";
    text += word.name + (" (" + std::to_string(word.value)) + ")";
  }
  return text;
}

std::optional<int> tessera::getEnvWord(const char *name,
                                       std::span<const EnvWord> words,
                                       EnvReport report) {
  const std::string text = toUpper(getEnvText(name).value_or(""));
  if (text.empty())
    return std::nullopt;
  for (const EnvWord &word : words)
    if (text == word.name || text == std::to_string(word.value))
      return word.value;
  reportEnvValue(name, describeWords(words), report);
  return std::nullopt;
}
