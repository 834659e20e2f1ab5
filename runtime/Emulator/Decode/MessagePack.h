//===- MessagePack.h - The encoding of kernel metadata ---------*- C++ -*--===//
//
// A code object describes its kernels in a note encoded as MessagePack. This
// reads the types that AMDGPU metadata uses: maps, arrays, strings, integers,
// booleans.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_DECODE_MESSAGEPACK_H
#define TESSERA_RUNTIME_EMULATOR_DECODE_MESSAGEPACK_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tessera::emulator {

/// One decoded value. A tree of plain values that owns everything it holds.
struct MessagePackValue {
  enum class Kind { Nil, Boolean, Integer, Text, Array, Map };

  Kind kind = Kind::Nil;
  int64_t integer = 0; ///< The value of an Integer or Boolean.
  std::string text;
  /// The items of an Array or the values of a Map.
  std::vector<MessagePackValue> items;
  std::vector<std::string> keys; ///< The keys of a Map.

  /// Returns the value under `key`, or nullptr.
  const MessagePackValue *find(std::string_view key) const;
  int64_t getInteger(std::string_view key, int64_t otherwise) const;
  std::string getText(std::string_view key) const;
};

/// Returns nothing when `bytes` is not well-formed.
std::optional<MessagePackValue>
parseMessagePack(std::span<const uint8_t> bytes);

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_DECODE_MESSAGEPACK_H
