//===- RobustCompile.cpp - A kernel, though not the best one --------------===//

#include "runtime/Engine/RobustCompile.h"

#include "runtime/Base/Log.h"

#include <limits>
#include <optional>

using namespace tessera;

/// Whether the compiler failed. A refusal is a proper answer.
static bool isMishap(const Status &failure) {
  switch (failure.getCode()) {
  case StatusCode::Unavailable:
  case StatusCode::Internal:
  case StatusCode::ResourceExhausted:
    return true;
  case StatusCode::Ok:
  case StatusCode::InvalidArgument:
  case StatusCode::NotSupported:
  case StatusCode::NotFound:
    return false;
  }
  __builtin_unreachable();
}

bool tessera::wasKilled(const Status &failure) {
  return failure.getCode() == StatusCode::ResourceExhausted;
}

bool tessera::isOwnFault(const Status &failure) {
  return isMishap(failure) && !wasKilled(failure);
}

/// The tile to try after `failed`; nothing if there is no other.
static std::optional<TileConfig> findOtherTile(const KernelCompiler &compiler,
                                               const Problem &problem,
                                               const TileConfig &failed,
                                               const GpuTarget &target) {
  const ErrorOr<std::vector<RankedTile>> ranked =
      compiler.rankTiles(problem, target, std::numeric_limits<uint32_t>::max());
  if (!ranked)
    return std::nullopt;
  std::optional<TileConfig> other;
  for (const RankedTile &candidate : *ranked) {
    if (candidate.tile == failed)
      continue;
    if (candidate.tile.algorithm == "general")
      return candidate.tile;
    if (!other)
      other = candidate.tile;
  }
  return other;
}

/// Compiles in this process if the compiler's processes are killed.
static ErrorOr<Kernel> compileAnyhow(KernelCompiler &compiler,
                                     const Problem &problem,
                                     const TileConfig &tile,
                                     const GpuTarget &target) {
  ErrorOr<Kernel> kernel = compiler.compile(problem, tile, target);
  if (!kernel && wasKilled(kernel.getStatus()))
    return compiler.compileHere(problem, tile, target);
  return kernel;
}

ErrorOr<CompiledKernel> tessera::compileRobustly(KernelCompiler &compiler,
                                                 const Problem &problem,
                                                 const TileConfig &tile,
                                                 const GpuTarget &target,
                                                 bool takesOthers) {
  ErrorOr<Kernel> kernel = compiler.compile(problem, tile, target);
  if (kernel)
    return CompiledKernel{std::move(*kernel), {}};
  const Status failure = kernel.getStatus();
  if (!takesOthers || !isMishap(failure))
    return failure;
  std::optional<TileConfig> other =
      findOtherTile(compiler, problem, tile, target);
  if (!other && wasKilled(failure))
    other = tile;
  if (!other)
    return failure;
  kernel = compileAnyhow(compiler, problem, *other, target);
  if (!kernel)
    return Status(failure.getCode(), failure.getMessage() + "; then tile " +
                                         other->toText() + ": " +
                                         kernel.getStatus().getMessage());
  logMessage(LogLevel::Warning,
             problem.toNetworkConfig() + " runs with tile " + other->toText() +
                 ", which may be slow: " + failure.getMessage());
  return CompiledKernel{std::move(*kernel), failure};
}
