//===- PluginApi.h - The calls by which hipDNN uses a plugin ---*- C++ -*--===//
//
// hipDNN opens each library of its plugin directory and looks these functions
// up by name. They are declared here in our own words, from the facts of the
// interface, so that nothing of hipDNN is needed to build
// (docs/design/0037-hipdnn-plugin.md). Every function but the one that gives
// the last error answers a status; a handle is used by one thread at a time.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_HIPDNN_PLUGINAPI_H
#define TESSERA_CAPI_HIPDNN_PLUGINAPI_H

#include <cstddef>
#include <cstdint>

namespace tessera::hipdnn {

enum class PluginStatus : int32_t {
  Success = 0,
  BadParameter = 1, ///< A pointer is null.
  InvalidValue = 2, ///< What it points to cannot be used.
  InternalError = 3,
  AllocationFailed = 4,
  NotApplicable = 5, ///< Valid, and nothing that we have.
};

enum class PluginType : int32_t { Unspecified = 0, Engine = 1 };

enum class Severity : int32_t { Info = 0, Warning = 1, Error = 2 };
using LogCallback = void (*)(Severity severity, const char *message);

/// Bytes of a FlatBuffer.
struct ConstData {
  const void *data;
  size_t size;
};

/// The memory of a tensor of a graph.
struct DeviceBuffer {
  int64_t uid;
  void *memory;
};

struct Handle;
class GraphContext;

} // namespace tessera::hipdnn

#pragma GCC visibility push(default)
extern "C" {

tessera::hipdnn::PluginStatus hipdnnPluginGetName(const char **name);
tessera::hipdnn::PluginStatus hipdnnPluginGetVersion(const char **version);
tessera::hipdnn::PluginStatus hipdnnPluginGetApiVersion(const char **version);
tessera::hipdnn::PluginStatus
hipdnnPluginGetType(tessera::hipdnn::PluginType *type);
void hipdnnPluginGetLastErrorString(const char **error);
tessera::hipdnn::PluginStatus
hipdnnPluginSetLoggingCallback(tessera::hipdnn::LogCallback callback);

tessera::hipdnn::PluginStatus
hipdnnEnginePluginGetAllEngineIds(int64_t *engines, uint32_t capacity,
                                  uint32_t *count);
/// The identifier of an engine is a hash of its name.
tessera::hipdnn::PluginStatus
hipdnnEnginePluginGetEngineName(int64_t engine, const char **name);
tessera::hipdnn::PluginStatus
hipdnnEnginePluginCreate(tessera::hipdnn::Handle **handle);
tessera::hipdnn::PluginStatus
hipdnnEnginePluginDestroy(tessera::hipdnn::Handle *handle);
tessera::hipdnn::PluginStatus
hipdnnEnginePluginSetStream(tessera::hipdnn::Handle *handle, void *stream);

/// Compiles nothing.
tessera::hipdnn::PluginStatus hipdnnEnginePluginGetApplicableEngineIds(
    tessera::hipdnn::Handle *handle, const tessera::hipdnn::ConstData *graph,
    int64_t *engines, uint32_t capacity, uint32_t *count);
tessera::hipdnn::PluginStatus
hipdnnEnginePluginGetEngineDetails(tessera::hipdnn::Handle *handle,
                                   int64_t engine,
                                   const tessera::hipdnn::ConstData *graph,
                                   tessera::hipdnn::ConstData *details);
tessera::hipdnn::PluginStatus
hipdnnEnginePluginDestroyEngineDetails(tessera::hipdnn::Handle *handle,
                                       tessera::hipdnn::ConstData *details);

/// Compiles the kernels of the graph, or finds them in the database.
tessera::hipdnn::PluginStatus hipdnnEnginePluginGetWorkspaceSize(
    tessera::hipdnn::Handle *handle, const tessera::hipdnn::ConstData *config,
    const tessera::hipdnn::ConstData *graph, size_t *size);
tessera::hipdnn::PluginStatus hipdnnEnginePluginCreateExecutionContext(
    tessera::hipdnn::Handle *handle, const tessera::hipdnn::ConstData *config,
    const tessera::hipdnn::ConstData *graph,
    tessera::hipdnn::GraphContext **context);
tessera::hipdnn::PluginStatus hipdnnEnginePluginDestroyExecutionContext(
    tessera::hipdnn::Handle *handle, tessera::hipdnn::GraphContext *context);
tessera::hipdnn::PluginStatus
hipdnnEnginePluginGetWorkspaceSizeFromExecutionContext(
    tessera::hipdnn::Handle *handle, tessera::hipdnn::GraphContext *context,
    size_t *size);

/// All that another process needs to run the plan without compiling. The newest
/// releases call the first one, those of summer 2026 the second.
tessera::hipdnn::PluginStatus
hipdnnEnginePluginSerializeExecutionContextWithEngineId(
    tessera::hipdnn::Handle *handle, int64_t engine,
    tessera::hipdnn::GraphContext *context,
    tessera::hipdnn::ConstData *serialised);
tessera::hipdnn::PluginStatus hipdnnEnginePluginSerializeExecutionContext(
    tessera::hipdnn::Handle *handle, tessera::hipdnn::GraphContext *context,
    tessera::hipdnn::ConstData *serialised);
tessera::hipdnn::PluginStatus
hipdnnEnginePluginDestroySerializedExecutionContext(
    tessera::hipdnn::Handle *handle, tessera::hipdnn::ConstData *serialised);
/// InvalidValue if the bytes are damaged, NotApplicable if they are of another
/// release or for another chip. A few builds of May 2026 pass the engine's
/// configuration second, and the bytes and the result behind it: that is not
/// the beginning of a plan, and is refused before anything else is touched.
tessera::hipdnn::PluginStatus
hipdnnEnginePluginCreateExecutionContextFromSerialized(
    tessera::hipdnn::Handle *handle,
    const tessera::hipdnn::ConstData *serialised,
    tessera::hipdnn::GraphContext **context);

/// Launches the kernels on the stream of the handle. Numbers that come with an
/// execution are in the host's memory.
tessera::hipdnn::PluginStatus hipdnnEnginePluginExecuteOpGraph(
    tessera::hipdnn::Handle *handle, tessera::hipdnn::GraphContext *context,
    void *workspace, const tessera::hipdnn::DeviceBuffer *buffers,
    uint32_t count);

/// The same with other lengths and strides of some tensors: `ranks` has the
/// number of each tensor's lengths.
tessera::hipdnn::PluginStatus hipdnnEnginePluginExecuteOpGraphWithOverrides(
    tessera::hipdnn::Handle *handle, tessera::hipdnn::GraphContext *context,
    void *workspace, const tessera::hipdnn::DeviceBuffer *buffers,
    uint32_t count, uint32_t shapeCount, const int64_t *uids,
    const uint32_t *ranks, const int64_t *const *lengths,
    const int64_t *const *strides);

} // extern "C"
#pragma GCC visibility pop

#endif // TESSERA_CAPI_HIPDNN_PLUGINAPI_H
