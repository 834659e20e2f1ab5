//===- JitCompiler.cpp - The engine's compiler, in this process -----------===//

#include "compiler/Driver/JitCompiler.h"
#include "compiler/Pipeline/Pipeline.h"
#include "compiler/Target/AMDGPU/AmdgpuTarget.h"
#include "compiler/Transforms/ChooseTile.h"

#include <algorithm>

using namespace tessera;

/// Made by the build from the sources of the compiler.
static constexpr char kRevision[] =
#include "Revision.inc"
    ;

/// The launch says x, w, y: three pointers without gaps, and nothing hidden
/// that a launch with these alone would leave unset.
static Status checkArgs(const KernelMetadata &metadata,
                        const LaunchRecipe &launch) {
  bool asLaunched = metadata.args.size() == launch.args.size();
  for (size_t i = 0; asLaunched && i != metadata.args.size(); ++i) {
    const KernelArgLayout &arg = metadata.args[i];
    asLaunched = arg.kind == "global_buffer" && arg.bytes == sizeof(void *) &&
                 arg.offset == i * sizeof(void *);
  }
  if (asLaunched)
    return Status::ok();
  return internalError("kernel " + metadata.name +
                       " does not take the arguments it is launched with");
}

/// Reads back what only the finished code object knows.
static Status readResources(Kernel &kernel) {
  ErrorOr<std::vector<KernelMetadata>> kernels =
      readMetadata(kernel.codeObject);
  if (!kernels)
    return kernels.getStatus();
  auto found =
      std::ranges::find(*kernels, kernel.launch.symbol, &KernelMetadata::name);
  if (found == kernels->end())
    return internalError("the code object lacks kernel " +
                         kernel.launch.symbol);
  kernel.resources = found->resources;
  return checkArgs(*found, kernel.launch);
}

namespace {
class JitCompiler : public KernelCompiler {
public:
  std::string getRevision() const override { return kRevision; }

  ErrorOr<TileConfig> chooseTile(const Problem &problem,
                                 const GpuTarget &target) const override {
    return tessera::chooseTile(problem, target);
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
    kernel.launch = std::move(result->launch);
    kernel.launch.args = {KernelArg::X, KernelArg::W, KernelArg::Y};
    kernel.tile = options.tile;
    kernel.stageTimes = std::move(result->stageTimes);
    Status status = readResources(kernel);
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
