//===- Protocol.h - What client and compile worker say ---------*- C++ -*-===//
//
// Both ends are of one build, which the worker checks before it says anything,
// so the format needs no versions. But a worker that is about to crash may send
// anything, and the client must survive that: what is read is checked like the
// input of a stranger.
//
// A message is eight bytes that count the rest, and the rest: numbers of eight
// bytes, the least significant first, and texts with their length before them.
// The worker begins with a reply that says whether it has a compiler; then each
// request has one reply.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_WORKER_PROTOCOL_H
#define TESSERA_RUNTIME_WORKER_PROTOCOL_H

#include "runtime/Engine/KernelCompiler.h"

#include <string_view>

namespace tessera {

/// One call of a KernelCompiler.
struct WorkerRequest {
  enum class Kind : uint8_t { ChooseTile, RankTiles, Compile };

  Kind kind = Kind::ChooseTile;
  std::string problem; ///< Its network config.
  std::string target;  ///< GpuTarget::name.
  std::string tile;    ///< Compile: its text.
  uint64_t limit = 0;  ///< RankTiles.
};

/// What the call returned: a failure, or the part that the request asks for.
struct WorkerReply {
  Status status;
  std::vector<RankedTile> tiles; ///< One, for ChooseTile.
  Kernel kernel;
};

/// The rest of a message, without the count of its bytes.
std::string encode(const WorkerRequest &request);
std::string encode(const WorkerReply &reply);

/// Read exactly what encode() writes; Internal for any other bytes.
ErrorOr<WorkerRequest> decodeRequest(std::string_view bytes);
ErrorOr<WorkerReply> decodeReply(std::string_view bytes);

} // namespace tessera

#endif // TESSERA_RUNTIME_WORKER_PROTOCOL_H
