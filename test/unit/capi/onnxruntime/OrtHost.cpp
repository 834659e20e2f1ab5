//===- OrtHost.cpp - ONNX Runtime's side of the provider ------------------===//

#include "test/unit/capi/onnxruntime/OrtHost.h"

#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <random>

using namespace tessera;
using namespace tessera::test;

static int liveObjects = 0;
static int callCount = 0;
static int failingCall = -1;
static uint32_t newestVersion = 32; ///< Of the API that the host has.

static ort::Error *makeError(int32_t code, const char *message) {
  ++liveObjects;
  return new ort::Error{code, message};
}

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

/// Answers a question, unless it is the one that fails.
template <typename T, typename U>
static ort::Error *answer(T *to, U &&value) {
  if (callCount++ == failingCall)
    return makeError(1, "the host does not answer");
  *to = std::forward<U>(value);
  return nullptr;
}

template <typename T, typename List>
static ort::Error *answerList(T *to, const List &list, size_t count) {
  EXPECT_EQ(count, list.size());
  if (callCount++ == failingCall)
    return makeError(1, "the host does not answer");
  std::copy(list.begin(), list.end(), to);
  return nullptr;
}

template <typename T>
static const T *get(const ort::Attribute *attribute) {
  return std::get_if<T>(&attribute->value);
}

