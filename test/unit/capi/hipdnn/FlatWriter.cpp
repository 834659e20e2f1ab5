//===- FlatWriter.cpp - FlatBuffers for tests -----------------------------===//

#include "test/unit/capi/hipdnn/FlatWriter.h"

using namespace tessera::test;

namespace {
class Writer {
public:
  std::vector<uint8_t> bytes = std::vector<uint8_t>(4);

  /// Offsets count from where they are.
  void point(size_t from, size_t to) {
    put(from, static_cast<uint32_t>(to - from));
  }
  size_t writeTable(const FlatFields &table);

private:
  template <typename T>
  void put(size_t position, T value) {
    std::memcpy(bytes.data() + position, &value, sizeof value);
  }
  void align(size_t size) {
    while (bytes.size() % size)
      bytes.push_back(0);
  }
  size_t grow(size_t size) {
    bytes.resize(bytes.size() + size);
    return bytes.size() - size;
  }
  /// Writes what a field points to.
  size_t writeTarget(const FlatField &field);
  size_t writeList(const std::vector<FlatFields> &tables);
};
} // namespace

static size_t getInlineSize(const FlatField &field) {
  const auto *number = std::get_if<FlatNumber>(&field);
  return number ? number->bytes.size() : sizeof(uint32_t);
}

size_t Writer::writeTable(const FlatFields &table) {
  const int count = table.fields.empty() ? 0 : table.fields.rbegin()->first + 1;
  align(2);
  const size_t list = grow(sizeof(uint16_t) * (2 + count));
  align(8);
  const size_t begin = grow(sizeof(int32_t));
  put(begin, static_cast<int32_t>(begin - list));
  std::map<int, size_t> positions;
  for (const auto &[number, field] : table.fields) {
    align(getInlineSize(field));
    positions[number] = grow(getInlineSize(field));
    put(list + sizeof(uint16_t) * (2 + number),
        static_cast<uint16_t>(positions[number] - begin));
    if (const auto *value = std::get_if<FlatNumber>(&field))
      std::memcpy(bytes.data() + positions[number], value->bytes.data(),
                  value->bytes.size());
  }
  put(list, static_cast<uint16_t>(sizeof(uint16_t) * (2 + count)));
  put(list + sizeof(uint16_t), static_cast<uint16_t>(bytes.size() - begin));
  for (const auto &[number, field] : table.fields)
    if (!std::holds_alternative<FlatNumber>(field))
      point(positions[number], writeTarget(field));
  return begin;
}

size_t Writer::writeTarget(const FlatField &field) {
  if (const auto *value = std::get_if<FlatStruct>(&field)) {
    align(8);
    const size_t begin = grow(value->number.bytes.size());
    std::memcpy(bytes.data() + begin, value->number.bytes.data(),
                value->number.bytes.size());
    return begin;
  }
  if (const auto *text = std::get_if<std::string>(&field)) {
    align(4);
    const size_t begin = grow(sizeof(uint32_t) + text->size() + 1);
    put(begin, static_cast<uint32_t>(text->size()));
    std::memcpy(bytes.data() + begin + sizeof(uint32_t), text->data(),
                text->size());
    return begin;
  }
  if (const auto *numbers = std::get_if<std::vector<int64_t>>(&field)) {
    align(8);
    grow(sizeof(uint32_t)); // So that the elements are aligned.
    const size_t begin =
        grow(sizeof(uint32_t) + sizeof(int64_t) * numbers->size());
    put(begin, static_cast<uint32_t>(numbers->size()));
    if (!numbers->empty())
      std::memcpy(bytes.data() + begin + sizeof(uint32_t), numbers->data(),
                  sizeof(int64_t) * numbers->size());
    return begin;
  }
  const auto &tables = std::get<std::vector<FlatFields>>(field);
  if (tables.size() == 1 && !tables[0].isList)
    return writeTable(tables[0]);
  return writeList(tables);
}

size_t Writer::writeList(const std::vector<FlatFields> &tables) {
  align(4);
  const size_t begin = grow(sizeof(uint32_t) * (1 + tables.size()));
  put(begin, static_cast<uint32_t>(tables.size()));
  for (size_t i = 0; i < tables.size(); ++i)
    point(begin + sizeof(uint32_t) * (1 + i), writeTable(tables[i]));
  return begin;
}

std::vector<uint8_t> tessera::test::writeFlatBuffer(const FlatFields &root) {
  Writer writer;
  writer.point(0, writer.writeTable(root));
  return writer.bytes;
}
