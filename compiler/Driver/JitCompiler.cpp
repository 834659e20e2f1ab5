//===- JitCompiler.cpp - The engine's in-process compiler -----------------===//

#include "compiler/Driver/JitCompiler.h"
#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Driver/Revision.h"
#include "compiler/Pipeline/Neighbours.h"
#include "compiler/Pipeline/Pipeline.h"
#include "runtime/Base/TileSetting.h"

#include <algorithm>

using namespace tessera;

/// Checks that the kernel's arguments are those of the launch, without gaps:
/// tensor maps, then eight bytes each. Hidden arguments are an error, since the
/// launch would leave them unset.
static Status checkArgs(const KernelMetadata &metadata,
                        const LaunchRecipe &launch) {
  constexpr int64_t kBytes = 8, kMapBytes = 128;
  const size_t maps = launch.maps.size();
  bool asLaunched = metadata.args.size() == maps + launch.args.size();
  int64_t offset = 0;
  for (size_t i = 0; asLaunched && i != metadata.args.size(); ++i) {
    const KernelArgLayout &arg = metadata.args[i];
    const bool isMap = i < maps;
    const bool isValue = isMap || isScalar(launch.args[i - maps].kind);
    const int64_t bytes = isMap ? kMapBytes : kBytes;
    asLaunched = arg.kind == (isValue ? "by_value" : "global_buffer") &&
                 arg.bytes == bytes && arg.offset == offset;
    offset += bytes;
  }
  if (asLaunched)
    return Status::ok();
  return internalError("kernel " + metadata.name +
                       " does not take the arguments it is launched with");
}

/// Raises each resource of `all` to that of `one`, since a kernel with several
/// launches reports the maximum.
static void widen(KernelResources &all, const KernelResources &one) {
  all.vgprs = std::max(all.vgprs, one.vgprs);
  all.agprs = std::max(all.agprs, one.agprs);
  all.sgprs = std::max(all.sgprs, one.sgprs);
  all.vgprSpills = std::max(all.vgprSpills, one.vgprSpills);
  all.sgprSpills = std::max(all.sgprSpills, one.sgprSpills);
  all.ldsBytes = std::max(all.ldsBytes, one.ldsBytes);
  all.scratchBytes = std::max(all.scratchBytes, one.scratchBytes);
}

/// Reads the resources of each launch's kernel from the finished code object,
/// and checks its arguments.
static Status readResources(Kernel &kernel,
                            const std::vector<KernelMetadata> &kernels) {
  for (const LaunchRecipe &launch : kernel.launches) {
    auto found =
        std::ranges::find(kernels, launch.symbol, &KernelMetadata::name);
    if (found == kernels.end())
      return internalError("the code object lacks kernel " + launch.symbol);
    KernelResources used = found->resources;
    used.ldsBytes += launch.dynamicLdsBytes;
    widen(kernel.resources, used);
    if (Status status = checkArgs(*found, launch); !status.isOk())
      return status;
  }
  return Status::ok();
}

namespace {
class JitCompiler : public KernelCompiler {
public:
  std::string getRevision() const override { return getCompilerRevision(); }

  /// TESSERA_TILE overrides the model if its algorithm covers the problem.
  /// compile() reports a tile that does not fit, and the calling program one
  /// that is malformed.
  ErrorOr<TileConfig> chooseTile(const Problem &problem,
                                 const GpuTarget &target) const override {
    if (std::optional<TileConfig> tile = getEnvTile(nullptr)) {
      const Algorithm *algorithm = findAlgorithm(*tile);
      if (algorithm && checkAlgorithm(*algorithm, problem, target).isOk())
        return std::move(*tile);
    }
    return tessera::chooseTile(problem, target);
  }

  ErrorOr<std::vector<RankedTile>> rankTiles(const Problem &problem,
                                             const GpuTarget &target,
                                             size_t limit) const override {
    ErrorOr<std::vector<Candidate>> all = tessera::rankTiles(problem, target);
    if (!all)
      return all.getStatus();
    std::vector<RankedTile> ranked;
    for (Candidate &candidate :
         std::span(*all).first(std::min(limit, all->size())))
      ranked.push_back({std::move(candidate.tile), candidate.cost});
    return ranked;
  }

  ErrorOr<std::vector<TileConfig>>
  findNeighbours(const Problem &problem, const TileConfig &tile,
                 const GpuTarget &target) override {
    CompileContextPool::Loan context = contexts.borrow();
    return tessera::findNeighbours(*context, problem, tile, target);
  }

  ErrorOr<Kernel> compile(const Problem &problem, const TileConfig &tile,
                          const GpuTarget &target) override {
    CompileContextPool::Loan context = contexts.borrow();
    PipelineOptions options;
    options.target = &target;
    options.tile = tile.toText();
    ErrorOr<PipelineResult> result = compileProblem(*context, problem, options);
    if (!result)
      return result.getStatus();
    Kernel kernel;
    kernel.codeObject.assign(result->output.begin(), result->output.end());
    kernel.launches = std::move(result->launches);
    kernel.workspaceBytes = result->workspaceBytes;
    kernel.tile = options.tile;
    kernel.stageTimes = std::move(result->stageTimes);
    Status status = readResources(kernel, result->kernels);
    if (!status.isOk())
      return status;
    return kernel;
  }

private:
  CompileContextPool contexts;
};
} // namespace

std::unique_ptr<KernelCompiler> tessera::createJitCompiler() {
  return std::make_unique<JitCompiler>();
}
