//===- JsonObject.h - One line of JSON -------------------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_EMULATOR_MEASURE_JSONOBJECT_H
#define TESSERA_RUNTIME_EMULATOR_MEASURE_JSONOBJECT_H

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace tessera::emulator {

/// Builds one JSON object; the type of a value decides how it is written.
class JsonObject {
public:
  void addText(std::string_view name, std::string_view value) {
    addName(name);
    text += '"';
    for (char c : value) {
      if (c == '"' || c == '\\')
        text += '\\';
      if (static_cast<unsigned char>(c) >= 0x20)
        text += c;
    }
    text += '"';
  }
  void addInteger(std::string_view name, uint64_t value) {
    addRaw(name, std::to_string(value));
  }
  void addNumber(std::string_view name, double value) {
    char number[48];
    std::snprintf(number, sizeof number, "%.3f", value);
    addRaw(name, number);
  }
  void addTriple(std::string_view name, const std::array<uint32_t, 3> &v) {
    addRaw(name, "[" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," +
                     std::to_string(v[2]) + "]");
  }
  void addRaw(std::string_view name, const std::string &value) {
    addName(name);
    text += value;
  }
  std::string finish() const { return "{" + text + "}"; }

private:
  void addName(std::string_view name) {
    text +=
        std::string(text.empty() ? "\"" : ",\"") + std::string(name) + "\":";
  }
  std::string text;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_MEASURE_JSONOBJECT_H
