//===- Statistics.h - Launches for a result's statistics -------*- C++ -*--===//
//
// Any algorithm computes the result; the statistics (dnn.statistics) follow in
// two steps. Parts of the pixels give how many they are, the mean of each
// channel and the sum of squared differences from it. One launch combines them
// by Chan's formula in a fixed order, so that every run gives the same bits
// (docs/design/0041-statistics-of-results.md). Where the kernel that stores the
// result writes the partials, it is not read again; else a launch of its own does.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_COMMON_STATISTICS_H
#define TESSERA_COMPILER_ALGORITHMS_COMMON_STATISTICS_H

#include "dialect/IR/Dnn.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>

namespace tessera {

/// What a dnn.statistics asked for. Plain data.
struct Statistics {
  std::string kernel; ///< The function that it was in.
  mlir::Location loc;
  mlir::MemRefType tensor;
  dnn::Layout layout;
  bool hasChannelsLast; ///< Whether the input's lie together, too.
};

/// Takes the dnn.statistics behind `primitive`, if there is one, out of its
/// function, and their results from its arguments: an algorithm does not see
/// them.
std::optional<Statistics> takeStatistics(mlir::Operation *primitive);

/// Behind the program that an algorithm has built in `module`: has its store
/// write the partials, or appends the launch that does, and appends the launch
/// that combines them.
void buildStatistics(mlir::ModuleOp module, const Statistics &statistics);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_COMMON_STATISTICS_H
