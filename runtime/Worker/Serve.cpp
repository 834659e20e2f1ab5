//===- Serve.cpp - A request, answered by a compiler ----------------------===//

#include "runtime/Worker/Serve.h"

using namespace tessera;

static WorkerReply fail(Status failure) { return {std::move(failure), {}, {}}; }

static WorkerReply refuse(const Status &failure) {
  return fail(internalError(failure.getMessage()));
}

static WorkerReply serveCompile(KernelCompiler &compiler,
                                const Problem &problem, const std::string &text,
                                const GpuTarget &target) {
  const ErrorOr<TileConfig> tile = parseTileConfig(text);
  if (!tile)
    return refuse(tile.getStatus());
  ErrorOr<Kernel> kernel = compiler.compile(problem, *tile, target);
  if (!kernel)
    return fail(kernel.getStatus());
  return {{}, {}, std::move(*kernel)};
}

static WorkerReply serveNeighbours(KernelCompiler &compiler,
                                   const Problem &problem,
                                   const std::string &text,
                                   const GpuTarget &target) {
  const ErrorOr<TileConfig> tile = parseTileConfig(text);
  if (!tile)
    return refuse(tile.getStatus());
  ErrorOr<std::vector<TileConfig>> found =
      compiler.findNeighbours(problem, *tile, target);
  if (!found)
    return fail(found.getStatus());
  WorkerReply reply;
  for (TileConfig &neighbour : *found)
    reply.tiles.push_back({std::move(neighbour), 0});
  return reply;
}

WorkerReply tessera::serve(KernelCompiler &compiler,
                           const WorkerRequest &request) {
  const ErrorOr<Problem> problem = parseNetworkConfig(request.problem);
  if (!problem)
    return refuse(problem.getStatus());
  const GpuTarget *target = findTarget(request.target);
  if (!target)
    return fail(internalError("there is no chip " + request.target));
  switch (request.kind) {
  case WorkerRequest::Kind::ChooseTile: {
    ErrorOr<TileConfig> tile = compiler.chooseTile(*problem, *target);
    if (!tile)
      return fail(tile.getStatus());
    return {{}, {{std::move(*tile), 0}}, {}};
  }
  case WorkerRequest::Kind::RankTiles: {
    ErrorOr<std::vector<RankedTile>> tiles =
        compiler.rankTiles(*problem, *target, request.limit);
    if (!tiles)
      return fail(tiles.getStatus());
    return {{}, std::move(*tiles), {}};
  }
  case WorkerRequest::Kind::Compile:
    return serveCompile(compiler, *problem, request.tile, *target);
  case WorkerRequest::Kind::FindNeighbours:
    return serveNeighbours(compiler, *problem, request.tile, *target);
  }
  __builtin_unreachable();
}
