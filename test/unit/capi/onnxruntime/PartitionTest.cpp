//===- PartitionTest.cpp - Which nodes become one -------------------------===//

#include "capi/onnxruntime/Partition.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

using namespace tessera;
using namespace tessera::onnx;

/// A model of nodes that read from some nodes before them; value i is the
/// result of node i.
static Model makeModel(const std::vector<std::vector<int>> &sources) {
  Model model;
  for (size_t i = 0; i < sources.size(); ++i) {
    model.values.emplace_back();
    Node &node = model.nodes.emplace_back();
    node.inputs = sources[i];
    node.outputs = {static_cast<int>(i)};
  }
  return model;
}

using Groups = std::vector<std::vector<int>>;

// 0 -> 1 -> 2 with a node in the middle that is not supported, and a shortcut.
TEST(OnnxPartition, SeparatesAtOthersNodes) {
  EXPECT_EQ(partition(makeModel({{}, {0}, {1, 0}}), {true, false, true}),
            (Groups{{0}, {2}}));
}

// Two branches that begin outside meet in one group.
TEST(OnnxPartition, JoinsBranches) {
  EXPECT_EQ(partition(makeModel({{}, {0}, {0}, {1, 2}, {3}}),
                      {false, true, true, true, true}),
            (Groups{{1, 2, 3, 4}}));
}

// A result left out, and a node that reads a result twice.
TEST(OnnxPartition, TakesWhatIsNotThere) {
  EXPECT_EQ(partition(makeModel({{-1}, {0, -1, 0}}), {true, true}),
            (Groups{{0, 1}}));
}

/// Whether the graph has no cycle when each group is one node.
static bool isAcyclic(const Model &model, const Groups &groups) {
  const auto count = static_cast<int>(model.nodes.size());
  std::vector<int> group(count);
  for (int node = 0; node < count; ++node)
    group[node] = node;
  for (const std::vector<int> &members : groups)
    for (int node : members)
      group[node] = members[0];
  std::vector<int> state(count); // 1 while it is visited, 2 when it is done.
  std::function<bool(int)> visit = [&](int which) {
    if (state[which])
      return state[which] == 2;
    state[which] = 1;
    for (int node = 0; node < count; ++node)
      if (group[node] == which)
        for (int source : model.nodes[node].inputs)
          if (group[source] != which && !visit(group[source]))
            return false;
    state[which] = 2;
    return true;
  };
  for (int node = 0; node < count; ++node)
    if (!visit(group[node]))
      return false;
  return true;
}

// Random graphs: every supported node is in one group, and no path leaves a
// group and comes back.
TEST(OnnxPartition, KeepsRandomGraphsAcyclic) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    const int count = 1 + random() % 14;
    std::vector<std::vector<int>> sources(count);
    std::vector<bool> isSupported(count);
    for (int node = 0; node < count; ++node) {
      isSupported[node] = random() % 3 != 0;
      for (int i = random() % 4; i > 0 && node > 0; --i)
        sources[node].push_back(random() % node);
    }
    const Model model = makeModel(sources);
    const Groups groups = partition(model, isSupported);
    std::vector<int> seen(count);
    for (const std::vector<int> &members : groups)
      for (int node : members)
        ++seen[node];
    for (int node = 0; node < count; ++node)
      ASSERT_EQ(seen[node], isSupported[node] ? 1 : 0);
    ASSERT_TRUE(isAcyclic(model, groups)) << round;
  }
}
