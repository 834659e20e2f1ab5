//===- Partition.cpp - Which nodes become one -----------------------------===//
//
// Nodes join the group of a node that they read from, in the order in which
// they run, and make one of the groups that they read from. A node that is not
// supported is a group of its own. Each group knows the groups that it depends
// on, at any distance; a node may join unless something else that it reads
// depends on the group.
//
//===----------------------------------------------------------------------===//

#include "capi/onnxruntime/Partition.h"

#include <algorithm>
#include <map>
#include <set>

using namespace tessera;
using namespace tessera::onnx;

namespace {
/// The groups of the nodes so far. A group has the number of its first node.
class Groups {
public:
  Groups(const Model &model, const std::vector<bool> &isSupported)
      : model(model), isSupported(isSupported), groups(model.nodes.size()),
        needs(model.nodes.size(), std::vector<bool>(model.nodes.size())),
        producers(model.values.size(), -1) {}

  void add(int number);
  std::vector<std::vector<int>> collect() const;

private:
  std::vector<int> getSources(const Node &node) const;
  std::vector<int> choose(const std::vector<int> &sources) const;
  void addNeeds(int group, int other);
  void merge(int group, int other);

  const Model &model;
  const std::vector<bool> &isSupported;
  std::vector<int> groups;              ///< Of each node.
  std::vector<std::vector<bool>> needs; ///< Of each group.
  std::vector<int> producers;           ///< Of each value; -1 is none.
};
} // namespace

/// The groups that a node reads from.
std::vector<int> Groups::getSources(const Node &node) const {
  std::vector<int> sources;
  for (const std::vector<int> *list : {&node.inputs, &node.implicitInputs})
    for (int value : *list) {
      const int producer = value < 0 ? -1 : producers[value];
      if (producer >= 0 &&
          std::ranges::find(sources, groups[producer]) == sources.end())
        sources.push_back(groups[producer]);
    }
  return sources;
}

/// The groups that a supported node may join, all of them at once: supported
/// ones on which no other source depends.
std::vector<int> Groups::choose(const std::vector<int> &sources) const {
  std::vector<int> chosen;
  for (int group : sources)
    if (isSupported[group] && std::ranges::none_of(sources, [&](int other) {
          return other != group && needs[other][group];
        }))
      chosen.push_back(group);
  return chosen;
}

/// Makes a group depend on another, and all that depend on the group.
void Groups::addNeeds(int group, int other) {
  for (size_t user = 0; user < needs.size(); ++user) {
    if (static_cast<int>(user) != group && !needs[user][group])
      continue;
    needs[user][other] = true;
    for (size_t need = 0; need < needs.size(); ++need)
      if (needs[other][need])
        needs[user][need] = true;
  }
}

/// Makes two groups one, neither of which depends on the other.
void Groups::merge(int group, int other) {
  std::ranges::replace(groups, other, group);
  for (size_t need = 0; need < needs.size(); ++need)
    if (needs[other][need])
      addNeeds(group, static_cast<int>(need));
  for (size_t user = 0; user < needs.size(); ++user)
    if (needs[user][other])
      addNeeds(static_cast<int>(user), group);
}

void Groups::add(int number) {
  const Node &node = model.nodes[number];
  const std::vector<int> sources = getSources(node);
  const std::vector<int> chosen =
      isSupported[number] ? choose(sources) : std::vector<int>();
  const int group = chosen.empty() ? number : chosen[0];
  groups[number] = group;
  for (int other : chosen)
    if (other != group)
      merge(group, other);
  for (int source : sources)
    if (std::ranges::find(chosen, source) == chosen.end())
      addNeeds(group, source);
  for (int value : node.outputs)
    if (value >= 0)
      producers[value] = number;
}

std::vector<std::vector<int>> Groups::collect() const {
  std::map<int, std::vector<int>> members;
  for (size_t number = 0; number < groups.size(); ++number)
    if (isSupported[number])
      members[groups[number]].push_back(static_cast<int>(number));
  std::vector<std::vector<int>> all;
  for (auto &[group, nodes] : members)
    all.push_back(std::move(nodes));
  return all;
}

std::vector<std::vector<int>>
tessera::onnx::partition(const Model &model,
                         const std::vector<bool> &isSupported) {
  Groups groups(model, isSupported);
  for (size_t number = 0; number < model.nodes.size(); ++number)
    groups.add(static_cast<int>(number));
  return groups.collect();
}

std::vector<int> tessera::onnx::orderForFusion(const Model &model,
                                               std::span<const int> nodes) {
  std::vector<std::vector<int>> readers(model.values.size());
  std::vector<int> missing(model.nodes.size());
  std::vector<bool> isInside(model.values.size());
  for (int number : nodes)
    for (int value : model.nodes[number].outputs)
      if (value >= 0)
        isInside[value] = true;
  std::set<int> ready;
  for (int number : nodes) {
    for (int value : model.nodes[number].inputs)
      if (value >= 0 && isInside[value]) {
        readers[value].push_back(number);
        ++missing[number];
      }
    if (missing[number] == 0)
      ready.insert(number);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    int next = *ready.begin();
    while (next >= 0) {
      ready.erase(next);
      order.push_back(next);
      const std::vector<int> &outputs = model.nodes[next].outputs;
      next = -1;
      if (outputs.empty() || outputs[0] < 0)
        continue;
      for (int reader : readers[outputs[0]])
        if (--missing[reader] == 0)
          ready.insert(next = reader);
      if (readers[outputs[0]].size() != 1)
        next = -1;
    }
  }
  return order;
}
