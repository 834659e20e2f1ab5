//===- PoolModel.h - What a pooling costs ----------------------*- C++ -*-===//
//
// What the algorithms of pooling have in common before anything is built.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_POOLMODEL_H
#define TESSERA_COMPILER_ALGORITHMS_POOLMODEL_H

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Pooling/PoolGeometry.h"
#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/GpuTarget.h"
#include "runtime/Base/TileConfig.h"

#include <vector>

namespace tessera {

/// NotSupported if a coordinate is beyond the 32-bit arithmetic of a kernel.
Status checkPoolReach(const PoolGeometry &geometry);

/// How many channels a thread may own.
std::vector<int> getChannelChoices(const PoolGeometry &geometry);

/// Emits an error at `pool` unless `channels` of a tile can be owned by a
/// thread.
mlir::LogicalResult checkChannels(dnn::PoolOp pool, int64_t channels,
                                  const TileConfig &config);

/// What one thread of a pooling does.
struct PoolWork {
  double loads;        ///< Accesses, each of one instruction.
  double loadBytes;    ///< Of one of them.
  double instructions; ///< Besides, but for PoolRates::begin.
  double waits;        ///< How often it waits for memory.
};

/// PoolRates.def says what each is.
struct PoolRates {
#define POOL_RATE(NAME, VALUE, MEANING) double NAME = VALUE;
#include "compiler/Algorithms/Pooling/PoolRates.def"
};
inline constexpr PoolRates kPoolRates;

/// Clocks until `threads` threads have done their work.
double estimateClocks(const PoolWork &work, double threads,
                      const GpuTarget &target, const PoolRates &rates);

/// The same of threads that walk `elements` elements each by loops.
double estimateWalk(const PoolGeometry &geometry, int64_t channels,
                    double threads, double elements, const GpuTarget &target,
                    const PoolRates &rates);

/// Tiles of one launch as the model sees them, and of two. In an order that
/// does not depend on the rates.
std::vector<Candidate> getPoolCandidates(const PoolProblem &problem,
                                         const GpuTarget &target,
                                         const PoolRates &rates);
std::vector<Candidate> getPoolSplitCandidates(const PoolProblem &problem,
                                              const GpuTarget &target,
                                              const PoolRates &rates);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_POOLMODEL_H
