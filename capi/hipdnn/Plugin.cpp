//===- Plugin.cpp - The functions that hipDNN calls -----------------------===//

#include "capi/hipdnn/GraphContext.h"
#include "capi/hipdnn/PluginApi.h"

#include <atomic>
#include <exception>
#include <initializer_list>
#include <memory>
#include <new>
#include <string>
#include <string_view>

using namespace tessera;
using namespace tessera::hipdnn;

static constexpr char kEngineName[] = "TESSERA_ENGINE";

/// hipDNN's rule for identifiers: FNV-1a of 64 bits.
static constexpr int64_t hashName(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char letter : name)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  return static_cast<int64_t>(hash);
}

static constexpr int64_t kEngine = hashName(kEngineName);

static thread_local std::string lastError;
static std::atomic<LogCallback> logCallback = nullptr;

//===----------------------------------------------------------------------===//
// Statuses
//===----------------------------------------------------------------------===//

static PluginStatus convert(StatusCode code) {
  switch (code) {
  case StatusCode::Ok:
    return PluginStatus::Success;
  case StatusCode::InvalidArgument:
    return PluginStatus::InvalidValue;
  case StatusCode::NotSupported:
    return PluginStatus::NotApplicable;
  case StatusCode::ResourceExhausted:
    return PluginStatus::AllocationFailed;
  case StatusCode::NotFound:
  case StatusCode::Unavailable:
  case StatusCode::Internal:
    return PluginStatus::InternalError;
  }
  return PluginStatus::InternalError;
}

/// Runs what a function does. No exception leaves it; the sentence of a failure
/// is kept for the thread.
template <typename Body>
static PluginStatus guard(std::initializer_list<const void *> required,
                          Body body) try {
  for (const void *pointer : required)
    if (!pointer) {
      lastError = "a pointer is null";
      return PluginStatus::BadParameter;
    }
  const Status status = body();
  if (!status.isOk())
    lastError = status.getMessage();
  return convert(status.getCode());
} catch (const std::bad_alloc &) {
  lastError = "memory ran out"; // Short enough to need none itself.
  return PluginStatus::AllocationFailed;
} catch (const std::exception &) {
  lastError = "an exception";
  return PluginStatus::InternalError;
}

static std::span<const uint8_t> getBytes(const ConstData &data) {
  return {static_cast<const uint8_t *>(data.data), data.data ? data.size : 0};
}

static Status checkEngine(int64_t engine) {
  if (engine == kEngine)
    return Status::ok();
  return invalidArgument("the plugin has no engine " + std::to_string(engine));
}

static ErrorOr<std::unique_ptr<GraphContext>>
makeContext(Handle &handle, const ConstData &config, const ConstData &graph) {
  const ErrorOr<int64_t> engine = readEngine(getBytes(config));
  if (!engine)
    return engine.getStatus();
  if (Status status = checkEngine(*engine); !status.isOk())
    return status;
  return GraphContext::make(handle, getBytes(graph));
}

/// Bytes that the plugin owns until giveBack().
static ConstData give(std::span<const uint8_t> bytes) {
  auto *copy = new uint8_t[bytes.size()];
  std::ranges::copy(bytes, copy);
  return {copy, bytes.size()};
}

static void giveBack(ConstData &data) {
  delete[] static_cast<const uint8_t *>(data.data);
  data = {};
}

/// Says why a graph is left to other engines, if hipDNN wants to know.
static void logRefusal(const Status &status) {
  if (LogCallback callback = logCallback)
    callback(Severity::Info,
             ("Tessera declines a graph: " + status.getMessage()).c_str());
}

