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

/// Runs the graph on random inputs with poisoned results and compares all that
/// a client can see with TestGraph::compute(). Returns how many kernels were
/// launched, and through `workspaceBytes` the workspace that they needed.
uint64_t checkGraph(const TestGraph &graph, size_t *workspaceBytes = nullptr,
                    bool givesWorkspace = true);

/// The plugin's sentence about a graph that it declines.
std::string getRefusal(const TestGraph &graph);

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_CAPI_HIPDNN_PLUGINHOST_H
