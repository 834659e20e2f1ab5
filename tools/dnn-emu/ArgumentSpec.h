//===- ArgumentSpec.h - What --arg says ------------------------*- C++ -*--===//

#ifndef TESSERA_TOOLS_DNN_EMU_ARGUMENTSPEC_H
#define TESSERA_TOOLS_DNN_EMU_ARGUMENTSPEC_H

#include "runtime/Base/ErrorOr.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::emu {

enum class ElementType : uint8_t { I8, I16, I32, I64, F16, BF16, F32, F64 };
unsigned getElementBytes(ElementType type);

/// One --arg: bytes that are passed unchanged, or a buffer of device memory and
/// its initial content.
struct ArgumentSpec {
  enum class Fill : uint8_t { Untouched, Zeros, Ones, Iota, Random, File };

  std::string text; ///< The text as given, for messages.
  std::vector<uint8_t> bytes;
  bool isBuffer = false;
  uint64_t bufferBytes = 0;
  Fill fill = Fill::Untouched;
  ElementType type = ElementType::F32;
  uint64_t seed = 0;
  std::string path;
};

/// Parses "buffer:512=iota", "i32:5": see printHelp().
ErrorOr<ArgumentSpec> parseArgument(const std::string &text);

/// Parses all of `text` as a number, decimal or with 0x.
std::optional<uint64_t> parseNumber(std::string_view text);

} // namespace tessera::emu

#endif // TESSERA_TOOLS_DNN_EMU_ARGUMENTSPEC_H
