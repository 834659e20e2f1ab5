//===- LdsChecker.h - Races and unwritten bytes in LDS ---------*- C++ -*--===//
//
// A race is found by the order that the kernel establishes and not by a wrong
// value, so it does not matter in which order the emulator ran the waves. Waves
// are ordered by barriers, as far as an operation was complete when its wave
// came to the barrier, and by LDS atomics on the same address.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_CHECK_LDSCHECKER_H
#define TESSERA_RUNTIME_EMULATOR_CHECK_LDSCHECKER_H

#include "runtime/Emulator/Check/Observer.h"
#include "runtime/Emulator/Check/ShadowCell.h"
#include "runtime/Emulator/Check/WaitModel.h"
#include "runtime/Emulator/Wave.h"

#include <unordered_map>
#include <unordered_set>

namespace tessera::emulator {

class LdsChecker : public Observer {
public:
  LdsChecker(const Chip &chip, const Program &program, bool findRaces,
             bool findUnwritten);

  void onGroupStart(GroupContext &, std::span<Wave *const> waves) override;
  void beforeInstruction(Wave &, const Instruction &) override;
  void onAccesses(Wave &, const Instruction &,
                  std::span<const MemoryAccess>) override;
  void onBarrier(GroupContext &, std::span<Wave *const> waves) override;
  void onGroupEnd(GroupContext &, std::span<Wave *const> waves) override;

private:
  using Record = ShadowRecord<6>;
  using Cell = ShadowCell<Record>;
  /// Bounds on the operations of one wave, in its two separate counts: the
  /// number of the first operation that is not included.
  struct Times {
    uint64_t lds = 0;
    uint64_t dma = 0;
    void advanceTo(const Times &other) {
      lds = std::max(lds, other.lds);
      dma = std::max(dma, other.dma);
    }
    bool cover(const Record &record, uint8_t flags) const {
      return record.getTime() < (flags & kShadowDma ? dma : lds);
    }
  };
  /// Which operations of each wave are known to be complete.
  using Knowledge = std::vector<Times>;
  struct WaveState {
    explicit WaveState(const Chip &chip) : model(chip) {}
    /// The operations that the wave has issued, and those that its waits have
    /// proved to be complete.
    Times getIssued() const {
      return {model.getIssuedLds(), model.getIssuedDma()};
    }
    Times getComplete() const {
      return {model.getCompletedLdsSequence(), model.getCompletedDmaSequence()};
    }
    /// Called when the wave comes to a barrier or signals it.
    void arrive() {
      hasArrived = true;
      issuedAtArrival = getIssued();
      doneAtArrival = getComplete();
    }
    WaitModel model;
    bool hasArrived = false;
    Times issuedAtArrival, doneAtArrival;
    Times atBarrier; ///< Issued when it came to the last barrier that opened.
    Knowledge known; ///< Of the other waves.
  };
  /// A read of bytes that nobody has written yet. If another wave writes them
  /// before the next barrier, the read was a race.
  struct Unwritten {
    Wave *wave;
    const Instruction *instruction;
    bool isAtomic; ///< If so, later writes by others are no races.
    uint32_t dword;
    uint8_t bytes;
    FaultSite site; ///< With the registers as they were at the read.
  };

  void acquire(WaveState &wave, const MemoryAccess &access);
  void release(const Wave &wave, const MemoryAccess &access);
  uint8_t getFlags(const Wave &, const Instruction &,
                   const MemoryAccess &) const;
  /// `flags` has the bytes of the dword, too.
  void checkDword(Wave &, const Instruction &, const MemoryAccess &,
                  const Record &mine, uint32_t dword, uint8_t flags);
  void checkArrived(Wave &, const Instruction &, const MemoryAccess &,
                    const Cell &, uint8_t bytes);
  void reportRace(Wave &, const Instruction &, const MemoryAccess &,
                  const Record &other, uint8_t otherFlags, bool otherWrites);
  void checkWritten(Wave &, const Instruction &, const MemoryAccess &,
                    uint32_t dword, uint8_t bytes);
  bool isWrittenByOthers(const Unwritten &read) const;
  void reportUnwritten();
  bool isNew(FaultKind kind, const Instruction &instruction);

  const Chip &chip;
  WaitTable waits;
  /// By Instruction::index; true for a gfx12 instruction at which a wave
  /// signals a barrier that it waits for later.
  std::vector<bool> isSignal;
  bool findRaces, findUnwritten;
  std::vector<WaveState> states;
  std::vector<Cell> cells;      ///< by dword of LDS
  std::vector<uint8_t> written; ///< one bit a byte, by dword
  /// By dword of LDS: what the waves that performed an atomic there knew.
  std::unordered_map<uint32_t, Knowledge> published;
  std::vector<Unwritten> unwritten;
  std::unordered_set<uint64_t> reported; ///< Findings that have been reported.
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_CHECK_LDSCHECKER_H
