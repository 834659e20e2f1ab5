//===- Neighbours.h - Kernels with almost the same plan --------*- C++ -*--===//

#ifndef TESSERA_COMPILER_PIPELINE_NEIGHBOURS_H
#define TESSERA_COMPILER_PIPELINE_NEIGHBOURS_H

#include "compiler/Pipeline/CompileContext.h"
#include "runtime/Base/Problem.h"
#include "runtime/Base/TileConfig.h"

#include <vector>

namespace tessera {

/// The tiles that change one knob (dialect/IR/PlanKnobs.def) of the plan that
/// `tile` has for `problem`, by one step, and that can be lowered. Fails like
/// compileProblem(); no tile is found for a kernel without a pipeline.
ErrorOr<std::vector<TileConfig>> findNeighbours(CompileContext &context,
                                                const Problem &problem,
                                                const TileConfig &tile,
                                                const GpuTarget &target);

} // namespace tessera

#endif // TESSERA_COMPILER_PIPELINE_NEIGHBOURS_H
