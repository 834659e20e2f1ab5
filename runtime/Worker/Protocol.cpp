//===- Protocol.cpp - What client and compile worker say ------------------===//

#include "runtime/Worker/Protocol.h"

#include <bit>

using namespace tessera;

//===----------------------------------------------------------------------===//
// Plain values
//===----------------------------------------------------------------------===//

namespace {
/// Appends values to a text. It has the methods of Reader, so that one function
/// lists the members of a structure for both.
class Writer {
public:
  std::string bytes;

  void number(uint64_t value) {
    for (int byte = 0; byte != 8; ++byte)
      bytes += static_cast<char>(value >> (8 * byte) & 0xff);
  }
  void real(double value) { number(std::bit_cast<uint64_t>(value)); }
  void text(std::string_view value) {
    number(value.size());
    bytes += value;
  }
  void blob(const std::vector<char> &value) {
    text({value.data(), value.size()});
  }
  template <typename Enum>
  void choice(Enum value, Enum /*last*/) {
    number(static_cast<uint64_t>(value));
  }
  template <typename T, typename Visitor>
  void list(const std::vector<T> &values, Visitor visit) {
    number(values.size());
    for (const T &value : values)
      visit(value);
  }
  void map(const TensorMap &value) { text(value.toText()); }
  void size(const SizeExpr &value) { text(value.toText()); }
};

/// Takes values from a text. After the first value that is missing or
/// impossible it has failed, and returns zeros and empty texts.
class Reader {
public:
  explicit Reader(std::string_view bytes) : rest(bytes) {}

  bool isDone() const { return isGood && rest.empty(); }

  template <typename T>
  void number(T &value) {
    uint64_t wide = 0;
    if (rest.size() < 8)
      return fail();
    for (int byte = 0; byte != 8; ++byte)
      wide |= static_cast<uint64_t>(static_cast<unsigned char>(rest[byte]))
              << (8 * byte);
    rest.remove_prefix(8);
    value = static_cast<T>(wide);
    if (value != wide)
      fail();
  }
  void real(double &value) {
    uint64_t bits = 0;
    number(bits);
    value = std::bit_cast<double>(bits);
  }
  void text(std::string &value) { value = take(); }
  void blob(std::vector<char> &value) {
    const std::string_view bytes = take();
    value.assign(bytes.begin(), bytes.end());
  }
  template <typename Enum>
  void choice(Enum &value, Enum last) {
    uint64_t wide = 0;
    number(wide);
    if (wide > static_cast<uint64_t>(last))
      return fail();
    value = static_cast<Enum>(wide);
  }
  template <typename T, typename Visitor>
  void list(std::vector<T> &values, Visitor visit) {
    uint64_t count = 0;
    number(count);
    // Every element takes eight bytes or more, so a wrong count allocates
    // nothing.
    if (count > rest.size() / 8)
      return fail();
    for (values.resize(count); T &value : values)
      visit(value);
  }
  void map(TensorMap &value) {
    ErrorOr<TensorMap> parsed = parseTensorMap(take());
    if (!parsed)
      return fail();
    value = *parsed;
  }
  void size(SizeExpr &value) {
    ErrorOr<SizeExpr> parsed = parseSizeExpr(take());
    if (!parsed)
      return fail();
    value = *parsed;
  }

private:
  std::string_view take() {
    uint64_t size = 0;
    number(size);
    if (size > rest.size())
      fail();
    const std::string_view taken = rest.substr(0, isGood ? size : 0);
    rest.remove_prefix(taken.size());
    return taken;
  }
  void fail() {
    isGood = false;
    rest = {};
  }

  std::string_view rest;
  bool isGood = true;
};
} // namespace

//===----------------------------------------------------------------------===//
// Structures
//===----------------------------------------------------------------------===//

template <typename Archive, typename Recipe>
static void visitLaunch(Archive &archive, Recipe &launch) {
  archive.text(launch.symbol);
  for (auto &size : launch.grid)
    archive.number(size);
  for (auto &size : launch.block)
    archive.number(size);
  archive.number(launch.dynamicLdsBytes);
  archive.choice(launch.isDependent, /*last=*/true);
  archive.size(launch.workgroups);
  archive.size(launch.workspace);
  archive.list(launch.maps, [&](auto &map) { archive.map(map); });
  archive.list(launch.args, [&](auto &arg) {
    archive.choice(arg.kind, KernelArg::Divisor);
    archive.number(arg.alignment);
    archive.size(arg.size);
  });
}

template <typename Archive, typename SomeKernel>
static void visitKernel(Archive &archive, SomeKernel &kernel) {
  archive.blob(kernel.codeObject);
  archive.list(kernel.launches,
               [&](auto &launch) { visitLaunch(archive, launch); });
  archive.number(kernel.workspaceBytes);
  auto &used = kernel.resources;
  for (auto *number : {&used.vgprs, &used.agprs, &used.sgprs, &used.vgprSpills,
                       &used.sgprSpills, &used.ldsBytes, &used.scratchBytes})
    archive.number(*number);
  archive.text(kernel.tile);
  archive.list(kernel.stageTimes, [&](auto &time) {
    archive.text(time.stage);
    archive.real(time.timeMs);
  });
}

template <typename Archive, typename Request>
static void visitRequest(Archive &archive, Request &request) {
  archive.choice(request.kind, WorkerRequest::Kind::FindNeighbours);
  archive.text(request.problem);
  archive.text(request.target);
  archive.text(request.tile);
  archive.number(request.limit);
}

std::string tessera::encode(const WorkerRequest &request) {
  Writer writer;
  visitRequest(writer, request);
  return std::move(writer.bytes);
}

ErrorOr<WorkerRequest> tessera::decodeRequest(std::string_view bytes) {
  WorkerRequest request;
  Reader reader(bytes);
  visitRequest(reader, request);
  if (!reader.isDone())
    return internalError("a compile worker got a request that is none");
  return request;
}

std::string tessera::encode(const WorkerReply &reply) {
  Writer writer;
  writer.choice(reply.status.getCode(), StatusCode::Internal);
  writer.text(reply.status.getMessage());
  writer.list(reply.tiles, [&](const RankedTile &ranked) {
    writer.text(ranked.tile.algorithm);
    writer.text(ranked.tile.parameters);
    writer.real(ranked.cost);
  });
  visitKernel(writer, reply.kernel);
  return std::move(writer.bytes);
}

ErrorOr<WorkerReply> tessera::decodeReply(std::string_view bytes) {
  WorkerReply reply;
  Reader reader(bytes);
  StatusCode code = StatusCode::Ok;
  std::string message;
  reader.choice(code, StatusCode::Internal);
  reader.text(message);
  reply.status = Status(code, std::move(message));
  reader.list(reply.tiles, [&](RankedTile &ranked) {
    reader.text(ranked.tile.algorithm);
    reader.text(ranked.tile.parameters);
    reader.real(ranked.cost);
  });
  visitKernel(reader, reply.kernel);
  if (!reader.isDone())
    return internalError("a compile worker sent a reply that is none");
  return reply;
}
