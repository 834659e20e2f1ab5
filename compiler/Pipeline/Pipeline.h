//===- Pipeline.h - From a problem to a code object ------------*- C++ -*-===//

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
  /// Canonical text; empty: the compiler's choice.
  std::string tile;
  Stage stopAfter = Stage::Object;
};

struct PipelineResult {
  /// Text of the last stage; the bytes of a code object after Stage::Object.
  std::string output;
  /// Canonical text of the tile, if the pipeline went through stage `tiled`.
  std::string tile;
  /// In order, if the pipeline saw stage `gpu`.
  std::vector<LaunchRecipe> launches;
  uint64_t workspaceBytes = 0;
  /// After Stage::Object: what the code object says of itself.
  std::vector<KernelMetadata> kernels;
  /// Of each stage that was entered, in order.
  std::vector<StageTime> stageTimes;
};

/// Compiles `problem` as far as `options` says. InvalidArgument or NotSupported
/// with the compiler's own diagnostics in the message if it is refused.
ErrorOr<PipelineResult> compileProblem(CompileContext &context,
                                       const Problem &problem,
                                       const PipelineOptions &options);

/// The same from the text of a stage. `from` must not be after
/// `options.stopAfter`, and not Stage::Object; stopping where it started, the
/// pipeline checks the text and prints it anew.
ErrorOr<PipelineResult> compileText(CompileContext &context, Stage from,
                                    std::string_view text,
                                    const PipelineOptions &options);

/// The kernel's name: the network config in letters that a symbol may have, so
/// that a profiler says which convolution ran.
std::string getKernelSymbol(const Problem &problem);

} // namespace tessera

#endif // TESSERA_COMPILER_PIPELINE_PIPELINE_H
