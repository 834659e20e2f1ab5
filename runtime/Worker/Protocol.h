//===- Protocol.h - What client and compile worker say ---------*- C++ -*--===//
//
// Both ends are of one build, which the worker checks before it sends anything,
// so the format needs no versions. But a worker that is about to crash may send
// anything, and the client must survive that: messages are checked like the
// input of a stranger.
//
// A message begins with eight bytes that count the rest. The rest is numbers of
// eight bytes, least significant byte first, and texts with their length before
// them. The worker begins with a reply that says whether it has a compiler;
// then each request has one reply.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_WORKER_PROTOCOL_H
#define TESSERA_RUNTIME_WORKER_PROTOCOL_H

#include "runtime/Engine/KernelCompiler.h"

#include <string_view>

namespace tessera {

/// One call of a KernelCompiler.
struct WorkerRequest {
  enum class Kind : uint8_t { ChooseTile, RankTiles, Compile, FindNeighbours };

  Kind kind = Kind::ChooseTile;
  std::string problem; ///< A network config.
  std::string target;  ///< GpuTarget::name.
  std::string tile;    ///< For Compile and FindNeighbours: the text.
  uint64_t limit = 0;  ///< For RankTiles.
};

/// The result of the call: a failure, or the member that the request asks for.
struct WorkerReply {
  Status status;
  std::vector<RankedTile> tiles; ///< A single one for ChooseTile.
  Kernel kernel;
};

/// Encodes a message without the count of its bytes.
std::string encode(const WorkerRequest &request);
std::string encode(const WorkerReply &reply);

/// These read exactly what encode() writes; Internal for any other bytes.
ErrorOr<WorkerRequest> decodeRequest(std::string_view bytes);
ErrorOr<WorkerReply> decodeReply(std::string_view bytes);

} // namespace tessera

#endif // TESSERA_RUNTIME_WORKER_PROTOCOL_H