namespace tessera::ort {
namespace {

Error *createStatus(int32_t code, const char *message) {
  return makeError(code, message);
}
const char *getErrorMessage(const Error *error) {
  return error->message.c_str();
}
void releaseStatus(Error *error) {
  --liveObjects;
  delete error;
}
Error *logMessage(const Logger *, int32_t, const char *, const char *, int,
                  const char *) {
  return makeError(1, "nobody reads the log");
}

Error *getTensorMutableData(Tensor *tensor, void **data) {
  return answer(data, tensor->data.data());
}
Error *getTensorData(const Tensor *tensor, const void **data) {
  return answer(data, tensor->data.data());
}
Error *castToTensorInfo(const TypeInfo *type, const TensorInfo **info) {
  return answer(info, type->info);
}
Error *getElementType(const TensorInfo *info, int32_t *type) {
  return answer(type, info->type);
}
Error *getRank(const TensorInfo *info, size_t *rank) {
  return answer(rank, info->lengths.size());
}
Error *getLengths(const TensorInfo *info, int64_t *lengths, size_t rank) {
  return answerList(lengths, info->lengths, rank);
}
Error *getTensorInfo(const Tensor *tensor, TensorInfo **info) {
  Error *error = answer(info, nullptr);
  if (!error) {
    *info = new TensorInfo(tensor->info);
    ++liveObjects;
  }
  return error;
}
void releaseTensorInfo(TensorInfo *info) {
  --liveObjects;
  delete info;
}

Error *getNodeCount(const Graph *graph, size_t *count) {
  return answer(count, graph->nodes.size());
}
Error *getNodes(const Graph *graph, const Node **nodes, size_t count) {
  return answerList(nodes, graph->nodes, count);
}
Error *getNodeName(const Node *node, const char **name) {
  return answer(name, node->op.c_str());
}
Error *getOperator(const Node *node, const char **name) {
  return answer(name, node->op.c_str());
}
Error *getDomain(const Node *, const char **name) { return answer(name, ""); }
Error *getSinceVersion(const Node *, int *version) {
  return answer(version, 17);
}
Error *getInputCount(const Node *node, size_t *count) {
  return answer(count, node->inputs.size());
}
Error *getInputs(const Node *node, const ValueInfo **values, size_t count) {
  return answerList(values, node->inputs, count);
}
Error *getOutputCount(const Node *node, size_t *count) {
  return answer(count, node->outputs.size());
}
Error *getOutputs(const Node *node, const ValueInfo **values, size_t count) {
  return answerList(values, node->outputs, count);
}
Error *getImplicitInputCount(const Node *, size_t *count) {
  return answer(count, 0);
}
Error *getImplicitInputs(const Node *, const ValueInfo **, size_t) {
  return makeError(1, "there is nothing to list");
}
Error *getAttributeCount(const Node *node, size_t *count) {
  return answer(count, node->attributes.size());
}
Error *getAttributes(const Node *node, const Attribute **to, size_t count) {
  std::vector<const Attribute *> list;
  for (const Attribute &attribute : node->attributes)
    list.push_back(&attribute);
  return answerList(to, list, count);
}
Error *getAttributeType(const Attribute *attribute, int32_t *type) {
  return answer(type, get<int64_t>(attribute)       ? kInt
                      : get<float>(attribute)       ? kFloat
                      : get<std::string>(attribute) ? kString
                                                    : kInts);
}
Error *getAttributeName(const Attribute *attribute, const char **name) {
  return answer(name, attribute->name.c_str());
}
/// Where the memory is too short, an error that says how much it must be.
Error *readAttribute(const Attribute *attribute, int32_t, void *data,
                     size_t bytes, size_t *needed) {
  const void *from = nullptr;
  size_t size = 0;
  const auto take = [&](const void *first, size_t length) {
    from = first;
    size = length;
  };
  if (const auto *list = get<std::vector<int64_t>>(attribute))
    take(list->data(), list->size() * sizeof(int64_t));
  else if (const auto *text = get<std::string>(attribute))
    take(text->data(), text->size());
  else if (const auto *integer = get<int64_t>(attribute))
    take(integer, sizeof *integer);
  else
    take(get<float>(attribute), sizeof(float));
  *needed = size;
  if (bytes < size)
    return makeError(1, "the memory is too short");
  if (callCount++ == failingCall)
    return makeError(1, "the host does not answer");
  std::memcpy(data, from, size);
  return nullptr;
}
Error *getValueName(const ValueInfo *value, const char **name) {
  return answer(name, value->name.c_str());
}
Error *getValueType(const ValueInfo *value, const TypeInfo **type) {
  return answer(type, &value->type);
}
Error *getInitializer(const ValueInfo *value, const Tensor **tensor) {
  return answer(tensor, &value->tensor);
}
Error *isGraphOutput(const ValueInfo *value, bool *is) {
  return answer(is, value->isOutput);
}
Error *isConstant(const ValueInfo *value, bool *is) {
  return answer(is, value->isConstant);
}

Error *getInput(const KernelContext *context, size_t number,
                const Tensor **tensor) {
  return answer(tensor, context->inputs[number]);
}
Error *getOutput(KernelContext *context, size_t number, const int64_t *lengths,
                 size_t rank, Tensor **tensor) {
  size_t count = 1;
  for (size_t dim = 0; dim < rank; ++dim)
    count *= lengths[dim];
  context->outputs.resize(std::max(context->outputs.size(), number + 1));
  Tensor &output = context->outputs[number];
  output.info.lengths.assign(lengths, lengths + rank);
  output.data.assign(count, std::nanf("")); // Poisoned.
  return answer(tensor, &output);
}

int32_t getHardwareType(const HardwareDevice *hardware) {
  return hardware->type;
}

const void *const *getProviderApi() {
  static const ProviderApi api = {
      [](Factory *, const HardwareDevice *, const KeyValues *,
         const KeyValues *,
         Device **device) { return answer(device, new Device()); },
      [](Device *device) { delete device; },
      [](SupportInfo *support, const Node *const *nodes, size_t count,
         const FusionOptions *options) {
        EXPECT_TRUE(options->dropsConstants);
        support->groups.emplace_back(nodes, nodes + count);
        size_t copied;
        return answer(&copied, count);
      }};
  return reinterpret_cast<const void *const *>(&api);
}

} // namespace
} // namespace tessera::ort

/// The table has entries behind those of version 23, as in later releases.
static const void *const *getApi(uint32_t version) {
  static const std::vector<const void *> table = [] {
    std::vector<const void *> entries(500);
#define ORT_CALL(index, name, result, arguments)                               \
  entries[index] = reinterpret_cast<const void *>(&ort::name);
#include "capi/onnxruntime/OrtCalls.def"
    return entries;
  }();
  return version >= 1 && version <= newestVersion ? table.data() : nullptr;
}

//===----------------------------------------------------------------------===//
// Sessions
//===----------------------------------------------------------------------===//

int OrtHost::failAt(int number) {
  failingCall = number;
  return std::exchange(callCount, 0);
}
int OrtHost::countObjects() { return liveObjects; }

std::string OrtHost::take(ort::Error *error) {
  const std::string message = error ? error->message : "";
  if (error)
    ort::releaseStatus(error);
  return message;
}

