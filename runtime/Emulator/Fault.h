//===- Fault.h - Why a kernel was stopped ----------------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_EMULATOR_FAULT_H
#define TESSERA_RUNTIME_EMULATOR_FAULT_H

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace tessera::emulator {

/// The kinds of faults and findings; each stands for a HIP error code.
enum class FaultKind : uint8_t {
  None,
  IllegalAddress, ///< Global, scratch or LDS access out of bounds.
  Misaligned,
  UnknownInstruction, ///< The emulator has no handler for the instruction.
  IllegalState,       ///< Undefined behaviour of the hardware, or s_trap.
  Watchdog,           ///< Too many instructions: probably an endless loop.
  // Findings of the checks in Check/.
  DivergentBarrier, ///< Not all waves and lanes of a group reach it.
  MissingWait,      ///< A load's register is used before it has arrived.
  Uninitialized,    ///< A value is used that nobody has written.
  Race,             ///< Unordered accesses to the same bytes, one a write.
};

/// Accesses of lanes beyond the end of LDS, where a launch lets them pass.
struct LdsOverruns {
  uint64_t loads = 0;  ///< that gave 0, atomic ones included
  uint64_t stores = 0; ///< that were dropped
};

/// Where a fault or finding was noticed, for tools that show more than the
/// message.
struct FaultSite {
  static constexpr uint32_t kNoInstruction = ~0u;
  struct Register {
    std::string name; ///< "v3", "s[4:5]"; one entry for each operand.
    std::vector<uint32_t> values; ///< The lane's values, dword by dword.
  };

  std::array<uint32_t, 3> group{};
  int wave = -1;        ///< In the group; -1 if no wave is meant.
  int lane = -1;        ///< -1 if no lane is meant.
  uint64_t address = 0; ///< An offset in LDS; 0 if there is none.
  std::string what;
  std::vector<Register> registers; ///< Their values when it was noticed.
};

/// The first fault of a launch, and the findings of its checks. Threads race to
/// set the fault; the text of the first one is kept, and the other threads stop
/// soon after, because they poll `isSet`. Findings stop no thread.
class Fault {
public:
  struct Finding {
    FaultKind kind;
    uint32_t instruction; ///< Index in the program, or kNoInstruction.
    std::string message;
    FaultSite site;
  };
  static constexpr size_t kMaxFindings = 20;

  bool isSet() const { return set.load(std::memory_order_relaxed); }
  /// Records a fault. Returns true for the first caller only.
  bool record(Finding finding) {
    std::lock_guard lock(mutex);
    if (set.load())
      return false;
    first = std::move(finding);
    set.store(true);
    return true;
  }
  /// Returns false if this instruction already has a finding of this kind, or
  /// there are kMaxFindings.
  bool isNew(FaultKind kind, uint32_t instruction) const {
    std::lock_guard lock(mutex);
    return isNewLocked(kind, instruction);
  }
  void add(FaultKind kind, uint32_t instruction, std::string message,
           FaultSite site = {}) {
    std::lock_guard lock(mutex);
    if (isNewLocked(kind, instruction))
      findings.push_back(
          {kind, instruction, std::move(message), std::move(site)});
  }
  // These may be read only when all waves have stopped.
  FaultKind getKind() const { return first.kind; }
  const std::string &getMessage() const { return first.message; }
  const Finding &getFirst() const { return first; }
  const std::vector<Finding> &getFindings() const { return findings; }

private:
  bool isNewLocked(FaultKind kind, uint32_t instruction) const {
    for (const Finding &finding : findings)
      if (finding.kind == kind && finding.instruction == instruction)
        return false;
    return findings.size() < kMaxFindings;
  }

  std::atomic<bool> set{false};
  mutable std::mutex mutex;
  std::vector<Finding> findings;
  Finding first{FaultKind::None, FaultSite::kNoInstruction, {}, {}};
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_FAULT_H
