//===- GemmCost.cpp - What a GEMM tile costs on a problem -----------------===//

#include "compiler/Algorithms/ImplicitGemm/GemmCost.h"

#include <algorithm>
#include <cmath>

using namespace tessera;

static double divideUp(int64_t value, int64_t by) {
  return static_cast<double>((value + by - 1) / by);
}

GemmRates tessera::getGemmRates(const GpuTarget &target) {
  switch (target.matrixUnit) {
#define GEMM_RATES(UNIT, ...)                                                  \
  case MatrixUnit::UNIT:                                                       \
    return {__VA_ARGS__};
#include "compiler/Algorithms/ImplicitGemm/GemmRates.def"
  }
  return {};
}

static double getMemoryBytesPerClock(const GpuTarget &target,
                                     const GemmRates &rates) {
  return rates.memory * target.computeUnits;
}

double tessera::getMemoryBytesPerClock(const GpuTarget &target) {
  return ::getMemoryBytesPerClock(target, getGemmRates(target));
}

double tessera::countTiles(const GemmSize &size, const GemmShape &shape) {
  return size.groups * divideUp(size.rows, shape.m) *
         divideUp(size.columns, shape.n);
}

/// Instructions that bring a chunk of 16 bytes to LDS beyond the one load and
/// the one write that GemmShape::efficiency counts: more loads, the joining of
/// what they give, and the address of each in a walk that is not nested.
static double countCopyInstructions(const FactorLayout &factor, GemmWalk walk,
                                    int64_t elementBytes, bool isDirect,
                                    const GemmRates &rates) {
  double address = walk == GemmWalk::Flat      ? rates.flat
                   : walk == GemmWalk::Stepped ? rates.stepped
                                               : 0;
  if (isDirect)
    return address;
  auto elements = static_cast<double>(16 / elementBytes);
  // Blocks are loaded in 8 bytes and written so (BlockCopy.h).
  double width = factor.isTransposed
                     ? std::min<double>(factor.loadElements, elements / 2)
                     : static_cast<double>(factor.loadElements);
  double loads = elements / width;
  return loads - 1 + (loads > 1 ? rates.joining : 0) +
         (factor.isTransposed ? 1 : 0) + address * loads;
}

/// Clocks of one step of a workgroup that has its compute unit for itself.
static double estimateStep(const GemmChoice &choice, const GpuTarget &target,
                           double peak, const GemmRates &rates) {
  const GemmShape &shape = choice.shape;
  double m = shape.m, n = shape.n, stepBytes = shape.stepBytes;
  auto elementBytes = static_cast<double>(choice.elementBytes);
  GemmWalk walk = choice.getWalk(choice.parts);

  double issue = m * n * stepBytes / elementBytes / (shape.efficiency * peak);
  double perRow = stepBytes / 16;
  double extra =
      perRow *
      (m * countCopyInstructions(choice.size.rowFactor, walk,
                                 choice.elementBytes, shape.isDirect, rates) +
       n * countCopyInstructions(choice.size.columnFactor, walk,
                                 choice.elementBytes, shape.isDirect, rates));
  double issueClocks = target.waveSize == 64 ? 4 : 1;
  issue += extra / target.waveSize * issueClocks / target.simdsPerCu;

  double written = shape.isDirect ? 0 : m + n;
  double read = m * shape.wavesN + n * shape.wavesM;
  double lds = (written + read) * stepBytes / rates.lds;
  double pixels = choice.halo ? static_cast<double>(choice.halo->lines) *
                                    static_cast<double>(choice.size.inner) /
                                    choice.size.reduction
                              : m;
  double cache = (pixels + n) * stepBytes / rates.cache;
  return std::max({issue, lds, cache});
}

/// Clocks of the launch that adds the parts: to start it, and to write and read
/// an f32 of each.
static double estimateSum(const GemmSize &size, int parts, double bytesPerClock,
                          double launch) {
  double elements = size.groups * static_cast<double>(size.rows) *
                    static_cast<double>(size.columns);
  return parts == 1 ? 0 : launch + elements * parts * 8 / bytesPerClock;
}

double tessera::estimateClocks(const GemmChoice &choice,
                               const GpuTarget &target, const GemmRates &rates,
                               double peak, double tensorBytes) {
  const GemmSize &size = choice.size;
  double bytesPerClock = ::getMemoryBytesPerClock(target, rates);
  double rounds = std::ceil(countTiles(size, choice.shape) * choice.parts /
                            target.computeUnits);
  // A part is filled up with zeros to whole turns.
  double turns = std::ceil(size.reduction / choice.parts /
                           static_cast<double>(choice.getTurn()));
  double steps = turns * static_cast<double>(choice.getTurn()) /
                 static_cast<double>(choice.getStep());
  double loop = rounds * steps * estimateStep(choice, target, peak, rates);
  // The shares of shapes are those of loops behind which all units store.
  if (choice.isStaged)
    loop -= rounds * choice.shape.m * choice.shape.n *
            static_cast<double>(choice.elementBytes) / rates.cache;
  return std::max(loop, tensorBytes / bytesPerClock) +
         estimateSum(size, choice.parts, bytesPerClock, rates.sum);
}
