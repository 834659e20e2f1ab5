//===- Observer.h - What watches a workgroup run ---------------*- C++ -*--===//
//
// A check, a trace or an expensive measurement is an observer. A launch without
// one pays a test of a null pointer for each memory access and nothing else:
// handlers may take shortcuts as long as GroupContext::observers is null.
// Observers that need only barriers do not slow instructions down.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_CHECK_OBSERVER_H
#define TESSERA_RUNTIME_EMULATOR_CHECK_OBSERVER_H

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tessera::emulator {

struct GroupContext;
struct Instruction;
struct Wave;

enum class MemorySpace : uint8_t { Global, Lds, Scratch };
enum class AccessKind : uint8_t { Load, Store, Atomic };

/// An access of one lane to memory that has passed the check of bounds.
struct MemoryAccess {
  MemorySpace space;
  AccessKind kind;
  /// Zero for scalar accesses.
  uint8_t lane;
  /// True for direct-to-LDS loads, whose values arrive when vmcnt says so.
  bool isLdsDma;
  uint32_t bytes;
  /// An offset in LDS; a pointer in the other memory spaces.
  uint64_t address;
};

/// The accesses of one instruction. Keeps its memory when it is cleared.
class AccessList {
public:
  [[gnu::always_inline]] void add(const MemoryAccess &access) {
    if (count == list.size()) [[unlikely]]
      grow();
    list[count++] = access;
  }
  void clear() { count = 0; }
  std::span<const MemoryAccess> get() const { return {list.data(), count}; }

private:
  [[gnu::noinline]] void grow() { list.resize(2 * count + 64); }

  std::vector<MemoryAccess> list;
  size_t count = 0;
};

/// Used by one host thread for one group after another.
class Observer {
public:
  virtual ~Observer() = default;
  /// Called when the waves are initialised and none has run.
  virtual void onGroupStart(GroupContext &, std::span<Wave *const>) {}
  /// Called before the instruction runs: its sources have the values that it
  /// will read.
  virtual void beforeInstruction(Wave &, const Instruction &) {}
  /// Called after one instruction with its memory accesses in the order in
  /// which they happened, so memory holds what was stored. The access that
  /// faulted and those out of a buffer descriptor's range are left out.
  virtual void onAccesses(Wave &, const Instruction &,
                          std::span<const MemoryAccess>) {}
  virtual void afterInstruction(Wave &, const Instruction &) {}
  /// Called when every wave that has not ended has arrived and none has
  /// continued.
  virtual void onBarrier(GroupContext &, std::span<Wave *const>) {}
  virtual void onGroupEnd(GroupContext &, std::span<Wave *const>) {}
  /// False when the observer has seen enough of this wave. Once all observers
  /// of every instruction have, the rest of the wave runs unobserved; barriers
  /// and the end of the group are still told. Asked now and then.
  virtual bool wantsMore(const Wave &) const { return true; }
  /// False when nothing of the rest of the group matters to the observer. Where
  /// all observers of every instruction say so, the group ends there, with
  /// onGroupEnd and without what it would still have done. Asked now and then.
  virtual bool wantsGroup(std::span<Wave *const>) const { return true; }
};

using ObserverList = std::vector<std::unique_ptr<Observer>>;

/// The observers of one worker thread's groups.
struct Observers {
  ObserverList everything;
  /// Called only at the start and end of groups and at barriers.
  ObserverList barriers;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_CHECK_OBSERVER_H
