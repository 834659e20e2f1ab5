//===- FlatBuffer.h - Tables of a FlatBuffer, read safely ------*- C++ -*--===//
//
// hipDNN's graphs are FlatBuffers: tables whose fields lie at offsets that
// another table lists. A graph comes from outside, so every access is checked
// against the ends of the buffer; one that leaves it reads as a field that is
// not there, and marks the buffer as damaged. Whoever has read everything asks
// the buffer whether what he has read counts.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_HIPDNN_FLATBUFFER_H
#define TESSERA_CAPI_HIPDNN_FLATBUFFER_H

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace tessera::hipdnn {

class FlatTable;

/// The bytes, which are borrowed, and whether an access left them.
class FlatBuffer {
public:
  explicit FlatBuffer(std::span<const uint8_t> bytes) : bytes(bytes) {}
  FlatBuffer(const FlatBuffer &) = delete;

  bool isDamaged() const { return damaged; }

  /// The table that the buffer is about.
  FlatTable getRoot();

  /// The value at a position; 0 where the buffer does not hold it.
  template <typename T>
  T read(uint64_t position) {
    T value{};
    if (reaches(position, sizeof value))
      std::memcpy(&value, bytes.data() + position, sizeof value);
    return value;
  }

  /// Whether `size` bytes from a position on are in the buffer, which is
  /// damaged if they are not.
  bool reaches(uint64_t position, uint64_t size) {
    const bool fits =
        position <= bytes.size() && size <= bytes.size() - position;
    damaged |= !fits;
    return fits;
  }

private:
  std::span<const uint8_t> bytes;
  bool damaged = false;
};

/// A table, or none. Copies refer to the same buffer, which must outlive them.
class FlatTable {
public:
  FlatTable() = default;
  FlatTable(FlatBuffer &buffer, uint64_t position)
      : buffer(&buffer), position(position) {}

  bool has(int field) const { return find(field) != 0; }

  /// A number or struct, or `otherwise` where the table does not have it.
  template <typename T>
  T get(int field, T otherwise = {}) const {
    const uint64_t found = find(field);
    return found ? buffer->read<T>(found) : otherwise;
  }

  std::string getString(int field) const;
  FlatTable getTable(int field) const;
  std::vector<int64_t> getNumbers(int field) const;
  std::vector<FlatTable> getTables(int field) const;

  /// What a field that is an offset points to, as a number or struct.
  template <typename T>
  T getTarget(int field) const {
    const uint64_t found = follow(field);
    return found ? buffer->read<T>(found) : T{};
  }

private:
  /// The position of a field, or 0.
  uint64_t find(int field) const;
  /// The position that the offset in a field leads to, or 0.
  uint64_t follow(int field) const;
  /// The position of the first element of a vector, whose count is set.
  uint64_t getElements(int field, uint64_t elementSize, uint64_t &count) const;

  FlatBuffer *buffer = nullptr;
  uint64_t position = 0;
};

} // namespace tessera::hipdnn

#endif // TESSERA_CAPI_HIPDNN_FLATBUFFER_H