static Status giveEngines(bool hasEngine, int64_t *engines, uint32_t capacity,
                          uint32_t *count) {
  if (hasEngine && capacity && !engines)
    return invalidArgument("there is no memory for the engines");
  if (hasEngine && capacity)
    *engines = kEngine;
  *count = hasEngine;
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// The plugin
//===----------------------------------------------------------------------===//

PluginStatus hipdnnPluginGetName(const char **name) {
  return guard({name}, [&] {
    *name = "tessera_plugin";
    return Status::ok();
  });
}

PluginStatus hipdnnPluginGetVersion(const char **version) {
  return guard({version}, [&] {
    *version = TESSERA_PLUGIN_VERSION;
    return Status::ok();
  });
}

/// The release of the interface that has runtime shapes (1.1) and numbers that
/// come with an execution. Later ones are asked for ragged tensors and for
/// tensors that are aligned to less than 16 bytes.
PluginStatus hipdnnPluginGetApiVersion(const char **version) {
  return guard({version}, [&] {
    *version = "1.2.0";
    return Status::ok();
  });
}

PluginStatus hipdnnPluginGetType(PluginType *type) {
  return guard({type}, [&] {
    *type = PluginType::Engine;
    return Status::ok();
  });
}

void hipdnnPluginGetLastErrorString(const char **error) {
  if (error)
    *error = lastError.c_str();
}

PluginStatus hipdnnPluginSetLoggingCallback(LogCallback callback) {
  logCallback = callback;
  return PluginStatus::Success;
}

//===----------------------------------------------------------------------===//
// The engine
//===----------------------------------------------------------------------===//

PluginStatus hipdnnEnginePluginGetAllEngineIds(int64_t *engines,
                                               uint32_t capacity,
                                               uint32_t *count) {
  return guard({count},
               [&] { return giveEngines(true, engines, capacity, count); });
}

PluginStatus hipdnnEnginePluginGetEngineName(int64_t engine,
                                             const char **name) {
  return guard({name}, [&] {
    if (engine != kEngine)
      return notSupported("the plugin has no engine " + std::to_string(engine));
    *name = kEngineName;
    return Status::ok();
  });
}

PluginStatus hipdnnEnginePluginCreate(Handle **handle) {
  return guard({handle}, [&] {
    *handle = new Handle;
    return Status::ok();
  });
}

PluginStatus hipdnnEnginePluginDestroy(Handle *handle) {
  return guard({handle}, [&] {
    delete handle;
    return Status::ok();
  });
}

PluginStatus hipdnnEnginePluginSetStream(Handle *handle, void *stream) {
  return guard({handle}, [&] { return handle->setStream(stream); });
}

PluginStatus hipdnnEnginePluginGetApplicableEngineIds(Handle *handle,
                                                      const ConstData *graph,
                                                      int64_t *engines,
                                                      uint32_t capacity,
                                                      uint32_t *count) {
  return guard({handle, graph, count}, [&]() -> Status {
    ErrorOr<Graph> read = Graph::read(getBytes(*graph));
    if (!read)
      return read.getStatus();
    const ErrorOr<Plan> plan = planGraph(*read);
    if (read->isDamaged())
      return plan.getStatus();
    if (!plan)
      logRefusal(plan.getStatus());
    return giveEngines(bool(plan), engines, capacity, count);
  });
}

PluginStatus hipdnnEnginePluginGetEngineDetails(Handle *handle, int64_t engine,
                                                const ConstData *graph,
                                                ConstData *details) {
  return guard({handle, graph, details}, [&]() -> Status {
    if (Status status = checkEngine(engine); !status.isOk())
      return status;
    *details = give(describeEngine(engine));
    return Status::ok();
  });
}

PluginStatus hipdnnEnginePluginDestroyEngineDetails(Handle *handle,
                                                    ConstData *details) {
  return guard({handle, details}, [&] {
    giveBack(*details);
    return Status::ok();
  });
}

PluginStatus hipdnnEnginePluginGetWorkspaceSize(Handle *handle,
                                                const ConstData *config,
                                                const ConstData *graph,
                                                size_t *size) {
  return guard({handle, config, graph, size}, [&] {
    const auto context = makeContext(*handle, *config, *graph);
    if (context)
      *size = (*context)->getWorkspaceBytes();
    return context.getStatus();
  });
}

PluginStatus hipdnnEnginePluginCreateExecutionContext(Handle *handle,
                                                      const ConstData *config,
                                                      const ConstData *graph,
                                                      GraphContext **context) {
  return guard({handle, config, graph, context}, [&] {
    auto made = makeContext(*handle, *config, *graph);
    if (made)
      *context = made->release();
    return made.getStatus();
  });
}

PluginStatus hipdnnEnginePluginDestroyExecutionContext(Handle *handle,
                                                       GraphContext *context) {
  return guard({handle, context}, [&] {
    delete context;
    return Status::ok();
  });
}

PluginStatus hipdnnEnginePluginGetWorkspaceSizeFromExecutionContext(
    Handle *handle, GraphContext *context, size_t *size) {
  return guard({handle, context, size}, [&] {
    *size = context->getWorkspaceBytes();
    return Status::ok();
  });
}

PluginStatus hipdnnEnginePluginExecuteOpGraph(Handle *handle,
                                              GraphContext *context,
                                              void *workspace,
                                              const DeviceBuffer *buffers,
                                              uint32_t count) {
  return guard({handle, context, buffers}, [&] {
    return context->run(*handle, workspace, {buffers, count});
  });
}

PluginStatus hipdnnEnginePluginExecuteOpGraphWithOverrides(
    Handle *handle, GraphContext *context, void *workspace,
    const DeviceBuffer *buffers, uint32_t count, uint32_t shapeCount,
    const int64_t *uids, const uint32_t *ranks, const int64_t *const *lengths,
    const int64_t *const *strides) {
  return guard({handle, context, buffers, uids, ranks, lengths, strides}, [&] {
    std::vector<Shape> shapes(shapeCount);
    for (uint32_t i = 0; i < shapeCount; ++i) {
      if (ranks[i] && (!lengths[i] || !strides[i]))
        return invalidArgument("tensor " + std::to_string(uids[i]) +
                               " gets no lengths or no strides");
      shapes[i] = {uids[i],
                   {lengths[i], lengths[i] + ranks[i]},
                   {strides[i], strides[i] + ranks[i]}};
    }
    return context->run(*handle, workspace, {buffers, count}, shapes);
  });
}

//===----------------------------------------------------------------------===//
// Serialisation
//===----------------------------------------------------------------------===//

PluginStatus hipdnnEnginePluginSerializeExecutionContext(
    Handle *handle, GraphContext *context, ConstData *serialised) {
  return guard({handle, context, serialised}, [&] {
    const ErrorOr<std::string> bytes = context->serialise(*handle);
    if (bytes)
      *serialised = give(
          {reinterpret_cast<const uint8_t *>(bytes->data()), bytes->size()});
    return bytes.getStatus();
  });
}

PluginStatus hipdnnEnginePluginSerializeExecutionContextWithEngineId(
    Handle *handle, int64_t engine, GraphContext *context,
    ConstData *serialised) {
  const PluginStatus status =
      guard({handle, context, serialised}, [&] { return checkEngine(engine); });
  if (status != PluginStatus::Success)
    return status;
  return hipdnnEnginePluginSerializeExecutionContext(handle, context,
                                                     serialised);
}

PluginStatus
hipdnnEnginePluginDestroySerializedExecutionContext(Handle *handle,
                                                    ConstData *serialised) {
  return guard({handle, serialised}, [&] {
    giveBack(*serialised);
    return Status::ok();
  });
}

PluginStatus hipdnnEnginePluginCreateExecutionContextFromSerialized(
    Handle *handle, const ConstData *serialised, GraphContext **context) {
  return guard({handle, serialised, context}, [&] {
    auto made = GraphContext::deserialise(*handle, getBytes(*serialised));
    if (made)
      *context = made->release();
    return made.getStatus();
  });
}
