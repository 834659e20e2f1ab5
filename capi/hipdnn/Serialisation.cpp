//===- Serialisation.cpp - Plans for processes that do not compile --------===//
//
// The bytes: eight that say whose they are and in which form, a checksum of the
// rest, the size of the workspace, the graph, and of each kernel its problem
// and what the library saves of it. Numbers are those of the host, as in the
// graph's own bytes.
//
//===----------------------------------------------------------------------===//

#include "capi/hipdnn/GraphContext.h"
#include "runtime/Base/Hash.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>

using namespace tessera;
using namespace tessera::hipdnn;

/// The last one is the version of the form.
static constexpr std::string_view kMagic = "TSRPLAN\1";
static constexpr size_t kHeaderBytes = kMagic.size() + sizeof(uint64_t);

static uint64_t getChecksum(std::string_view bytes) {
  Fnv1a hash;
  hash.addField(bytes);
  return hash.get();
}

namespace {
/// Reads from the front of the bytes; nothing more after the first that are
/// missing.
class Reader {
public:
  explicit Reader(std::string_view bytes) : bytes(bytes) {}

  uint64_t readNumber() {
    uint64_t number = 0;
    const std::string_view field = take(sizeof number);
    if (isGood)
      std::memcpy(&number, field.data(), sizeof number);
    return number;
  }
  std::string_view readText() { return take(readNumber()); }
  bool isAtEnd() const { return isGood && bytes.empty(); }
  bool hasMore() const { return isGood && !bytes.empty(); }

private:
  std::string_view take(uint64_t size) {
    isGood &= size <= bytes.size();
    const std::string_view front = bytes.substr(0, isGood ? size : 0);
    bytes.remove_prefix(front.size());
    return front;
  }

  std::string_view bytes;
  bool isGood = true;
};
} // namespace

static void addNumber(std::string &bytes, uint64_t number) {
  bytes.append(reinterpret_cast<const char *>(&number), sizeof number);
}

static void addText(std::string &bytes, std::string_view text) {
  addNumber(bytes, text.size());
  bytes += text;
}

static ErrorOr<std::string> saveKernel(miopenHandle_t handle,
                                       const std::string &problem) {
  const Library &library = *getLibrary();
  size_t size = 0;
  Status status = convert(
      library, library.saveKernel(handle, problem.c_str(), nullptr, &size));
  std::string kernel(size, 0);
  if (status.isOk())
    status = convert(library, library.saveKernel(handle, problem.c_str(),
                                                 kernel.data(), &size));
  if (!status.isOk())
    return status;
  return kernel;
}

ErrorOr<std::string> GraphContext::serialise(Handle &handle) const {
  const ErrorOr<miopenHandle_t> own = handle.get();
  if (!own)
    return own.getStatus();
  std::string body;
  addNumber(body, getWorkspaceBytes());
  addText(body, {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  std::set<std::string> problems;
  for (const Step &step : declared->plan.steps) {
    if (!problems.insert(step.problem).second)
      continue;
    const ErrorOr<std::string> kernel = saveKernel(*own, step.problem);
    if (!kernel)
      return kernel.getStatus();
    addText(body, step.problem);
    addText(body, *kernel);
  }
  std::string whole(kMagic);
  addNumber(whole, getChecksum(body));
  return whole + body;
}

/// Checks who wrote the bytes, and returns those behind the header.
static ErrorOr<std::string_view> readHeader(std::string_view bytes) {
  constexpr std::string_view kName = kMagic.substr(0, kMagic.size() - 1);
  if (bytes.size() < kHeaderBytes || !bytes.starts_with(kName))
    return invalidArgument("the bytes are no serialised plan of this engine");
  if (!bytes.starts_with(kMagic))
    return notSupported("the plan was serialised in form " +
                        std::to_string(bytes[kName.size()]) +
                        ", but this release reads " +
                        std::to_string(kMagic.back()));
  const std::string_view body = bytes.substr(kHeaderBytes);
  if (Reader(bytes.substr(kMagic.size())).readNumber() != getChecksum(body))
    return invalidArgument("the serialised plan is damaged");
  return body;
}

/// Whether the steps of the graph are those whose kernels were loaded, so that
/// nothing need be compiled.
static Status checkSteps(std::span<const uint8_t> bytes,
                         const std::set<std::string, std::less<>> &problems) {
  ErrorOr<Graph> graph = Graph::read(bytes);
  if (!graph)
    return graph.getStatus();
  const ErrorOr<Plan> plan = planGraph(*graph);
  if (!plan)
    return plan.getStatus();
  for (const Step &step : plan->steps)
    if (!problems.contains(step.problem))
      return notSupported("the release that serialised the plan computes it in "
                          "other steps: it has no kernel of " +
                          step.problem);
  return Status::ok();
}

ErrorOr<std::unique_ptr<GraphContext>>
GraphContext::deserialise(Handle &handle, std::span<const uint8_t> bytes) {
  const ErrorOr<std::string_view> body =
      readHeader({reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  if (!body)
    return body.getStatus();
  const ErrorOr<miopenHandle_t> own = handle.get();
  if (!own)
    return own.getStatus();
  Reader reader(*body);
  const uint64_t workspaceBytes = reader.readNumber();
  const std::string_view graph = reader.readText();
  std::set<std::string, std::less<>> problems;
  while (reader.hasMore()) {
    problems.emplace(reader.readText());
    const std::string_view kernel = reader.readText();
    const Library &library = *getLibrary();
    if (Status status = convert(
            library, library.loadKernel(*own, kernel.data(), kernel.size()));
        !status.isOk())
      return status;
  }
  if (!reader.isAtEnd())
    return invalidArgument("the serialised plan is damaged");
  const std::span<const uint8_t> graphBytes = {
      reinterpret_cast<const uint8_t *>(graph.data()), graph.size()};
  if (Status status = checkSteps(graphBytes, problems); !status.isOk())
    return status;
  return make(handle, graphBytes, workspaceBytes);
}
