//===- PluginHost.h - hipDNN's side of the plugin --------------*- C++ -*--===//
//
// Opens the plugin's file and finds its functions by their names, as hipDNN
// does, and runs graphs with it on the device that TESSERA_DEVICE names.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_CAPI_HIPDNN_PLUGINHOST_H
#define TESSERA_TEST_UNIT_CAPI_HIPDNN_PLUGINHOST_H

#include "capi/hipdnn/PluginApi.h"
#include "test/unit/capi/hipdnn/TestGraph.h"

#include <span>
#include <string>

namespace tessera::test {

/// The functions of the plugin, by the names that hipDNN looks up.
struct PluginFunctions {
#define TESSERA_PLUGIN_FUNCTION(name, symbol) decltype(&::symbol) name;
#include "test/unit/capi/hipdnn/PluginFunctions.def"
};

/// The opened plugin; fails the test once if it cannot be opened.
const PluginFunctions &getPlugin();

/// The sentence of the last failure.
std::string getPluginError();

/// What GetApplicableEngineIds answers for bytes: the status, and how many.
struct Applicable {
  hipdnn::PluginStatus status;
  uint32_t count = 0;
  int64_t engine = 0;
};
Applicable askPlugin(std::span<const uint8_t> graph);

/// The configuration that names the plugin's only engine.
std::vector<uint8_t> makeEngineConfig();

/// A plan of the plugin with a handle of its own.
class TestPlan {
public:
  /// Fails the test if the plugin makes none.
  explicit TestPlan(const TestGraph &graph);
  /// The plan of these bytes, or none: see getStatus().
  explicit TestPlan(std::span<const uint8_t> serialised);
  ~TestPlan();
  TestPlan(const TestPlan &) = delete;

  hipdnn::PluginStatus getStatus() const { return status; }
  size_t getWorkspaceBytes() const;
  std::vector<uint8_t> serialise() const;

  /// Runs the plan on the tensors of `graph`, which is that of the plan but for
  /// lengths and numbers that an execution brings. Lengths that are not those
  /// of `declared` are given with the execution.
  hipdnn::PluginStatus run(const TestGraph &graph, const TestGraph &declared,
                           bool givesWorkspace = true);
  hipdnn::PluginStatus run(const TestGraph &graph) { return run(graph, graph); }

private:
  hipdnn::Handle *handle = nullptr;
  hipdnn::GraphContext *context = nullptr;
  hipdnn::PluginStatus status{};
};

/// What the library has compiled, loaded and launched in this process.
struct Counts {
  uint64_t compiled, fromDatabase, launched;
};
Counts readCounts();

/// Runs the graph on random inputs with poisoned results and compares all that
/// a client can see with TestGraph::compute(). Returns how many kernels were
/// launched, and through `workspaceBytes` the workspace that they needed.
uint64_t checkGraph(const TestGraph &graph, size_t *workspaceBytes = nullptr,
                    bool givesWorkspace = true);

/// The plugin's sentence about a graph that it declines.
std::string getRefusal(const TestGraph &graph);

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_CAPI_HIPDNN_PLUGINHOST_H
