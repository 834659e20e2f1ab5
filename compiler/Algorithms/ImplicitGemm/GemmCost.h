//===- GemmCost.h - What a GEMM tile costs on a problem --------*- C++ -*-===//
//
// A model, not a measurement: docs/guides/cost-models.md says what it was held
// against. It knows four bottlenecks of a step of the main loop, and two of the
// whole launch: rounds over the compute units, and the bytes that memory has to
// move in any case.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_GEMMCOST_H
#define TESSERA_COMPILER_ALGORITHMS_GEMMCOST_H

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/ImplicitGemm/GemmHalo.h"
#include "compiler/Algorithms/ImplicitGemm/GemmSize.h"

namespace tessera {

/// A tile for a problem; all of one target and problem are comparable.
struct GemmChoice {
  const GemmSize &size;
  const GemmShape &shape;
  int64_t elementBytes;
  int parts = 1; ///< Of the reduction.
  /// Pixels that all taps of a step's channels see, of shapes with a halo.
  std::optional<HaloLds> halo = {};
  /// Whether results are stored while the next ones come (StagedStore.h).
  bool isStaged = false;

  int64_t getStep() const { return shape.stepBytes / elementBytes; }
  /// Elements that one turn of the main loop takes.
  int64_t getTurn() const {
    return halo ? getStep() : shape.buffers * getStep();
  }
  GemmWalk getWalk(int ofParts) const {
    return halo ? GemmWalk::Nested
                : size.getWalk(getStep(), shape.buffers, ofParts);
  }
};

/// GemmRates.def says what each is.
struct GemmRates {
  double lds, cache, memory, flat, stepped, joining, sum;
};

GemmRates getGemmRates(const GpuTarget &target);

/// What all units together get of memory.
double getMemoryBytesPerClock(const GpuTarget &target);

/// Workgroups of one part.
double countTiles(const GemmSize &size, const GemmShape &shape);

/// Clocks of the whole chip for all launches; `peak` as in GemmShapes,
/// `tensorBytes` those of x, w and y together.
double estimateClocks(const GemmChoice &choice, const GpuTarget &target,
                      const GemmRates &rates, double peak, double tensorBytes);

/// The tiles that go through LDS and suit `problem`. In an order that does not
/// depend on the rates.
std::vector<Candidate> getGemmCandidates(const ConvProblem &problem,
                                         const GpuTarget &target,
                                         const GemmRates &rates);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_GEMMCOST_H
