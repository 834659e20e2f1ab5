//===- WaitModel.h - Which memory operations have surely ended -*- C++ -*--===//
//
// The emulator performs memory operations at once. The hardware performs them
// later, and only a wait on the right counter proves that one has completed.
// This models the counters of one wave and says what is proved at each point.
// The checks of registers and of LDS are built on it.
//
// Operations that complete in the order of issue share a queue. A counter may
// count several queues: gfx9's lgkmcnt counts LDS operations, which complete in
// order, and scalar loads, which do not. After a wait for N at most N
// operations of a counter, and so of each of its queues, are outstanding.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_CHECK_WAITMODEL_H
#define TESSERA_RUNTIME_EMULATOR_CHECK_WAITMODEL_H

#include "runtime/Emulator/Chip.h"
#include "runtime/Emulator/Decode/Program.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace tessera::emulator {

enum class WaitQueue : uint8_t {
  Load,     ///< vmcnt, loadcnt; on gfx9 stores, too
  Store,    ///< vscnt, storecnt
  Lds,      ///< lgkmcnt, dscnt
  Scalar,   ///< lgkmcnt, kmcnt; unordered
  FlatLoad, ///< gfx9: flat accesses in vmcnt; unordered
  FlatLds,  ///< gfx9: flat accesses in lgkmcnt; unordered
};
inline constexpr unsigned kWaitQueues = 6;

/// How an instruction affects the counters.
struct WaitTraits {
  static constexpr uint8_t kNoLimit = 0xff;

  /// The queues that it enters, one bit each. A flat access enters two.
  uint8_t queues = 0;
  bool isLdsDma = false;
  /// For a wait: how many operations of each queue's counter may remain.
  std::array<uint8_t, kWaitQueues> limit{kNoLimit, kNoLimit, kNoLimit,
                                         kNoLimit, kNoLimit, kNoLimit};

  bool enters(WaitQueue queue) const { return queues >> unsigned(queue) & 1; }
  /// True for ds_* and flat_*: whatever may touch LDS and is not a
  /// direct-to-LDS load.
  bool isLds() const {
    return enters(WaitQueue::Lds) || enters(WaitQueue::FlatLds);
  }
};

/// The traits of a program's instructions, each computed when it is first
/// needed. Used by one thread.
class WaitTable {
public:
  WaitTable(const Chip &chip, const Program &program);
  const WaitTraits &get(const Instruction &instruction);

private:
  const Chip &chip;
  const Program &program;
  std::vector<WaitTraits> traits; ///< by Instruction::index
  std::vector<bool> isKnown;
};

/// Identifies an operation during the lifetime of its wave.
struct WaitTicket {
  uint8_t queues = 0;
  /// The operation's number in each queue that it entered.
  std::array<uint64_t, kWaitQueues> number{};
};

/// The counters of one wave.
class WaitModel {
public:
  explicit WaitModel(const Chip &chip) : chip(&chip) {}
  /// Starts over for a new wave.
  void reset() { *this = WaitModel(*chip); }

  /// Must be called once for each instruction, before its accesses are looked
  /// at: after the call a ds operation has number getIssuedLds() - 1, a
  /// direct-to-LDS load getIssuedDma() - 1.
  WaitTicket step(const WaitTraits &traits);

  uint64_t getIssuedLds() const { return issuedLds; }
  uint64_t getIssuedDma() const { return issuedDma; }
  /// Every LDS operation with a smaller number has certainly completed.
  uint64_t getCompletedLdsSequence() const;
  /// Every direct-to-LDS load with a smaller number has certainly completed.
  uint64_t getCompletedDmaSequence() const;

  bool isComplete(const WaitTicket &ticket) const {
    return getMissing(ticket) == 0;
  }
  /// The queues in which the operation may be pending, one bit each.
  uint8_t getMissing(const WaitTicket &ticket) const;
  /// Returns "needs vmcnt(2) or less, but the last wait was vmcnt(5)".
  std::string describeMissing(const WaitTicket &ticket) const;

private:
  struct Queue {
    uint64_t issued = 0;
    uint64_t completed = 0; ///< All operations with smaller numbers.
    uint8_t lastLimit = WaitTraits::kNoLimit;
  };
  /// Slots of the circular buffers below: more than any counter can count.
  static constexpr unsigned kSlots = 64;

  bool isInOrder(unsigned queue) const;
  void wait(unsigned queue, unsigned limit);

  const Chip *chip;
  std::array<Queue, kWaitQueues> queues;
  uint64_t issuedLds = 0, issuedDma = 0;
  /// How many LDS operations, or direct-to-LDS loads, were issued before an
  /// operation, by its number in its queue modulo kSlots.
  std::array<uint64_t, kSlots> ldsBefore{}, dmaBefore{};
  uint64_t ldsBeforeFlat = 0; ///< For the oldest pending flat access.
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_CHECK_WAITMODEL_H
