//===- GroupOrder.h - Which workgroup knows of which -----------*- C++ -*--===//
//
// Workgroups of a launch have no order except one that they establish
// themselves: a group that performs an atomic, or a load that bypasses the
// caches of its compute unit, where another group has written learns of
// everything that the other group had done by then, and of everything that it
// knew.
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

/// What all groups of a launch have published. The caller ensures that no two
/// threads publish at the same time, and that none publishes while others read.
class GroupOrder {
public:
  struct Release;
  /// Everything that `group` had done at its time `time`, and what it knew
  /// then.
  struct Source {
    uint32_t group;
    uint64_t time;
    const Release *knowing; ///< Null if it knew nothing of others.
  };
  /// What a group knew from time `time` on.
  struct Release {
    uint64_t time;
    std::vector<Source> sources;
  };

  const Release *publish(uint32_t group, uint64_t time,
                         std::vector<Source> sources);
  /// Returns the last release of `group` that is not after `time`, or null.
  const Release *find(uint32_t group, uint64_t time) const;
  /// True when too much has been published to continue; from then on every
  /// group counts as knowing everything.
  bool isFull() const { return sourceCount > kMaxSources; }

private:
  static constexpr size_t kMaxSources = size_t(1) << 22;

  std::deque<Release> releases;
  std::unordered_map<uint32_t, std::vector<const Release *>> ofGroup;
  size_t sourceCount = 0;
};

/// What one running group knows of others. Used by one thread.
class GroupKnowledge {
public:
  GroupKnowledge(GroupOrder &order, uint32_t group)
      : order(&order), self(group) {}

  /// Learns what `group` had done, and what it knew, at its time `time`.
  void acquire(uint32_t group, uint64_t time);
  /// Whether what `group` did at its time `time` happens before what this group
  /// does next.
  bool knows(uint32_t group, uint64_t time);
  /// Must be called before this group's time passes `time`, the time of a
  /// write: a group that acquires from that write learns what this group has
  /// learned.
  void publish(uint64_t time);

private:
  void learn(uint32_t group, uint64_t time);

  GroupOrder *order;
  uint32_t self;
  /// Latest known time, by group.
  std::unordered_map<uint32_t, uint64_t> known;
  std::vector<GroupOrder::Source> unread; ///< Not yet merged into `known`.
  std::vector<GroupOrder::Source> unpublished;
  std::unordered_set<const GroupOrder::Release *> seen;
  const GroupOrder::Release *last = nullptr; ///< The group's own last release.
};

} // namespace tessera::emulator

#endif // TESSERA_RUNTIME_EMULATOR_CHECK_GROUPORDER_H
