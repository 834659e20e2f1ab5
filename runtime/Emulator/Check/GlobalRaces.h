//===- GlobalRaces.h - Races between the groups of a launch ----*- C++ -*-===//
//
// Two groups that touch the same bytes of global memory, one of them writing,
// need an order that they can only make themselves (GroupOrder.h). Who of them
// ran first here says nothing.
//
// Left alone on purpose: writes of the value that is there already (flags that
// several groups set), and whatever one group does by itself.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_CHECK_GLOBALRACES_H
#define TESSERA_RUNTIME_EMULATOR_CHECK_GLOBALRACES_H

#include "runtime/Emulator/Check/GlobalShadow.h"
#include "runtime/Emulator/Check/GroupOrder.h"
#include "runtime/Emulator/Check/Observer.h"
#include "runtime/Emulator/Wave.h"

#include <optional>
#include <shared_mutex>
#include <unordered_set>

namespace tessera::emulator {

/// What the checkers of a launch's workers share.
struct GlobalRaceState {
  explicit GlobalRaceState(std::array<uint32_t, 3> groups) : groups(groups) {}

  std::array<uint32_t, 3> groups; ///< Of the launch.
  /// Held from before a memory instruction until it is recorded, alone by
  /// those that write: what a load saw and what the shadow says then agree.
  std::shared_mutex effects;
  std::mutex turn; ///< Held while asking for `effects`: writers get it too.
  GlobalShadow shadow;
  GroupOrder order;
};

class GlobalRaceChecker : public Observer {
public:
  GlobalRaceChecker(GlobalRaceState &state, const Chip &chip,
                    const Program &program);

  void onGroupStart(GroupContext &, std::span<Wave *const> waves) override;
  void beforeInstruction(Wave &, const Instruction &) override;
  void onAccesses(Wave &, const Instruction &,
                  std::span<const MemoryAccess>) override;
  void afterInstruction(Wave &, const Instruction &) override;

private:
  using Record = GlobalShadow::Record;
  using Cell = GlobalShadow::Cell;

  bool isCoherent(const Instruction &instruction);
  GlobalShadow::Page *getPage(const Wave &, uint64_t address);
  void checkDword(Wave &, const Instruction &, const MemoryAccess &, Cell &,
                  uint64_t dwordAddress, uint8_t bytes);
  void reportRace(Wave &, const Instruction &, const MemoryAccess &,
                  const Record &other, uint8_t otherFlags, bool otherWrites);

  GlobalRaceState &state;
  const Program &program;
  /// Whether atomic stores of agent scope differ from plain ones: by sc1 or a
  /// scope. Elsewhere either may give back a lock that others are asking for
  /// by atomics.
  bool showsAtomicStores;
  enum class Coherence : uint8_t { Unknown, No, Yes };
  std::vector<Coherence> coherence; ///< By Instruction::index.
  bool isCoherentNow = false;

  uint32_t group = 0;
  uint64_t time = 0; ///< Instructions of the group that have written.
  std::optional<GroupKnowledge> knowledge;
  std::shared_lock<std::shared_mutex> reading;
  std::unique_lock<std::shared_mutex> writing;

  /// The pages that were used last, by the low bits of their numbers.
  struct KnownPage {
    uint64_t number = ~uint64_t(0);
    GlobalShadow::Page *page = nullptr;
  };
  std::array<KnownPage, 64> knownPages;
  std::unordered_set<uint32_t> told; ///< Instructions with a finding.
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_CHECK_GLOBALRACES_H
