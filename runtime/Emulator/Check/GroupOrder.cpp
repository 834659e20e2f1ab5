//===- GroupOrder.cpp - Which workgroup knows of which --------------------===//

#include "runtime/Emulator/Check/GroupOrder.h"

#include <algorithm>

using namespace tessera::emulator;

const GroupOrder::Release *GroupOrder::publish(uint32_t group, uint64_t time,
                                               std::vector<Source> sources) {
  sourceCount += sources.size();
  releases.push_back({time, std::move(sources)});
  ofGroup[group].push_back(&releases.back());
  return &releases.back();
}

const GroupOrder::Release *GroupOrder::find(uint32_t group,
                                            uint64_t time) const {
  auto found = ofGroup.find(group);
  if (found == ofGroup.end())
    return nullptr;
  const std::vector<const Release *> &list = found->second;
  auto next = std::upper_bound(list.begin(), list.end(), time,
                               [](uint64_t limit, const Release *release) {
                                 return limit < release->time;
                               });
  return next == list.begin() ? nullptr : *std::prev(next);
}

void GroupKnowledge::learn(uint32_t group, uint64_t time) {
  uint64_t &latest = known[group];
  latest = std::max(latest, time);
}

void GroupKnowledge::acquire(uint32_t group, uint64_t time) {
  auto found = known.find(group);
  if (order->isFull() || (found != known.end() && found->second >= time))
    return;
  learn(group, time);
  GroupOrder::Source source{group, time, order->find(group, time)};
  unread.push_back(source);
  unpublished.push_back(source);
}

bool GroupKnowledge::knows(uint32_t group, uint64_t time) {
  if (order->isFull())
    return true;
  for (;;) {
    auto found = known.find(group);
    if (found != known.end() && found->second >= time)
      return true;
    if (unread.empty())
      return false;
    GroupOrder::Source source = unread.back();
    unread.pop_back();
    learn(source.group, source.time);
    if (source.knowing && seen.insert(source.knowing).second)
      unread.insert(unread.end(), source.knowing->sources.begin(),
                    source.knowing->sources.end());
  }
}

void GroupKnowledge::publish(uint64_t time) {
  if (unpublished.empty() || order->isFull())
    return;
  if (last)
    unpublished.push_back({self, last->time, last});
  last = order->publish(self, time, std::move(unpublished));
  unpublished.clear();
}
