//===- Env.h - The environment, typed --------------------------*- C++ -*--===//
//
// All environment variables are read here, so that one search finds every knob,
// and so that all of them understand the same spellings (those of MIOpen, whose
// variables we honour).
//
// A value that a reader does not understand counts as not set. It is reported
// once in a process for each variable, with the variable, the value and the
// values that are allowed. An empty value counts as not set. Every function may
// be called from any thread.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_ENV_H
#define TESSERA_RUNTIME_BASE_ENV_H

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tessera {

/// Receives the sentence about an invalid value.
using EnvReport = void (*)(const std::string &sentence);

/// A warning of the library's log.
void reportEnvInLog(const std::string &sentence);

/// "tessera: sentence", for what has no log: the emulated device, which is a
/// shared object of its own, and tools.
void reportEnvOnStderr(const std::string &sentence);

/// The value of `name`; nothing if it is not set. Set but empty is a value.
std::optional<std::string> getEnvText(const char *name);

/// Reads 0/1, on/off, yes/no, true/false, enable(d)/disable(d) in any case.
std::optional<bool> getEnvBool(const char *name,
                               EnvReport report = reportEnvInLog);

/// The meaning that getEnvBool() gives to `text`.
std::optional<bool> parseEnvBool(std::string_view text);

inline constexpr int64_t kLeastEnvInt = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kMostEnvInt = std::numeric_limits<int64_t>::max();

/// A decimal integer from `least` to `most`.
std::optional<int64_t> getEnvInt(const char *name, int64_t least = kLeastEnvInt,
                                 int64_t most = kMostEnvInt,
                                 EnvReport report = reportEnvInLog);

/// The longest time limit that a variable can set: eleven days, which fit in
/// every clock's count.
inline constexpr int64_t kMostEnvSeconds = 1'000'000;

/// A value that has a name: MIOpen takes either, the name in any case.
struct EnvWord {
  const char *name; ///< In capitals.
  int value;
};

/// The value of one of `words`.
std::optional<int> getEnvWord(const char *name, std::span<const EnvWord> words,
                              EnvReport report = reportEnvInLog);

/// For values that other code parses: reports that the value of `name` is none
/// of `allowed` ("a tile, or nothing"), unless that was reported before.
void reportEnvValue(const char *name, const std::string &allowed,
                    EnvReport report = reportEnvInLog);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_ENV_H
