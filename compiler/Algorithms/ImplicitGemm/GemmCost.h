//===- GemmCost.h - What a GEMM tile costs on a problem --------*- C++ -*--===//
//
// A model, not a measurement: docs/guides/cost-models.md says what it was
// compared with. It knows four bottlenecks of a step of the main loop, and two
// of the whole launch: the waves of workgroups, and the bytes that memory has
// to move in any case.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_GEMMCOST_H
#define TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_GEMMCOST_H

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/ImplicitGemm/GemmHalo.h"
#include "compiler/Algorithms/ImplicitGemm/GemmSize.h"

namespace tessera {

/// A tile for a problem. The estimates for one target and problem are
/// comparable.
struct GemmChoice {
  const GemmSize &size;
  const GemmShape &shape;
  int64_t elementBytes;
  int splits = 1; ///< Of the reduction (split-K).
  /// The LDS for pixels that all taps of a step's channels share, for shapes
  /// with a halo.
  std::optional<HaloLds> halo = {};
  /// Whether results are staged in LDS and stored during the next tile
  /// (StagedStore.h).
  bool isStaged = false;
  /// Whether the SIMDs count that workgroups of few waves leave idle, which
  /// decides for small products of unknown size.
  bool countsIdleSimds = false;
  /// Pixels of the planes that the result has, of which neighbours are its
  /// rows; 0 if it has channels last. That and `isOfWeights` matter on chips
  /// that the AMD clock knows.
  int64_t planePixels = 0;
  bool isOfWeights = false;

  int64_t getStep() const { return shape.stepBytes / elementBytes; }
  /// The reduction elements of one iteration of the main loop, which has a step
  /// for each buffer.
  int64_t getIterationSize() const {
    return halo ? getStep() : shape.buffers * getStep();
  }
  GemmWalk getWalk(int ofSplits) const {
    return halo ? GemmWalk::Nested
                : size.getWalk(getStep(), shape.buffers, ofSplits);
  }
};

/// GemmRates.def says what each rate is. Those of the last row are 0 for chips
/// that the AMD clock has no numbers for.
struct GemmRates {
  double lds, cache, memory, flat, stepped, joining, sum;
  double far = 0, store = 0, wait = 0, slow = 0, blend = 0, weights = 0;
};

/// The bytes that the L2 of a die keeps; 0 for chips whose L2 is not weighed.
double getL2Bytes(const GpuTarget &target);

/// The compiler's own, or those of a GemmRatesScope.
GemmRates getGemmRates(const GpuTarget &target);

/// Other rates for all that this thread asks of the model: a search wants costs
/// of algorithms that ask one another.
class GemmRatesScope {
public:
  explicit GemmRatesScope(const GemmRates &rates);
  ~GemmRatesScope();
  GemmRatesScope(const GemmRatesScope &) = delete;
  GemmRatesScope &operator=(const GemmRatesScope &) = delete;
};

/// Bytes a clock that memory gives all compute units together.
double getMemoryBytesPerClock(const GpuTarget &target);

/// The number of tiles of the result: the workgroups of one split.
double countTiles(const GemmSize &size, const GemmShape &shape);

/// Bytes of a partial result.
inline constexpr int64_t kSumBytes = 4;

/// Whether whole lines of partial results, with output channels last, save more
/// than the launch that adds them loses, which then stores `together` elements
/// a lane, far from those of its neighbours. Else a lane of each split has four
/// neighbours.
inline bool savesLines(int64_t splits, int64_t lineBytes, int64_t together) {
  constexpr int64_t kPieces = 8;
  return splits * (lineBytes / kPieces - kSumBytes) > lineBytes / together;
}

/// Clocks of the whole chip for all launches, with the peak of `shapes`;
/// `tensorBytes` is the size of x, w and y together.
double estimateClocks(const GemmChoice &choice, const GpuTarget &target,
                      const GemmRates &rates, const GemmShapes &shapes,
                      double tensorBytes);

/// The tiles with per-thread copies to LDS that suit `problem`, in an order
/// that does not depend on the rates.
std::vector<Candidate> getGemmCandidates(const ConvProblem &problem,
                                         const GpuTarget &target,
                                         const GemmRates &rates);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_IMPLICITGEMM_GEMMCOST_H
