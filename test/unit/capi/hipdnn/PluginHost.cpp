//===- PluginHost.cpp - hipDNN's side of the plugin -----------------------===//

#include "test/unit/capi/hipdnn/PluginHost.h"
#include "dialect/Reference/SmallFloat.h"
#include "runtime/Gpu/DeviceBuffer.h"
#include "test/unit/Support/DeviceTensors.h"

#include <tessera/tessera.h>

#include <algorithm>
#include <cmath>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <random>

using namespace tessera;
using namespace tessera::test;
using hipdnn::ConstData;
using hipdnn::PluginStatus;

const PluginFunctions &tessera::test::getPlugin() {
  static const PluginFunctions functions = [] {
    PluginFunctions found{};
    void *plugin = dlopen(TESSERA_PLUGIN_FILE, RTLD_NOW | RTLD_LOCAL);
    if (!plugin) {
      ADD_FAILURE() << dlerror();
      return found;
    }
#define TESSERA_PLUGIN_FUNCTION(name, symbol)                                  \
  found.name = reinterpret_cast<decltype(found.name)>(dlsym(plugin, #symbol)); \
  EXPECT_TRUE(found.name) << #symbol;
#include "test/unit/capi/hipdnn/PluginFunctions.def"
    return found;
  }();
  return functions;
}

std::string tessera::test::getPluginError() {
  const char *error = "";
  getPlugin().getLastError(&error);
  return error;
}

namespace {
/// A handle of the plugin for the time of a test.
class PluginHandle {
public:
  PluginHandle() {
    EXPECT_EQ(getPlugin().create(&handle), PluginStatus::Success);
  }
  ~PluginHandle() {
    EXPECT_EQ(getPlugin().destroy(handle), PluginStatus::Success);
  }
  hipdnn::Handle *get() const { return handle; }

private:
  hipdnn::Handle *handle = nullptr;
};
} // namespace

Applicable tessera::test::askPlugin(std::span<const uint8_t> graph) {
  const PluginHandle handle;
  const ConstData data = {graph.data(), graph.size()};
  Applicable answer{};
  answer.status = getPlugin().getApplicable(handle.get(), &data, &answer.engine,
                                            1, &answer.count);
  return answer;
}

std::string tessera::test::getRefusal(const TestGraph &graph) {
  static std::string logged;
  logged.clear();
  getPlugin().setLogging(
      [](hipdnn::Severity, const char *text) { logged = text; });
  const Applicable answer = askPlugin(graph.write());
  getPlugin().setLogging(nullptr);
  EXPECT_EQ(answer.status, PluginStatus::Success);
  EXPECT_EQ(answer.count, 0u);
  return logged;
}

std::vector<uint8_t> tessera::test::makeEngineConfig() {
  int64_t engine = 0;
  uint32_t count = 0;
  EXPECT_EQ(getPlugin().getAllEngines(&engine, 1, &count),
            PluginStatus::Success);
  return writeFlatBuffer(FlatFields().number(0, engine));
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static void store(const GraphTensor &tensor, double value, char *to) {
  const auto put = [&](auto bits) { std::memcpy(to, &bits, sizeof bits); };
  switch (tensor.type) {
  case GraphType::F16:
    return put(reference::encodeF16(value));
  case GraphType::BF16:
    return put(reference::encodeBF16(value));
  case GraphType::F32:
    return put(static_cast<float>(value));
  case GraphType::F64:
    return put(value);
  case GraphType::I32:
    return put(static_cast<int32_t>(value));
  case GraphType::I8:
    return put(static_cast<int8_t>(value));
  }
}

static double load(const GraphTensor &tensor, const char *from) {
  const auto get = [&](auto bits) {
    std::memcpy(&bits, from, sizeof bits);
    return bits;
  };
  switch (tensor.type) {
  case GraphType::F16:
    return reference::decodeF16(get(uint16_t()));
  case GraphType::BF16:
    return reference::decodeBF16(get(uint16_t()));
  case GraphType::F32:
    return get(float());
  case GraphType::F64:
    return get(double());
  case GraphType::I32:
    return get(int32_t());
  case GraphType::I8:
    return get(int8_t());
  }
  return 0;
}

/// Twice the rounding of the type, and of f32 what sums of some hundred
/// products lose.
static double getTolerance(GraphType type) {
  switch (type) {
  case GraphType::F16:
    return 0x1p-9;
  case GraphType::BF16:
    return 0x1p-6;
  case GraphType::F64:
    return 1e-12;
  default:
    return 3e-5;
  }
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

namespace {
/// The tensors of a graph that a client sees, on the host and on the device.
class Memory {
public:
  Memory(const TestGraph &graph, const GpuApi &gpu);

  std::vector<hipdnn::DeviceBuffer> buffers;
  std::map<int64_t, Values> values; ///< Of the inputs.

  void compare(const std::map<int64_t, Values> &wanted) const;

private:
  const TestGraph &graph;
  const GpuApi &gpu;
  DeviceTensors tensors;
  std::map<int64_t, std::vector<char>> host;
};
} // namespace

Memory::Memory(const TestGraph &graph, const GpuApi &gpu)
    : graph(graph), gpu(gpu), tensors(gpu) {
  std::mt19937 random(static_cast<unsigned>(graph.getTensors().size()));
  const std::set<int64_t> results = graph.getResults();
  for (const auto &[uid, tensor] : graph.getTensors()) {
    if (tensor.isVirtual || tensor.value)
      continue;
    // Gaps and results are NaNs, or numbers that no test computes.
    std::uniform_real_distribution<double> draw(tensor.least, 1);
    std::vector<char> &bytes = host[uid];
    bytes.assign(tensor.getSpan() * tensor.getElementBytes(), char(0xff));
    if (!results.contains(uid))
      for (int64_t i = 0; i < tensor.getElements(); ++i) {
        char *position =
            bytes.data() + tensor.getOffset(i) * tensor.getElementBytes();
        const double number = draw(random);
        store(tensor, tensor.type == GraphType::I8 ? number * 100 : number,
              position);
        values[uid].push_back(load(tensor, position));
      }
    buffers.push_back({uid, tensors.add(bytes)});
  }
  EXPECT_TRUE(tensors.getStatus().isOk()) << tensors.getStatus().getMessage();
}

void Memory::compare(const std::map<int64_t, Values> &wanted) const {
  for (const auto &[uid, memory] : buffers) {
    const GraphTensor &tensor = graph.getTensors().at(uid);
    std::vector<char> bytes(host.at(uid).size());
    const Status status = readBack(gpu, memory, bytes);
    ASSERT_TRUE(status.isOk()) << status.getMessage();
    const Values &values = wanted.at(uid);
    const double tolerance = getTolerance(tensor.type);
    for (int64_t i = 0; i < tensor.getElements(); ++i) {
      const double got =
          load(tensor,
               bytes.data() + tensor.getOffset(i) * tensor.getElementBytes());
      const double value =
          tensor.type == GraphType::I8
              ? std::clamp(std::nearbyint(values[i]), -128.0, 127.0)
              : values[i];
      ASSERT_LE(std::abs(got - value), tolerance * (1 + std::abs(value)))
          << "element " << i << " of tensor " << uid << " is " << got
          << " instead of " << value;
    }
  }
}

static uint64_t countLaunches() {
  // The plugin has opened the library by its path; this is the same file.
  static void *library = dlopen(TESSERA_LIBRARY_FILE, RTLD_NOW | RTLD_LOCAL);
  const auto get = reinterpret_cast<decltype(&tesseraGetCounters)>(
      dlsym(library, "tesseraGetCounters"));
  tesseraCounters counters = TESSERA_COUNTERS_INIT;
  EXPECT_EQ(get(&counters), miopenStatusSuccess);
  return counters.launched;
}

uint64_t tessera::test::checkGraph(const TestGraph &graph,
                                   size_t *workspaceBytes,
                                   bool givesWorkspace) {
  const ErrorOr<const GpuApi *> gpu = GpuApi::get();
  EXPECT_TRUE(gpu) << gpu.getStatus().getMessage();
  const PluginFunctions &plugin = getPlugin();
  const std::vector<uint8_t> bytes = graph.write();
  EXPECT_EQ(askPlugin(bytes).count, 1u) << getPluginError();
  const std::vector<uint8_t> config = makeEngineConfig();
  const ConstData graphData = {bytes.data(), bytes.size()};
  const ConstData configData = {config.data(), config.size()};
  const PluginHandle handle;
  size_t size = 0, contextSize = 0;
  EXPECT_EQ(
      plugin.getWorkspaceSize(handle.get(), &configData, &graphData, &size),
      PluginStatus::Success)
      << getPluginError();
  hipdnn::Context *context = nullptr;
  EXPECT_EQ(
      plugin.createContext(handle.get(), &configData, &graphData, &context),
      PluginStatus::Success)
      << getPluginError();
  if (!context)
    return 0;
  EXPECT_EQ(plugin.getContextWorkspaceSize(handle.get(), context, &contextSize),
            PluginStatus::Success);
  EXPECT_EQ(size, contextSize);
  if (workspaceBytes)
    *workspaceBytes = size;
  Memory memory(graph, **gpu);
  DeviceTensors workspace(**gpu);
  const std::vector<char> poison(size, char(0xff));
  void *workspaceMemory =
      size && givesWorkspace ? workspace.add(poison) : nullptr;
  const uint64_t before = countLaunches();
  EXPECT_EQ(plugin.execute(handle.get(), context, workspaceMemory,
                           memory.buffers.data(),
                           static_cast<uint32_t>(memory.buffers.size())),
            PluginStatus::Success)
      << getPluginError();
  const uint64_t launches = countLaunches() - before;
  EXPECT_EQ((*gpu)->hipDeviceSynchronize(), hipSuccess);
  std::map<int64_t, Values> wanted = memory.values;
  graph.compute(wanted);
  memory.compare(wanted);
  EXPECT_EQ(plugin.destroyContext(handle.get(), context),
            PluginStatus::Success);
  return launches;
}
