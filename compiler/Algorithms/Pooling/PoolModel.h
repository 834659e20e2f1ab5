//===- PoolModel.h - What a pooling costs ----------------------*- C++ -*--===//
//
// The checks and the cost model that the algorithms of pooling share.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_POOLING_POOLMODEL_H
#define TESSERA_COMPILER_ALGORITHMS_POOLING_POOLMODEL_H

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Pooling/PoolGeometry.h"
#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/GpuTarget.h"
#include "runtime/Base/TileConfig.h"

#include <vector>

namespace tessera {

/// Fails with NotSupported if a coordinate is beyond the 32-bit arithmetic of a
/// kernel.
Status checkPoolReach(const PoolGeometry &geometry);

/// The numbers of channels that a thread may own, largest first.
std::vector<int> getChannelChoices(const PoolGeometry &geometry);

/// Emits an error at `pool` unless a thread can own `channels` channels, the
/// number in tile `config`.
mlir::LogicalResult checkChannels(dnn::PoolOp pool, int64_t channels,
                                  const TileConfig &config);

/// The work of one thread of a pooling.
struct PoolWork {
  double loads;        ///< Load instructions.
  double loadBytes;    ///< Bytes of one load.
  double instructions; ///< Others, without PoolRates::begin.
  double waits;        ///< How often the thread waits for memory.
};

/// The constants of the cost model; PoolRates.def describes each.
struct PoolRates {
#define POOL_RATE(NAME, VALUE, MEANING) double NAME = VALUE;
#include "compiler/Algorithms/Pooling/PoolRates.def"
};
inline constexpr PoolRates kPoolRates;

/// Estimates the clocks until `threads` threads have done their work.
double estimateClocks(const PoolWork &work, double threads,
                      const GpuTarget &target, const PoolRates &rates);

/// The same for threads that loop over `elements` elements each.
double estimateLoops(const PoolGeometry &geometry, int64_t channels,
                     double threads, double elements, const GpuTarget &target,
                     const PoolRates &rates);

/// The candidates of one launch, and of two (with splits), with the costs that
/// `rates` give, in an order that does not depend on the rates.
std::vector<Candidate> getPoolCandidates(const PoolProblem &problem,
                                         const GpuTarget &target,
                                         const PoolRates &rates);
std::vector<Candidate> getPoolSplitCandidates(const PoolProblem &problem,
                                              const GpuTarget &target,
                                              const PoolRates &rates);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_POOLING_POOLMODEL_H
