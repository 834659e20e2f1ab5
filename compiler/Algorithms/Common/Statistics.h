//===- Statistics.h - Launches for a result's statistics -------*- C++ -*--===//
//
// Any algorithm computes the result; the statistics (dnn.statistics) follow in
// two steps (ChannelPartials.h). Parts of the pixels give how many they are,
// the mean of each channel and the sum of squared differences from it, and
// Chan's formula combines them.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_COMMON_STATISTICS_H
#define TESSERA_COMPILER_ALGORITHMS_COMMON_STATISTICS_H

#include "compiler/Algorithms/Common/ChannelPartials.h"

namespace tessera {

/// Takes the dnn.statistics behind `primitive`, if there is one, out of its
/// function, and their results from its arguments: an algorithm does not see
/// them.
std::optional<ChannelResult> takeStatistics(mlir::Operation *primitive);

/// Behind the program that an algorithm has built in `module`: has its store
/// write the partials, or appends the launch that does, and appends the launch
/// that combines them.
void buildStatistics(mlir::ModuleOp module, const ChannelResult &result);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_COMMON_STATISTICS_H
