//===- LdsChecker.h - Races and unwritten bytes in LDS ---------*- C++ -*-===//
//
// Races are found by what is ordered with what and not by what happened to go
// wrong, so it does not matter in which order the emulator ran the waves.
// Order among waves comes from barriers, as far as an operation was complete
// when its wave came to the barrier, and from LDS atomics on one address.
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
  /// Of one wave's operations, in its own two counts: the first that is not
  /// meant.
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
  /// By wave: which of its operations are known to have been done.
  using Knowledge = std::vector<Times>;
  struct WaveState {
    explicit WaveState(const Chip &chip) : model(chip) {}
    /// Of all that it has issued, and of what its waits have shown to be done.
    Times getIssued() const {
      return {model.getIssuedLds(), model.getIssuedDma()};
    }
    Times getComplete() const {
      return {model.getCompletedLdsSequence(), model.getCompletedDmaSequence()};
    }
    /// Comes to a barrier, or signals that it has.
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
  /// A read of what nobody has written yet. If somebody does before the next
  /// barrier, it was a race.
  struct Unwritten {
    Wave *wave;
    const Instruction *instruction;
    bool isAtomic; ///< Then others may write without a race.
    uint32_t dword;
    uint8_t bytes;
    FaultSite site; ///< With the registers of that time.
  };

  void acquire(WaveState &wave, const MemoryAccess &access);
  void release(const Wave &wave, const MemoryAccess &access);
  void checkDword(Wave &, const Instruction &, const MemoryAccess &,
                  uint32_t dword, uint8_t bytes);
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
  /// By Instruction::index, for gfx12: where a wave comes to a barrier for
  /// which it waits later.
  std::vector<bool> isSignal;
  bool findRaces, findUnwritten;
  std::vector<WaveState> states;
  std::vector<Cell> cells;      ///< By dword of LDS.
  std::vector<uint8_t> written; ///< By dword: one bit a byte.
  /// By dword of LDS: what the waves that did an atomic there had known.
  std::unordered_map<uint32_t, Knowledge> published;
  std::vector<Unwritten> unwritten;
  std::unordered_set<uint64_t> told; ///< Findings that need no second text.
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_CHECK_LDSCHECKER_H
