//===- GemmCost.cpp - What a GEMM tile costs on a problem -----------------===//

#include "compiler/Algorithms/GemmCost.h"

#include <algorithm>
#include <cmath>

using namespace tessera;

static double divideUp(int64_t value, int64_t by) {
  return static_cast<double>((value + by - 1) / by);
}

namespace {
/// Bytes a clock of one compute unit.
struct MemoryRates {
  double lds, cache, memory;
};
} // namespace

/// Peaks. LDS as in runtime/Emulator/Measure/ChipCosts.def; the second-level
/// cache and memory of the largest product of the generation, over its units
/// and clock: 128 bytes a channel of the cache; MI250X 1.6 TB/s, MI300X 5.3,
/// MI355X 8, RX 6900 XT 0.5, RX 7900 XTX 0.96, RX 9070 XT 0.64. Of NVIDIA's
/// chips what TmaTiles.cpp was fitted to, an H100.
static MemoryRates getMemoryRates(MatrixUnit unit) {
  switch (unit) {
  case MatrixUnit::None:
    return {128, 25, 2.8};
  case MatrixUnit::MfmaCdna1:
  case MatrixUnit::MfmaCdna2:
    return {128, 37, 8.6};
  case MatrixUnit::MfmaCdna3:
    return {128, 54, 8.3};
  case MatrixUnit::MfmaCdna4:
    return {256, 64, 13};
  case MatrixUnit::WmmaGfx11:
    return {128, 21, 4};
  case MatrixUnit::WmmaGfx12:
    return {128, 32, 3.4};
  case MatrixUnit::MmaSm80:
    return {128, 61, 21};
  }
  return {};
}

/// Of the peaks of cache and memory, what a kernel gets.
static constexpr double kSustained = 0.7;

double tessera::getMemoryBytesPerClock(const GpuTarget &target) {
  return getMemoryRates(target.matrixUnit).memory * kSustained *
         target.computeUnits;
}

double tessera::countTiles(const GemmSize &size, const GemmShape &shape) {
  return size.groups * divideUp(size.rows, shape.m) *
         divideUp(size.columns, shape.n);
}

/// Instructions that bring a chunk of 16 bytes to LDS beyond the one load and
/// the one write that GemmShape::efficiency counts: more loads, the joining of
/// what they give, and the address of each in a walk that is not nested.
static double countCopyInstructions(const FactorLayout &factor, GemmWalk walk,
                                    int64_t elementBytes, bool isDirect) {
  constexpr double kRegisters = 4;
  double address = walk == GemmWalk::Flat      ? 11
                   : walk == GemmWalk::Stepped ? 4
                                               : 0;
  if (isDirect)
    return address;
  auto elements = static_cast<double>(16 / elementBytes);
  // Blocks are loaded in 8 bytes and written so (BlockCopy.h).
  double width = factor.isTransposed
                     ? std::min<double>(factor.loadElements, elements / 2)
                     : static_cast<double>(factor.loadElements);
  double loads = elements / width;
  return loads - 1 + (loads > 1 ? kRegisters : 0) +
         (factor.isTransposed ? 1 : 0) + address * loads;
}

/// Clocks of one step of a workgroup that has its compute unit for itself.
static double estimateStep(const GemmChoice &choice, const GpuTarget &target,
                           double peak, const MemoryRates &rates) {
  const GemmShape &shape = choice.shape;
  double m = shape.m, n = shape.n, stepBytes = shape.stepBytes;
  auto elementBytes = static_cast<double>(choice.elementBytes);
  GemmWalk walk = choice.getWalk(choice.parts);

  double issue = m * n * stepBytes / elementBytes / (shape.efficiency * peak);
  double perRow = stepBytes / 16;
  double extra =
      perRow * (m * countCopyInstructions(choice.size.rowFactor, walk,
                                          choice.elementBytes, shape.isDirect) +
                n * countCopyInstructions(choice.size.columnFactor, walk,
                                          choice.elementBytes, shape.isDirect));
  double issueClocks = target.waveSize == 64 ? 4 : 1;
  issue += extra / target.waveSize * issueClocks / target.simdsPerCu;

  double written = shape.isDirect ? 0 : m + n;
  double read = m * shape.wavesN + n * shape.wavesM;
  double lds = (written + read) * stepBytes / rates.lds;
  double cache = (m + n) * stepBytes / (rates.cache * kSustained);
  return std::max({issue, lds, cache});
}

/// Clocks of the launch that adds the parts: to start it, and to write and read
/// an f32 of each.
static double estimateSum(const GemmSize &size, int parts,
                          double bytesPerClock) {
  constexpr double kLaunch = 10000;
  double elements = size.groups * static_cast<double>(size.rows) *
                    static_cast<double>(size.columns);
  return parts == 1 ? 0 : kLaunch + elements * parts * 8 / bytesPerClock;
}

double tessera::estimateClocks(const GemmChoice &choice,
                               const GpuTarget &target, double peak,
                               double tensorBytes) {
  const GemmSize &size = choice.size;
  MemoryRates rates = getMemoryRates(target.matrixUnit);
  double bytesPerClock = getMemoryBytesPerClock(target);
  double rounds = std::ceil(countTiles(size, choice.shape) * choice.parts /
                            target.computeUnits);
  // A part is filled up with zeros to whole turns.
  double turns = std::ceil(size.reduction / choice.parts /
                           static_cast<double>(choice.getTurn()));
  double loop = rounds * turns * choice.shape.buffers *
                estimateStep(choice, target, peak, rates);
  return std::max(loop, tensorBytes / bytesPerClock) +
         estimateSum(size, choice.parts, bytesPerClock);
}
