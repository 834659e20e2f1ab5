//===- Env.cpp - The environment, typed -----------------------------------===//

#include "runtime/Base/Env.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

using namespace tessera;

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

std::optional<bool> tessera::getEnvBool(const char *name) {
  std::string text = getEnvText(name).value_or("");
  for (char &c : text)
    if (c >= 'A' && c <= 'Z')
      c += 'a' - 'A';
  if (isOneOf(text, {"1", "on", "yes", "true", "enable", "enabled"}))
    return true;
  if (isOneOf(text, {"0", "off", "no", "false", "disable", "disabled"}))
    return false;
  return std::nullopt;
}

std::optional<int64_t> tessera::getEnvInt(const char *name) {
  std::string text = getEnvText(name).value_or("");
  const char *end = text.data() + text.size();
  int64_t value = 0;
  auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end)
    return std::nullopt;
  return value;
}
