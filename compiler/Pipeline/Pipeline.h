//===- Pipeline.h - From a problem to a code object ------------*- C++ -*--===//

#ifndef TESSERA_COMPILER_PIPELINE_PIPELINE_H
#define TESSERA_COMPILER_PIPELINE_PIPELINE_H

#include "compiler/Pipeline/CompileContext.h"
#include "compiler/Pipeline/Stage.h"
#include "compiler/Target/Codegen/KernelMetadata.h"
#include "runtime/Base/Kernel.h"
#include "runtime/Base/Problem.h"

#include <string>
#include <string_view>
#include <vector>

namespace tessera {

struct PipelineOptions {
  const GpuTarget *target = nullptr;
  /// Canonical text of the tile; if empty, the compiler chooses one.
  std::string tile;
  Stage stopAfter = Stage::Object;
};

struct PipelineResult {
  /// The text of the last stage, or the bytes of the code object after
  /// Stage::Object.
  std::string output;
  /// The canonical text of the tile, if the pipeline went through stage
  /// `tiled`.
  std::string tile;
  /// The launches in their order, if the pipeline went through stage `gpu`.
  std::vector<LaunchRecipe> launches;
  uint64_t workspaceBytes = 0;
  /// The metadata of the code object, after Stage::Object.
  std::vector<KernelMetadata> kernels;
  /// The times of the stages that were run, in their order.
  std::vector<StageTime> stageTimes;
};

/// Compiles `problem` up to the stage that `options` names. Fails with
/// InvalidArgument or NotSupported, and MLIR's diagnostics in the message, if
/// the problem is rejected.
ErrorOr<PipelineResult> compileProblem(CompileContext &context,
                                       const Problem &problem,
                                       const PipelineOptions &options);

/// The same, starting from the text of a stage. `from` must not be after
/// `options.stopAfter`, and not Stage::Object. If both are the same, the text
/// is only checked and printed again.
ErrorOr<PipelineResult> compileText(CompileContext &context, Stage from,
                                    std::string_view text,
                                    const PipelineOptions &options);

/// The kernel's name: the network config with the characters that a symbol may
/// have, so that a profiler shows which problem ran.
std::string getKernelSymbol(const Problem &problem);

} // namespace tessera

#endif // TESSERA_COMPILER_PIPELINE_PIPELINE_H
