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
  std::set<int64_t> numbers;
};
} // namespace

Memory::Memory(const TestGraph &graph, const GpuApi &gpu)
    : graph(graph), gpu(gpu), tensors(gpu) {
  std::mt19937 random(static_cast<unsigned>(graph.getTensors().size()));
  const std::set<int64_t> results = graph.getResults();
  for (const auto &[uid, tensor] : graph.getTensors()) {
    if (tensor.isRuntimeValue) {
      host[uid].resize(tensor.getElementBytes());
      store(tensor, *tensor.value, host[uid].data());
      buffers.push_back({uid, host[uid].data()});
      numbers.insert(uid);
    }
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
    if (numbers.contains(uid))
      continue; // It is in the host's memory.
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

Counts tessera::test::readCounts() {
  // The plugin has opened the library by its path; this is the same file.
  static void *library = dlopen(TESSERA_LIBRARY_FILE, RTLD_NOW | RTLD_LOCAL);
  const auto get = reinterpret_cast<decltype(&tesseraGetCounters)>(
      dlsym(library, "tesseraGetCounters"));
  tesseraCounters counters = TESSERA_COUNTERS_INIT;
  EXPECT_EQ(get(&counters), miopenStatusSuccess);
  return {counters.compiled, counters.fromDatabase, counters.launched};
}

TestPlan::TestPlan(const TestGraph &graph) {
  const std::vector<uint8_t> bytes = graph.write();
  const std::vector<uint8_t> config = makeEngineConfig();
  const ConstData graphData = {bytes.data(), bytes.size()};
  const ConstData configData = {config.data(), config.size()};
  EXPECT_EQ(askPlugin(bytes).count, 1u) << getPluginError();
  EXPECT_EQ(getPlugin().create(&handle), PluginStatus::Success);
  size_t size = 0;
  EXPECT_EQ(
      getPlugin().getWorkspaceSize(handle, &configData, &graphData, &size),
      PluginStatus::Success)
      << getPluginError();
  status = getPlugin().createContext(handle, &configData, &graphData, &context);
  EXPECT_EQ(status, PluginStatus::Success) << getPluginError();
  if (context)
    EXPECT_EQ(size, getWorkspaceBytes());
}

TestPlan::TestPlan(std::span<const uint8_t> serialised) {
  EXPECT_EQ(getPlugin().create(&handle), PluginStatus::Success);
  const ConstData data = {serialised.data(), serialised.size()};
  status = getPlugin().deserialise(handle, &data, &context);
  EXPECT_EQ(context != nullptr, status == PluginStatus::Success);
}

TestPlan::~TestPlan() {
  if (context)
    EXPECT_EQ(getPlugin().destroyContext(handle, context),
              PluginStatus::Success);
  EXPECT_EQ(getPlugin().destroy(handle), PluginStatus::Success);
}

size_t TestPlan::getWorkspaceBytes() const {
  size_t size = 0;
  EXPECT_EQ(getPlugin().getContextWorkspaceSize(handle, context, &size),
            PluginStatus::Success);
  return size;
}

std::vector<uint8_t> TestPlan::serialise() const {
  int64_t engine = 0;
  uint32_t count = 0;
  EXPECT_EQ(getPlugin().getAllEngines(&engine, 1, &count),
            PluginStatus::Success);
  ConstData data{};
  EXPECT_EQ(getPlugin().serialise(handle, engine, context, &data),
            PluginStatus::Success)
      << getPluginError();
  const auto *first = static_cast<const uint8_t *>(data.data);
  std::vector<uint8_t> bytes(first, first + data.size);
  EXPECT_EQ(getPlugin().destroySerialised(handle, &data),
            PluginStatus::Success);
  EXPECT_EQ(data.data, nullptr);
  // The name that releases called before gives the same.
  EXPECT_EQ(getPlugin().serialiseAsBefore(handle, context, &data),
            PluginStatus::Success);
  EXPECT_EQ(data.size, bytes.size());
  EXPECT_EQ(std::memcmp(data.data, bytes.data(), bytes.size()), 0);
  EXPECT_EQ(getPlugin().destroySerialised(handle, &data),
            PluginStatus::Success);
  return bytes;
}

namespace {
/// The lengths and strides that an execution gives, as hipDNN passes them.
struct PassedShapes {
  PassedShapes(const TestGraph &graph, const TestGraph &declared) {
    for (const auto &[uid, tensor] : graph.getTensors()) {
      const GraphTensor &most = declared.getTensors().at(uid);
      if (tensor.isVirtual ||
          (tensor.lengths == most.lengths && tensor.strides == most.strides))
        continue;
      uids.push_back(uid);
      ranks.push_back(static_cast<uint32_t>(tensor.lengths.size()));
      lengths.push_back(tensor.lengths.data());
      strides.push_back(tensor.strides.data());
    }
  }

  std::vector<int64_t> uids;
  std::vector<uint32_t> ranks;
  std::vector<const int64_t *> lengths, strides;
};
} // namespace

PluginStatus TestPlan::run(const TestGraph &graph, const TestGraph &declared,
                           bool givesWorkspace) {
  const ErrorOr<const GpuApi *> gpu = GpuApi::get();
  EXPECT_TRUE(gpu) << gpu.getStatus().getMessage();
  const PluginFunctions &plugin = getPlugin();
  Memory memory(graph, **gpu);
  DeviceTensors workspace(**gpu);
  const std::vector<char> poison(getWorkspaceBytes(), char(0xff));
  void *space =
      !poison.empty() && givesWorkspace ? workspace.add(poison) : nullptr;
  const PassedShapes shapes(graph, declared);
  const auto count = static_cast<uint32_t>(memory.buffers.size());
  const PluginStatus result =
      shapes.uids.empty()
          ? plugin.execute(handle, context, space, memory.buffers.data(), count)
          : plugin.executeWithShapes(
                handle, context, space, memory.buffers.data(), count,
                static_cast<uint32_t>(shapes.uids.size()), shapes.uids.data(),
                shapes.ranks.data(), shapes.lengths.data(),
                shapes.strides.data());
  EXPECT_EQ((*gpu)->hipDeviceSynchronize(), hipSuccess);
  if (result != PluginStatus::Success)
    return result;
  std::map<int64_t, Values> wanted = memory.values;
  graph.compute(wanted);
  memory.compare(wanted);
  return result;
}

uint64_t tessera::test::checkGraph(const TestGraph &graph,
                                   size_t *workspaceBytes,
                                   bool givesWorkspace) {
  TestPlan plan(graph);
  if (plan.getStatus() != PluginStatus::Success)
    return 0;
  if (workspaceBytes)
    *workspaceBytes = plan.getWorkspaceBytes();
  const uint64_t before = readCounts().launched;
  EXPECT_EQ(plan.run(graph, graph, givesWorkspace), PluginStatus::Success)
      << getPluginError();
  return readCounts().launched - before;
}
