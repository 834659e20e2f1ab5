//===- GroupOrder.h - Which workgroup knows of which -----------*- C++ -*-===//
//
// Workgroups of a launch have no order but the one that they make themselves:
// whoever does an atomic, or a load that bypasses the caches of its compute
// unit, where another group has written knows all that this group had done by
// then, and what it knew.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_EMULATOR_CHECK_GROUPORDER_H
#define TESSERA_RUNTIME_EMULATOR_CHECK_GROUPORDER_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tessera::emulator {

/// What all groups of a launch have published. The caller sees to it that no
/// two threads publish at once, nor one while others ask.
class GroupOrder {
public:
  struct Release;
  /// All that `group` had done at its time `time`, and what it knew then.
  struct Source {
    uint32_t group;
    uint64_t time;
    const Release *knowing; ///< Null if it knew of nobody.
  };
  /// What a group knew from `time` on.
  struct Release {
    uint64_t time;
    std::vector<Source> sources;
  };

  const Release *publish(uint32_t group, uint64_t time,
                         std::vector<Source> sources);
  /// The last one of `group` not after `time`, or nullptr.
  const Release *find(uint32_t group, uint64_t time) const;
  /// Too much has been published to go on: from then on everybody knows all.
  bool isFull() const { return sourceCount > kMaxSources; }

private:
  static constexpr size_t kMaxSources = size_t(1) << 22;

  std::deque<Release> releases;
  std::unordered_map<uint32_t, std::vector<const Release *>> ofGroup;
  size_t sourceCount = 0;
};

/// What one running group knows of others. For one thread.
class GroupKnowledge {
public:
  GroupKnowledge(GroupOrder &order, uint32_t group)
      : order(&order), self(group) {}

  /// Learns what `group` had done and known when its time was `time`.
  void acquire(uint32_t group, uint64_t time);
  /// Whether what `group` did at its time `time` is over.
  bool knows(uint32_t group, uint64_t time);
  /// To be called before this group's time goes beyond `time`, at which it
  /// wrote: who acquires from that write learns what this group has learned.
  void publish(uint64_t time);

private:
  void learn(uint32_t group, uint64_t time);

  GroupOrder *order;
  uint32_t self;
  std::unordered_map<uint32_t, uint64_t> known; ///< Latest time, by group.
  std::vector<GroupOrder::Source> unread;       ///< Not yet in `known`.
  std::vector<GroupOrder::Source> unpublished;
  std::unordered_set<const GroupOrder::Release *> seen;
  const GroupOrder::Release *last = nullptr; ///< Its own.
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_CHECK_GROUPORDER_H
