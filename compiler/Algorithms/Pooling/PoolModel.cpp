//===- PoolModel.cpp - What a pooling costs -------------------------------===//
//
// Pooling is limited by the bandwidth of memory, which costs the same for all
// tiles. Where an element is loaded more than once, it is limited by the
// bandwidth of L1 or by the instruction rate; where there are few threads, by
// the latency of one thread.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Pooling/PoolModel.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tessera;

Status tessera::checkPoolReach(const PoolGeometry &geometry) {
  // The limit leaves space for the window of an output that is out of bounds,
  // which the last block may own.
  constexpr int64_t kLimit = int64_t(1) << 30;
  constexpr int64_t kMaxBlock = 64;
  const dnn::PoolDims &d = geometry.dims;
  int64_t reach = std::max(d.n, d.c);
  for (int dim = 0; dim < 3; ++dim)
    reach = std::max({reach, d.out[dim],
                      d.in[dim] + d.pads[dim] +
                          std::max(d.pads[dim], d.padsAfter[dim]) +
                          d.window[dim] + kMaxBlock * d.strides[dim]});
  if (reach >= kLimit)
    return notSupported("the window is beyond the 32-bit arithmetic of a "
                        "kernel");
  return Status::ok();
}

std::vector<int> tessera::getChannelChoices(const PoolGeometry &geometry) {
  if (!geometry.x.hasChannelsLast())
    return {1};
  std::vector<int> choices;
  for (int64_t channels = geometry.x.getVectorLength(kChannel); channels >= 1;
       channels /= 2)
    choices.push_back(static_cast<int>(channels));
  return choices;
}

LogicalResult tessera::checkChannels(dnn::PoolOp pool, int64_t channels,
                                     const TileConfig &config) {
  if (llvm::isPowerOf2_64(channels) && pool.getDims().c % channels == 0)
    return success();
  return pool.emitOpError()
         << "has " << pool.getDims().c << " channels, which tile '"
         << config.toText() << "' does not divide into powers of two";
}

double tessera::estimateClocks(const PoolWork &work, double threads,
                               const GpuTarget &target,
                               const PoolRates &rates) {
  // An instruction occupies its SIMD for 4 clocks on CDNA, 1 on RDNA.
  double lanes = target.waveSize;
  double waves = std::ceil(threads / lanes);
  double perLoad =
      std::max(rates.loadClocks, work.loadBytes * lanes / rates.cacheBytes);
  double issue = (work.loads * 4 + rates.begin + work.instructions) *
                 (target.waveSize == 64 ? 4 : 1);
  double units = target.computeUnits;
  double simds = units * target.simdsPerCu;
  double busiest = std::max(std::ceil(waves / units) * work.loads * perLoad,
                            std::ceil(waves / simds) * issue);
  return std::max(busiest, issue + work.waits * rates.latency);
}

double tessera::estimateLoops(const PoolGeometry &geometry, int64_t channels,
                              double threads, double elements,
                              const GpuTarget &target, const PoolRates &rates) {
  // reduceRangeUnrolled() has as many loads in flight.
  constexpr double kAtOnce = 8;
  double bytes = static_cast<double>(geometry.x.elementBytes) * channels;
  return estimateClocks(
      {elements, bytes, elements * channels * 3, std::ceil(elements / kAtOnce)},
      threads, target, rates);
}
