//===- GlobalRaces.h - Races between the groups of a launch ----*- C++ -*--===//
//
// Two groups that touch the same bytes of global memory, one of them writing,
// need an order that only they themselves can establish (GroupOrder.h). The
// order in which the emulator happened to run them says nothing.
//
// Two cases are deliberately not reported: writes of the value that is there
// already, such as a flag that several groups set, and whatever one group does
// by itself.
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

/// What the checkers of all worker threads of a launch share.
struct GlobalRaceState {
  explicit GlobalRaceState(std::array<uint32_t, 3> groups) : groups(groups) {}

  std::array<uint32_t, 3> groups; ///< The launch's grid.
  /// Held from before a memory instruction until it has been recorded,
  /// exclusively for instructions that write, so that what a load read agrees
  /// with what the shadow says.
  std::shared_mutex effects;
  /// Held while acquiring `effects`, so that readers cannot starve a writer.
  std::mutex turnstile;
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
  /// Whether atomic stores of agent scope can be told from plain ones, by sc1
  /// or a scope. On other chips either may release a lock that others acquire
  /// by atomics.
  bool showsAtomicStores;
  enum class Coherence : uint8_t { Unknown, No, Yes };
  std::vector<Coherence> coherence; ///< by Instruction::index
  bool isCoherentNow = false;

  uint32_t group = 0;
  uint64_t time = 0; ///< Instructions of the group that wrote.
  std::optional<GroupKnowledge> knowledge;
  std::shared_lock<std::shared_mutex> reading;
  std::unique_lock<std::shared_mutex> writing;

  /// A cache of recently used pages, indexed by the low bits of their numbers.
  struct KnownPage {
    uint64_t number = ~uint64_t(0);
    GlobalShadow::Page *page = nullptr;
  };
  std::array<KnownPage, 64> knownPages;
  std::unordered_set<uint32_t> reported; ///< Instructions with a finding.
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_CHECK_GLOBALRACES_H
