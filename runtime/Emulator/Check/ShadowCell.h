//===- ShadowCell.h - Who touched a dword last -----------------*- C++ -*--===//
//
// For each dword of memory, the race checks remember its last writers and
// readers: which wave or group, at which of its times, and by which
// instruction. The cell does not know which accesses are ordered; the checks
// that use it do.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_CHECK_SHADOWCELL_H
#define TESSERA_RUNTIME_EMULATOR_CHECK_SHADOWCELL_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace tessera::emulator {

/// One access, as the cell remembers it. `ActorBits` hold the number of the
/// wave or group; the rest holds its time.
template <unsigned ActorBits>
class ShadowRecord {
  static constexpr unsigned kInstructionBits = 20;
  static constexpr unsigned kTimeBits = 64 - kInstructionBits - ActorBits;

public:
  static constexpr uint64_t kMaxActor = (uint64_t(1) << ActorBits) - 1;
  static constexpr uint64_t kMaxTime = (uint64_t(1) << kTimeBits) - 1;
  static constexpr uint32_t kMaxInstruction = (1u << kInstructionBits) - 1;

  ShadowRecord() = default;
  ShadowRecord(uint64_t actor, uint64_t time, uint32_t instruction)
      : bits(actor << (kTimeBits + kInstructionBits) |
             time << kInstructionBits |
             std::min(instruction, kMaxInstruction)) {}
  uint32_t getActor() const {
    return static_cast<uint32_t>(bits >> (kTimeBits + kInstructionBits));
  }
  uint64_t getTime() const { return bits >> kInstructionBits & kMaxTime; }
  uint32_t getInstruction() const { return bits & kMaxInstruction; }
  bool operator==(const ShadowRecord &) const = default;

private:
  uint64_t bits = 0;
};

/// The bytes of the dword that an access touches, and its kind.
enum ShadowFlag : uint8_t {
  kShadowBytes = 0xf, ///< One bit a byte; none in an empty slot.
  kShadowAtomic = 0x10,
  kShadowDma = 0x20, ///< A direct-to-LDS load, which is counted separately.
  /// A compare-and-swap. The loop around it begins with an ordinary load, as in
  /// LLVM AtomicExpand's expansion of a float add, and detects a stale value by
  /// itself, so the two are no race.
  kShadowCompareSwap = 0x40,
};

/// Two writers and two readers are remembered, so that two writers of different
/// bytes fit, and two readers, of which a later writer can be at most one. What
/// does not fit is forgotten; this can hide a race but never reports a false
/// one.
template <typename Record>
struct ShadowCell {
  std::array<Record, 2> writer;
  std::array<Record, 2> reader;
  std::array<uint8_t, 2> writerFlags{};
  std::array<uint8_t, 2> readerFlags{};
  uint32_t value = 0; ///< After the last write, if the checker stores it.

  /// Calls `conflict(record, flags, isWrite)` for each remembered access that
  /// conflicts with this one: it touches the same bytes, is by another actor,
  /// one of the two is a write, they are not both atomic, and they are not a
  /// compare-and-swap and the load that may belong to it.
  template <typename Conflict>
  [[gnu::always_inline]] void findConflicts(const Record &mine, uint8_t flags,
                                            bool isWrite,
                                            const Conflict &conflict) const {
    const auto look = [&](const Record &record, uint8_t theirs,
                          bool theyWrite) __attribute__((always_inline)) {
      uint8_t common = theirs & flags;
      if (isWrite != theyWrite &&
          ((isWrite ? flags : theirs) & kShadowCompareSwap))
        return;
      if ((common & kShadowBytes) && !(common & kShadowAtomic) &&
          record.getActor() != mine.getActor())
        conflict(record, theirs, theyWrite);
    };
    for (unsigned i = 0; i < 2; ++i)
      look(writer[i], writerFlags[i], true);
    if (isWrite)
      for (unsigned i = 0; i < 2; ++i)
        look(reader[i], readerFlags[i], false);
  }

  /// Whether the last read is this one: another lane of the same instruction
  /// has touched these bytes.
  bool hasRead(const Record &mine, uint8_t flags) const {
    return reader[0] == mine && !(flags & ~readerFlags[0]);
  }
  bool wasWritten() const { return writerFlags[0] | writerFlags[1]; }

  void addRead(const Record &mine, uint8_t flags) {
    push(reader, readerFlags, mine, flags,
         reader[0].getActor() == mine.getActor());
  }

  /// Forgets the accesses whose bytes this write overwrites: whatever is
  /// ordered after this write is ordered after them, too.
  void addWrite(const Record &mine, uint8_t flags) {
    for (unsigned i = 0; i < 2; ++i)
      if (!(readerFlags[i] & kShadowBytes & ~flags))
        readerFlags[i] = 0;
    bool replaces = !(writerFlags[0] & kShadowBytes & ~flags);
    if (replaces && !(writerFlags[1] & kShadowBytes & ~flags))
      writerFlags[1] = 0;
    push(writer, writerFlags, mine, flags, replaces);
  }

private:
  /// Stores into the first slot and moves its old content to the second, unless
  /// `replaces`.
  static void push(std::array<Record, 2> &records,
                   std::array<uint8_t, 2> &flags, const Record &mine,
                   uint8_t mineFlags, bool replaces) {
    if (records[0] == mine) {
      flags[0] |= mineFlags;
      return;
    }
    if (!replaces && flags[0]) {
      records[1] = records[0];
      flags[1] = flags[0];
    }
    records[0] = mine;
    flags[0] = mineFlags;
  }
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_CHECK_SHADOWCELL_H
