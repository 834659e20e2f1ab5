//===- LineTable.h - A value for each of many lines ------------*- C++ -*--===//
//
// A hash table with open addressing: the replay asks for millions of lines, for
// which std::unordered_map takes most of the host's time.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_TIME_LINETABLE_H
#define TESSERA_RUNTIME_EMULATOR_TIME_LINETABLE_H

#include <cstdint>
#include <utility>
#include <vector>

namespace tessera::emulator {

template <typename Value>
class LineTable {
public:
  LineTable() : slots(1024) {}

  /// The value of the line; a new one is value-initialised, and `isNew` set.
  Value &get(uint64_t line, bool *isNew = nullptr) {
    if (count * 2 > slots.size())
      grow();
    Slot &slot = slots[findSlot(line)];
    if (isNew)
      *isNew = slot.line == kNone;
    if (slot.line == kNone) {
      slot.line = line;
      ++count;
    }
    return slot.value;
  }
  /// Null if the line has no value.
  const Value *find(uint64_t line) const {
    const Slot &slot = slots[findSlot(line)];
    return slot.line == kNone ? nullptr : &slot.value;
  }

private:
  static constexpr uint64_t kNone = ~uint64_t(0);
  struct Slot {
    uint64_t line = kNone;
    Value value{};
  };

  size_t findSlot(uint64_t line) const {
    size_t i = (line * 0x9e3779b97f4a7c15 >> 20) & (slots.size() - 1);
    while (slots[i].line != kNone && slots[i].line != line)
      i = (i + 1) & (slots.size() - 1);
    return i;
  }
  void grow() {
    std::vector<Slot> old(slots.size() * 2);
    std::swap(old, slots);
    for (const Slot &slot : old)
      if (slot.line != kNone)
        slots[findSlot(slot.line)] = slot;
  }

  std::vector<Slot> slots; ///< a power of two of them, at most half full
  size_t count = 0;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_TIME_LINETABLE_H
