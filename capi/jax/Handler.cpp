//===- Handler.cpp - Launches problems for XLA ----------------------------===//

#include "capi/jax/Handler.h"
#include "capi/jax/Memory.h"

#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace tessera::jax;

namespace {
/// What calls share: XLA makes them from any thread, several at once.
struct Shared {
  std::mutex mutex;
  /// Those that no call is using, by device. They are as many as there were
  /// calls at once, and stay.
  std::multimap<int32_t, miopenHandle_t> handles;
  std::map<std::string, uint64_t, std::less<>> counts;
};
} // namespace

static Settings settings;

static Shared &getShared() {
  // Never destroyed: threads of XLA's may outlive this library's destructors.
  static Shared &shared = *new Shared;
  return shared;
}

namespace {
/// A handle for the time of a call.
class Handle {
public:
  Handle(int32_t device, void *stream) : device(device) {
    const std::lock_guard lock(getShared().mutex);
    if (auto unused = getShared().handles.extract(device))
      handle = unused.mapped();
    auto *queue = static_cast<miopenAcceleratorQueue_t>(stream);
    status = handle ? settings.setStream(handle, queue)
                    : settings.create(&handle, queue);
  }
  ~Handle() {
    const std::lock_guard lock(getShared().mutex);
    if (handle)
      getShared().handles.emplace(device, handle);
  }
  Handle(const Handle &) = delete;

  miopenHandle_t handle = nullptr;
  miopenStatus_t status;

private:
  const int32_t device;
};

/// A problem with the buffers of a call.
struct Call {
  std::string problem;
  std::string_view tensors;
  std::vector<const xla::Buffer *> buffers; ///< Arguments, then results.
  size_t arguments = 0;                     ///< How many of them there are.

  explicit Call(const xla::CallFrame &frame);
  /// Returns why it failed.
  std::string run(int32_t device, void *stream) const;
};
} // namespace

static std::string_view getString(const xla::Attributes &attributes,
                                  std::string_view name) {
  for (int64_t i = 0; i < attributes.count; ++i) {
    const xla::String &known = *attributes.names[i];
    if (attributes.kinds[i] != xla::kString ||
        std::string_view(known.data, known.size) != name)
      continue;
    auto *value = static_cast<const xla::String *>(attributes.values[i]);
    return {value->data, value->size};
  }
  return {};
}

Call::Call(const xla::CallFrame &frame)
    : problem(getString(frame.attributes, "problem")),
      tensors(getString(frame.attributes, "tensors")),
      arguments(frame.arguments.count) {
  for (const xla::Buffers *list : {&frame.arguments, &frame.results})
    buffers.insert(buffers.end(), list->buffers, list->buffers + list->count);
}

/// Where a letter of "tensors" belongs.
static const void **find(tesseraProblemArguments &arguments, char letter) {
  switch (letter) {
  case 'x':
    return &arguments.x;
  case 'w':
    return &arguments.w;
  case 'y':
    return &arguments.y;
  case 'i':
    return const_cast<const void **>(&arguments.indices);
  case 's':
    return const_cast<const void **>(&arguments.workSpace);
  default:
    return nullptr;
  }
}

std::string Call::run(int32_t device, void *stream) const {
  if (problem.empty() || tensors.size() != buffers.size())
    return "the call is not one of tessera.jax";
  tesseraProblemArguments given = TESSERA_PROBLEM_ARGUMENTS_INIT;
  std::vector<Memory> memories;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Memory &memory = memories.emplace_back(settings, *buffers[i]);
    const void **address = find(given, tensors[i]);
    if (!address || !memory.getAddress() || (i < arguments && !memory.bring()))
      return "no device memory for a tensor of " + problem;
    *address = memory.getAddress();
    if (tensors[i] == 's')
      given.workSpaceSize = buffers[i]->lengths[0];
  }
  Handle handle(device, stream);
  if (handle.status ||
      settings.runProblem(handle.handle, problem.c_str(), &given))
    return settings.getMessage();
  for (size_t i = arguments; i < buffers.size(); ++i)
    if (tensors[i] != 's' && !memories[i].fetch())
      return "a result of " + problem + " cannot be copied from the device";
  return {};
}

/// Says that we follow the rules of this XLA, if they are the ones that we
/// know.
static void describe(const xla::CallFrame &frame, xla::Metadata &metadata) {
  metadata.version.major = xla::kMajorVersion;
  metadata.version.minor =
      frame.api ? frame.api->version.minor : xla::kEarlyMinorVersion;
  metadata.traits = 0;
}

void tesseraJaxStart(const Settings *given) { settings = *given; }

xla::Error *tesseraJaxRun(xla::CallFrame *frame) {
  for (xla::Extension *next = frame->extension; next; next = next->next)
    if (next->kind == xla::kMetadata) {
      auto *extension = reinterpret_cast<xla::MetadataExtension *>(next);
      describe(*frame, *extension->metadata);
      return nullptr;
    }
  const xla::Api &api = *frame->api;
  xla::GetStream stream = {sizeof stream, nullptr, frame->context, nullptr};
  xla::GetDevice device = {sizeof device, nullptr, frame->context, 0};
  if (settings.isGpu) {
    if (xla::Error *error = api.getStream(&stream))
      return error;
    const bool canAsk = api.size > offsetof(xla::Api, getDevice);
    if (xla::Error *error = canAsk ? api.getDevice(&device) : nullptr)
      return error;
  }
  const Call call(*frame);
  if (std::string why = call.run(device.device, stream.stream); !why.empty()) {
    xla::CreateError error = {sizeof error, nullptr, why.c_str(),
                              xla::kInternal};
    return api.createError(&error);
  }
  const std::lock_guard lock(getShared().mutex);
  ++getShared().counts[call.problem];
  return nullptr;
}

uint64_t tesseraJaxGetCount(const char *problem) {
  const std::lock_guard lock(getShared().mutex);
  auto known = getShared().counts.find(std::string_view(problem));
  return known == getShared().counts.end() ? 0 : known->second;
}
