//===- Hash.h - A small fixed hash -----------------------------*- C++ -*--===//
//
// std::hash may differ between libraries and runs; checksums in files may not.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_HASH_H
#define TESSERA_RUNTIME_BASE_HASH_H

#include <cstdint>
#include <string_view>

namespace tessera {

/// FNV-1a of 64 bits over everything that is added. Plain data.
class Fnv1a {
public:
  void add(std::string_view bytes) {
    for (char byte : bytes)
      state = (state ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  /// Adds the length too, so that ("ab", "c") differs from ("a", "bc").
  void addField(std::string_view field) {
    addField(static_cast<uint64_t>(field.size()));
    add(field);
  }
  /// Adds eight bytes, least significant first.
  void addField(uint64_t number) {
    for (int byte = 0; byte < 8; ++byte)
      state = (state ^ (number >> (8 * byte) & 0xff)) * 0x100000001b3;
  }
  uint64_t get() const { return state; }

private:
  uint64_t state = 0xcbf29ce484222325;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_HASH_H
