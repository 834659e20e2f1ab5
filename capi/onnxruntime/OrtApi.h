//===- OrtApi.h - As much of ONNX Runtime's C API as we use ----*- C++ -*--===//
//
// How ONNX Runtime and an execution provider call each other: by tables of
// function pointers. They are declared here in our own words, from the facts of
// the interface (its onnxruntime_c_api.h and onnxruntime_ep_c_api.h), so that
// nothing of ONNX Runtime is needed to build (docs/design/0042-onnxruntime.md).
// We ask for version 23 of the API, the first that has all of it; every later
// release has the same functions at the same positions.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_ONNXRUNTIME_ORTAPI_H
#define TESSERA_CAPI_ONNXRUNTIME_ORTAPI_H

#include <cstddef>
#include <cstdint>

namespace tessera::ort {

inline constexpr uint32_t kApiVersion = 23;

// Objects of ONNX Runtime, by our names for them. An Error belongs to whom it
// is returned to; what graphs and values give stays theirs.
struct Error;          // OrtStatus
struct Logger;         // OrtLogger
struct Tensor;         // OrtValue
struct TypeInfo;       // OrtTypeInfo
struct TensorInfo;     // OrtTensorTypeAndShapeInfo
struct ValueInfo;      // OrtValueInfo
struct Node;           // OrtNode
struct Graph;          // OrtGraph
struct Attribute;      // OrtOpAttr
struct KernelContext;  // OrtKernelContext
struct HardwareDevice; // OrtHardwareDevice
struct Device;         // OrtEpDevice
struct SupportInfo;    // OrtEpGraphSupportInfo
struct KeyValues;      // OrtKeyValuePairs
struct SessionOptions; // OrtSessionOptions

enum : int32_t {
  kInvalidArgument = 2,
  kNotImplemented = 9,
  kProviderFailed = 11
};
enum : int32_t { kVerbose = 0, kWarning = 2 };
enum : int32_t { kCpu = 0 };
enum : int32_t { kInt = 1, kInts = 2, kFloat = 3, kString = 5 };

/// The functions of OrtApi that we call.
struct Api {
#define ORT_CALL(index, name, result, arguments) result(*name) arguments;
#include "capi/onnxruntime/OrtCalls.def"

  explicit Api(const void *const *table) {
#define ORT_CALL(index, name, result, arguments)                               \
  name =                                                                       \
      reinterpret_cast<result(*) arguments>(const_cast<void *>(table[index]));
#include "capi/onnxruntime/OrtCalls.def"
  }
};

/// OrtApiBase.
struct ApiBase {
  const void *const *(*getApi)(uint32_t version);
  const char *(*getVersion)();
};

/// OrtNodeFusionOptions.
struct FusionOptions {
  uint32_t version = kApiVersion;
  /// Whether inputs that are constant are left out of the fused node.
  bool dropsConstants;
};

struct Factory;

/// The beginning of OrtEpApi.
struct ProviderApi {
  Error *(*createDevice)(Factory *, const HardwareDevice *,
                         const KeyValues *metadata, const KeyValues *options,
                         Device **);
  void (*releaseDevice)(Device *);
  Error *(*fuse)(SupportInfo *, const Node *const *nodes, size_t count,
                 const FusionOptions *);
};

/// OrtNodeComputeInfo: what runs a fused node.
struct Computation {
  uint32_t version = kApiVersion;
  Error *(*createState)(Computation *, void *context, void **state);
  Error *(*compute)(Computation *, void *state, KernelContext *);
  void (*releaseState)(Computation *, void *state);
};

/// OrtEp as of version 23. What is null is not there.
struct Provider {
  uint32_t version = kApiVersion;
  const char *(*getName)(const Provider *);
  Error *(*getCapability)(Provider *, const Graph *, SupportInfo *);
  Error *(*compile)(Provider *, const Graph **graphs, const Node **fusedNodes,
                    size_t count, Computation **, Node **contextNodes);
  void (*releaseComputations)(Provider *, Computation **, size_t count);
  void *layoutsOptionsRunsAndAllocators[7] = {};
  const char *(*getCompatibility)(Provider *, const Graph *) = nullptr;
};

/// OrtEpFactory as of version 23.
struct Factory {
  uint32_t version = kApiVersion;
  const char *(*getName)(const Factory *);
  const char *(*getVendor)(const Factory *);
  Error *(*getDevices)(Factory *, const HardwareDevice *const *hardware,
                       size_t hardwareCount, Device **devices, size_t capacity,
                       size_t *count);
  Error *(*create)(Factory *, const HardwareDevice *const *,
                   const KeyValues *const *, size_t count,
                   const SessionOptions *, const Logger *, Provider **);
  void (*release)(Factory *, Provider *);
  uint32_t (*getVendorId)(const Factory *);
  const char *(*getVersion)(const Factory *);
  Error *(*validateCompiled)(Factory *, const HardwareDevice *const *,
                             size_t count, const char *info, int32_t *answer);
  Error *(*createAllocator)(Factory *, const void *memory, const KeyValues *,
                            void **allocator);
  void (*releaseAllocator)(Factory *, void *allocator);
  Error *(*createDataTransfer)(Factory *, void **transfer);
  bool (*isStreamAware)(const Factory *);
  Error *(*createStream)(Factory *, const void *device, const KeyValues *,
                         void **stream);
};

} // namespace tessera::ort

#pragma GCC visibility push(default)
extern "C" {

/// What ONNX Runtime looks up in the library of a provider.
tessera::ort::Error *CreateEpFactories(const char *registeredName,
                                       const tessera::ort::ApiBase *base,
                                       const tessera::ort::Logger *logger,
                                       tessera::ort::Factory **factories,
                                       size_t capacity, size_t *count);
tessera::ort::Error *ReleaseEpFactory(tessera::ort::Factory *factory);

} // extern "C"
#pragma GCC visibility pop

#endif // TESSERA_CAPI_ONNXRUNTIME_ORTAPI_H
