//===- Observer.h - What watches a workgroup run ---------------*- C++ -*-===//
//
// A check, a trace or a costly measurement is an observer. A launch without
// one pays a test of a null pointer for each memory access and nothing else:
// handlers may take shortcuts as long as GroupContext::observers is null.
// Observers that care for barriers only do not slow instructions down.
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

/// What one lane does to memory, after it was found to be in bounds.
struct MemoryAccess {
  MemorySpace space;
  AccessKind kind;
  /// Scalar accesses are lane 0's.
  uint8_t lane;
  /// By direct-to-LDS loads: the value arrives when vmcnt says so.
  bool isLdsDma;
  uint32_t bytes;
  /// An offset in LDS, a pointer otherwise.
  uint64_t address;
};

/// Lives on one host thread, as the groups that it sees one after another.
class Observer {
public:
  virtual ~Observer() = default;
  /// Waves are initialised, none has run.
  virtual void onGroupStart(GroupContext &, std::span<Wave *const>) {}
  /// Before the instruction runs: its sources are as it will read them.
  virtual void beforeInstruction(Wave &, const Instruction &) {}
  /// All that one instruction did to memory, in the order of doing, after it
  /// was done: memory holds what was stored. Without the access that faulted,
  /// if one did, and those that a buffer descriptor turned away.
  virtual void onAccesses(Wave &, const Instruction &,
                          std::span<const MemoryAccess>) {}
  virtual void afterInstruction(Wave &, const Instruction &) {}
  /// Every wave that has not ended has arrived; none has gone on yet.
  virtual void onBarrier(GroupContext &, std::span<Wave *const>) {}
  virtual void onGroupEnd(GroupContext &, std::span<Wave *const>) {}
};

using ObserverList = std::vector<std::unique_ptr<Observer>>;

/// What watches one worker's groups.
struct Observers {
  ObserverList everything;
  /// Called at the start and end of groups and at barriers only.
  ObserverList barriers;
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_CHECK_OBSERVER_H
