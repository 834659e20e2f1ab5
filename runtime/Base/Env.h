//===- Env.h - The environment, typed --------------------------*- C++ -*-===//
//
// The only place that reads environment variables, so that one search finds
// every knob, and so that all of them understand the same spellings (those of
// MIOpen, whose variables we honour).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_ENV_H
#define TESSERA_RUNTIME_BASE_ENV_H

#include <cstdint>
#include <optional>
#include <string>

namespace tessera {

/// The value of `name`; nothing if it is not set. Set but empty is a value.
std::optional<std::string> getEnvText(const char *name);

/// 0/1, on/off, yes/no, true/false, enable(d)/disable(d) in any case; nothing
/// if `name` is unset or spelt otherwise.
std::optional<bool> getEnvBool(const char *name);

/// A decimal integer; nothing if `name` is unset or not one.
std::optional<int64_t> getEnvInt(const char *name);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_ENV_H
