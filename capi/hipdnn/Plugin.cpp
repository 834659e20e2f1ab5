//===- Plugin.cpp - The functions that hipDNN calls -----------------------===//

#include "capi/hipdnn/Execution.h"
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

static ErrorOr<Plan> readPlan(const ConstData &bytes) {
  const ErrorOr<Graph> graph = Graph::read(getBytes(bytes));
  if (!graph)
    return graph.getStatus();
  return makePlan(*graph);
}

static ErrorOr<std::unique_ptr<Context>>
makeContext(Handle &handle, const ConstData &config, const ConstData &graph) {
  const ErrorOr<int64_t> engine = readEngine(getBytes(config));
  if (!engine)
    return engine.getStatus();
  if (*engine != kEngine)
    return invalidArgument("the plugin has no engine " +
                           std::to_string(*engine));
  ErrorOr<Plan> plan = readPlan(graph);
  if (!plan)
    return plan.getStatus();
  return prepare(handle, std::move(*plan));
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

/// The release of the interface that has no runtime shapes and no numbers that
/// come with an execution: hipDNN asks plugins of this version for neither.
PluginStatus hipdnnPluginGetApiVersion(const char **version) {
  return guard({version}, [&] {
    *version = "1.0.0";
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
    const ErrorOr<Graph> read = Graph::read(getBytes(*graph));
    if (!read)
      return read.getStatus();
    const ErrorOr<Plan> plan = makePlan(*read);
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
    if (engine != kEngine)
      return invalidArgument("the plugin has no engine " +
                             std::to_string(engine));
    const std::vector<uint8_t> bytes = describeEngine(engine);
    auto *copy = new uint8_t[bytes.size()];
    std::ranges::copy(bytes, copy);
    *details = {copy, bytes.size()};
    return Status::ok();
  });
}

PluginStatus hipdnnEnginePluginDestroyEngineDetails(Handle *handle,
                                                    ConstData *details) {
  return guard({handle, details}, [&] {
    delete[] static_cast<const uint8_t *>(details->data);
    *details = {};
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
      *size = (*context)->workspaceBytes;
    return context.getStatus();
  });
}

PluginStatus hipdnnEnginePluginCreateExecutionContext(Handle *handle,
                                                      const ConstData *config,
                                                      const ConstData *graph,
                                                      Context **context) {
  return guard({handle, config, graph, context}, [&] {
    auto made = makeContext(*handle, *config, *graph);
    if (made)
      *context = made->release();
    return made.getStatus();
  });
}

PluginStatus hipdnnEnginePluginDestroyExecutionContext(Handle *handle,
                                                       Context *context) {
  return guard({handle, context}, [&] {
    delete context;
    return Status::ok();
  });
}

PluginStatus hipdnnEnginePluginGetWorkspaceSizeFromExecutionContext(
    Handle *handle, Context *context, size_t *size) {
  return guard({handle, context, size}, [&] {
    *size = context->workspaceBytes;
    return Status::ok();
  });
}

PluginStatus hipdnnEnginePluginExecuteOpGraph(Handle *handle, Context *context,
                                              void *workspace,
                                              const DeviceBuffer *buffers,
                                              uint32_t count) {
  return guard({handle, context, buffers}, [&] {
    return context->run(*handle, workspace, {buffers, count});
  });
}
