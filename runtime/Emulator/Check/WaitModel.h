//===- WaitModel.h - Which memory operations have surely ended -*- C++ -*-===//
//
// The emulator does memory operations at once; hardware does them later, and
// only a wait on the right counter proves that one has ended. This follows the
// counters of one wave and says what is proved at each point. Checks of
// registers and of LDS stand on it.
//
// Operations that end in the order of issue share a queue. A counter may count
// several queues: gfx9's lgkmcnt counts LDS operations, which end in order, and
// scalar loads, which do not. At most N operations of a counter, and so of each
// of its queues, are left after a wait for N.
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
  Load,     ///< vmcnt, loadcnt; on gfx9 stores too.
  Store,    ///< vscnt, storecnt.
  Lds,      ///< lgkmcnt, dscnt.
  Scalar,   ///< lgkmcnt, kmcnt; in no order.
  FlatLoad, ///< gfx9: the vmcnt side of a flat access; in no order.
  FlatLds,  ///< gfx9: its lgkmcnt side; in no order.
};
inline constexpr unsigned kWaitQueues = 6;

/// What the counters have to do with an instruction.
struct WaitTraits {
  static constexpr uint8_t kNoLimit = 0xff;

  /// The queues that it enters, one bit each; a flat access enters two.
  uint8_t queues = 0;
  bool isLdsDma = false;
  /// Of a wait: how many of each queue's counter may be left.
  std::array<uint8_t, kWaitQueues> limit{kNoLimit, kNoLimit, kNoLimit,
                                         kNoLimit, kNoLimit, kNoLimit};

  bool enters(WaitQueue queue) const { return queues >> unsigned(queue) & 1; }
  /// ds_* and flat_*: whatever may touch LDS and is no direct-to-LDS load.
  bool isLds() const {
    return enters(WaitQueue::Lds) || enters(WaitQueue::FlatLds);
  }
};

/// The traits of a program's instructions, each worked out when it is first
/// asked for. For one thread.
class WaitTable {
public:
  WaitTable(const Chip &chip, const Program &program);
  const WaitTraits &get(const Instruction &instruction);

private:
  const Chip &chip;
  const Program &program;
  std::vector<WaitTraits> traits; ///< By Instruction::index.
  std::vector<bool> isKnown;
};

/// Names an operation for as long as its wave lives.
struct WaitTicket {
  uint8_t queues = 0;
  /// Its place in each queue that it entered.
  std::array<uint64_t, kWaitQueues> place{};
};

/// The counters of one wave.
class WaitModel {
public:
  explicit WaitModel(const Chip &chip) : chip(&chip) {}
  /// For a wave that starts.
  void reset() { *this = WaitModel(*chip); }

  /// Call once for each instruction, before its accesses are looked at: after
  /// the call a ds operation is number getIssuedLds() - 1, a direct-to-LDS load
  /// getIssuedDma() - 1.
  WaitTicket step(const WaitTraits &traits);

  uint64_t getIssuedLds() const { return issuedLds; }
  uint64_t getIssuedDma() const { return issuedDma; }
  /// Every LDS operation with a smaller number has ended for certain.
  uint64_t getCompletedLdsSequence() const;
  /// The same of direct-to-LDS loads.
  uint64_t getCompletedDmaSequence() const;

  bool isComplete(const WaitTicket &ticket) const {
    return getMissing(ticket) == 0;
  }
  /// The queues in which the operation may be pending, one bit each.
  uint8_t getMissing(const WaitTicket &ticket) const;
  /// "needs vmcnt(2) or less, but the last wait was vmcnt(5)".
  std::string describeMissing(const WaitTicket &ticket) const;

private:
  struct Queue {
    uint64_t issued = 0;
    uint64_t completed = 0; ///< All places below this one.
    uint8_t lastLimit = WaitTraits::kNoLimit;
  };
  /// More than any counter can count.
  static constexpr unsigned kRing = 64;

  bool isInOrder(unsigned queue) const;
  void wait(unsigned queue, unsigned limit);

  const Chip *chip;
  std::array<Queue, kWaitQueues> queues;
  uint64_t issuedLds = 0, issuedDma = 0;
  /// How many LDS operations, or direct-to-LDS loads, were issued before the
  /// entry at a place (modulo kRing) of its queue.
  std::array<uint64_t, kRing> ldsBefore{}, dmaBefore{};
  uint64_t ldsBeforeFlat = 0; ///< The same of the oldest pending flat access.
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_CHECK_WAITMODEL_H
