//===- ArgumentSpec.cpp - What --arg says ---------------------------------===//

#include "tools/dnn-emu/ArgumentSpec.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

using namespace tessera;
using namespace tessera::emu;

unsigned tessera::emu::getElementBytes(ElementType type) {
  static constexpr unsigned kBytes[] = {1, 2, 4, 8, 2, 2, 4, 8};
  return kBytes[static_cast<unsigned>(type)];
}

std::optional<uint64_t> tessera::emu::parseNumber(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  }
  uint64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

static std::optional<ElementType> parseType(std::string_view name) {
  static constexpr std::string_view kNames[] = {"i8",  "i16",  "i32", "i64",
                                                "f16", "bf16", "f32", "f64"};
  auto it = std::ranges::find(kNames, name);
  if (it == std::end(kNames))
    return std::nullopt;
  return static_cast<ElementType>(it - kNames);
}

static Status badArgument(const ArgumentSpec &spec, const std::string &why) {
  return invalidArgument("--arg " + spec.text + ": " + why);
}

/// Parses "zeros", "random:7:f16", "file:x.bin".
static Status parseFill(std::string_view text, ArgumentSpec &spec) {
  using enum ArgumentSpec::Fill;
  if (text.starts_with("file:")) {
    spec.fill = File;
    spec.path = text.substr(5);
    return Status::ok();
  }
  auto takeWord = [&text] {
    size_t colon = text.find(':');
    std::string_view word = text.substr(0, colon);
    text = colon == text.npos ? "" : text.substr(colon + 1);
    return word;
  };
  std::string_view name = takeWord();
  if (name == "zeros")
    spec.fill = Zeros;
  else if (name == "ones")
    spec.fill = Ones;
  else if (name == "iota")
    spec.fill = Iota;
  else if (name == "random")
    spec.fill = Random;
  else
    return badArgument(spec, "there is no fill '" + std::string(name) + "'");
  if (spec.fill == Random) {
    std::optional<uint64_t> seed = parseNumber(takeWord());
    if (!seed)
      return badArgument(spec, "random needs a seed, as in random:1");
    spec.seed = *seed;
  }
  if (text.empty())
    return Status::ok();
  std::optional<ElementType> type = parseType(text);
  if (!type)
    return badArgument(spec, "there is no type '" + std::string(text) + "'");
  spec.type = *type;
  return Status::ok();
}

static Status parseHex(std::string_view text, ArgumentSpec &spec) {
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    uint8_t byte = 0;
    auto [end, error] =
        std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
    if (error != std::errc() || end != text.data() + i + 2)
      return badArgument(spec, "bytes need hexadecimal digits");
    spec.bytes.push_back(byte);
  }
  if (text.size() % 2 || text.empty())
    return badArgument(spec, "bytes need pairs of hexadecimal digits");
  return Status::ok();
}

template <typename T>
static void setBytes(ArgumentSpec &spec, T value) {
  spec.bytes.resize(sizeof value);
  std::memcpy(spec.bytes.data(), &value, sizeof value);
}

static Status parseScalar(std::string_view type, const std::string &value,
                          ArgumentSpec &spec) {
  char *end = nullptr;
  if (type == "f32" || type == "f64") {
    double number = std::strtod(value.c_str(), &end);
    type == "f32" ? setBytes(spec, static_cast<float>(number))
                  : setBytes(spec, number);
  } else {
    std::optional<uint64_t> bits = parseNumber(type.substr(1));
    if ((type[0] != 'i' && type[0] != 'u') || !bits ||
        (*bits != 8 && *bits != 16 && *bits != 32 && *bits != 64))
      return badArgument(spec, "there is no kind '" + std::string(type) + "'");
    bool isNegative = value.starts_with('-');
    uint64_t number =
        isNegative ? static_cast<uint64_t>(std::strtoll(value.c_str(), &end, 0))
                   : std::strtoull(value.c_str(), &end, 0);
    // An unsigned number may fill a signed type: i32:0xffffffff is -1.
    bool fits = isNegative ? type[0] == 'i' && static_cast<int64_t>(number) >=
                                                   INT64_MIN >> (64 - *bits)
                           : *bits == 64 || number >> *bits == 0;
    if (!fits)
      return badArgument(spec,
                         value + " does not fit into " + std::string(type));
    setBytes(spec, number);
    spec.bytes.resize(*bits / 8);
  }
  if (value.empty() || *end)
    return badArgument(spec, "'" + value + "' is not a number");
  return Status::ok();
}

ErrorOr<ArgumentSpec> tessera::emu::parseArgument(const std::string &text) {
  ArgumentSpec spec;
  spec.text = text;
  size_t colon = text.find(':');
  if (colon == text.npos || colon == 0)
    return badArgument(spec, "needs KIND:VALUE, such as i32:5");
  std::string_view kind = std::string_view(text).substr(0, colon);
  std::string value = text.substr(colon + 1);
  Status status;
  if (kind == "buffer") {
    size_t equals = value.find('=');
    std::optional<uint64_t> bytes = parseNumber(value.substr(0, equals));
    if (!bytes || !*bytes)
      return badArgument(spec, "a buffer needs its size in bytes");
    spec.isBuffer = true;
    spec.bufferBytes = *bytes;
    if (equals != value.npos)
      status = parseFill(std::string_view(value).substr(equals + 1), spec);
  } else if (kind == "bytes") {
    status = parseHex(value, spec);
  } else {
    status = parseScalar(kind, value, spec);
  }
  if (!status.isOk())
    return status;
  return spec;
}