template <typename Function>
static Function *find(const char *name) {
  static void *library = dlopen(TESSERA_PROVIDER_FILE, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    ADD_FAILURE() << dlerror();
    return nullptr;
  }
  return reinterpret_cast<Function *>(dlsym(library, name));
}

std::string OrtHost::createFactory(uint32_t version, size_t capacity,
                                   ort::Factory *&factory) {
  newestVersion = version;
  const ort::ApiBase base = {getApi, [] { return "a host of ours"; }};
  size_t count = 1;
  const std::string error =
      take(find<decltype(CreateEpFactories)>("CreateEpFactories")(
          "tessera", &base, nullptr, &factory, capacity, &count));
  EXPECT_EQ(count, error.empty() ? 1u : 0u);
  return error;
}

OrtHost::OrtHost() {
  failAt(-1);
  size_t count = 0;
  EXPECT_EQ(createFactory(32, 1, factory), "");
  EXPECT_STREQ(factory->getName(factory), "TesseraExecutionProvider");
  // A CPU behind a GPU and an NPU.
  const ort::HardwareDevice all[] = {{1}, {2}, {0}};
  const ort::HardwareDevice *hardware[] = {&all[0], &all[1], &all[2]};
  ort::Device *device = nullptr;
  EXPECT_EQ(take(factory->getDevices(factory, hardware, 2, &device, 1, &count)),
            "");
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(take(factory->getDevices(factory, hardware, 3, &device, 1, &count)),
            "");
  EXPECT_EQ(count, 1u);
  delete device;
  int loggers = 0;
  EXPECT_EQ(take(factory->create(factory, hardware, nullptr, 1, nullptr,
                                 reinterpret_cast<ort::Logger *>(&loggers),
                                 &provider)),
            "");
}

OrtHost::~OrtHost() {
  if (computation)
    provider->releaseComputations(provider, &computation, 1);
  factory->release(factory, provider);
  EXPECT_EQ(take(find<decltype(ReleaseEpFactory)>("ReleaseEpFactory")(factory)),
            "");
}

std::string OrtHost::claim(const ort::Graph &graph) {
  support.groups.clear();
  return take(provider->getCapability(provider, &graph, &support));
}

std::string OrtHost::compile(std::vector<const ort::Node *> group,
                             std::vector<const ort::ValueInfo *> inputs,
                             std::vector<const ort::ValueInfo *> outputs) {
  if (computation)
    provider->releaseComputations(provider, &computation, 1);
  computation = nullptr;
  const ort::Graph graph = {std::move(group)};
  const ort::Node fused = {"Fused", std::move(inputs), std::move(outputs), {}};
  const ort::Graph *graphs[] = {&graph};
  const ort::Node *nodes[] = {&fused};
  return take(
      provider->compile(provider, graphs, nodes, 1, &computation, nullptr));
}

std::string OrtHost::run(std::vector<const ort::Tensor *> inputs) {
  context = {std::move(inputs), {}};
  void *state = nullptr;
  EXPECT_EQ(take(computation->createState(computation, nullptr, &state)), "");
  std::string error = take(computation->compute(computation, state, &context));
  computation->releaseState(computation, state);
  return error;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

std::vector<float>
tessera::test::makeData(const std::vector<int64_t> &lengths) {
  static std::mt19937 random(7);
  std::normal_distribution<float> normal;
  size_t count = 1;
  for (int64_t length : lengths)
    count *= length;
  std::vector<float> data(count);
  for (float &number : data)
    number = normal(random);
  return data;
}

HostGraph::Value HostGraph::value(std::string name,
                                  std::vector<int64_t> lengths) {
  ort::ValueInfo &added = values.emplace_back();
  added.name = std::move(name);
  added.tensor.info.lengths = std::move(lengths);
  added.type.info = &added.tensor.info;
  return &added;
}

HostGraph::Value HostGraph::constant(std::string name,
                                     std::vector<int64_t> lengths) {
  Value added = value(std::move(name), lengths);
  added->isConstant = true;
  added->tensor.data = makeData(lengths);
  return added;
}

HostGraph::Value HostGraph::add(std::string op,
                                std::vector<const ort::ValueInfo *> inputs,
                                std::vector<ort::Attribute> attributes) {
  Value result = value(op + std::to_string(nodes.size()), {});
  nodes.push_back(
      {std::move(op), std::move(inputs), {result}, std::move(attributes)});
  graph.nodes.push_back(&nodes.back());
  return result;
}
