//===- FlatBuffer.cpp - Tables of a FlatBuffer, read safely ---------------===//

#include "capi/hipdnn/FlatBuffer.h"

#include <algorithm>

using namespace tessera::hipdnn;

FlatTable FlatBuffer::getRoot() { return FlatTable(*this, read<uint32_t>(0)); }

/// More dimensions than any tensor has. All tables of a small buffer may share
/// one long vector, which must not become long vectors for all of them.
static constexpr uint64_t kMostNumbers = 64;

uint64_t FlatTable::find(int field) const {
  if (!buffer)
    return 0;
  // The list of offsets lies before or behind the table.
  const auto list = static_cast<uint64_t>(static_cast<int64_t>(position) -
                                          buffer->read<int32_t>(position));
  const uint64_t entry = sizeof(uint16_t) * (2 + static_cast<uint64_t>(field));
  if (entry + sizeof(uint16_t) > buffer->read<uint16_t>(list))
    return 0; // Written by a release that did not have the field.
  const uint16_t offset = buffer->read<uint16_t>(list + entry);
  return offset ? position + offset : 0;
}

uint64_t FlatTable::follow(int field) const {
  const uint64_t found = find(field);
  if (!found)
    return 0;
  return found + buffer->read<uint32_t>(found);
}

uint64_t FlatTable::getElements(int field, uint64_t elementSize,
                                uint64_t &count) const {
  const uint64_t found = follow(field);
  count = found ? buffer->read<uint32_t>(found) : 0;
  const uint64_t first = found + sizeof(uint32_t);
  if (count && !buffer->reaches(first, count * elementSize))
    count = 0;
  return first;
}

std::string FlatTable::getString(int field) const {
  // Names are for messages, which need no more of them.
  constexpr uint64_t kLongest = 128;
  uint64_t count;
  const uint64_t first = getElements(field, 1, count);
  count = std::min(count, kLongest);
  std::string text(count, '\0');
  for (uint64_t i = 0; i < count; ++i)
    text[i] = buffer->read<char>(first + i);
  return text;
}

FlatTable FlatTable::getTable(int field) const {
  const uint64_t found = follow(field);
  return found ? FlatTable(*buffer, found) : FlatTable();
}

std::vector<int64_t> FlatTable::getNumbers(int field) const {
  uint64_t count;
  const uint64_t first = getElements(field, sizeof(int64_t), count);
  count = std::min(count, kMostNumbers);
  std::vector<int64_t> numbers(count);
  for (uint64_t i = 0; i < count; ++i)
    numbers[i] = buffer->read<int64_t>(first + i * sizeof(int64_t));
  return numbers;
}

std::vector<FlatTable> FlatTable::getTables(int field) const {
  uint64_t count;
  const uint64_t first = getElements(field, sizeof(uint32_t), count);
  std::vector<FlatTable> tables;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t found = first + i * sizeof(uint32_t);
    tables.emplace_back(*buffer, found + buffer->read<uint32_t>(found));
  }
  return tables;
}
