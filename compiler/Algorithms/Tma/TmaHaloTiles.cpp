//===- TmaHaloTiles.cpp - Tiles whose taps share pixels -------------------===//

#include "compiler/Algorithms/Tma/TmaHaloTiles.h"
#include "compiler/Algorithms/Common/HaloPositions.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace tessera;

TmaHalo tessera::measureHalo(const ConvProblem &p, bool hasOneRow) {
  const bool isForward = p.direction == Direction::Forward;
  const int64_t inputs = p.inChannels / p.groups;
  const int64_t outputs = p.outChannels / p.groups;
  TmaHalo halo{.positions = p.batch,
               .around = 0,
               .taps = 1,
               .depthTaps = 1,
               .channels = isForward ? inputs : outputs,
               .groups = p.groups,
               .columns = isForward ? outputs : inputs};
  const std::array<ConvDim, 3> dims = getConvDims(p);
  for (const auto &[i, dim] : llvm::enumerate(dims)) {
    if (hasOneRow ? i + 1 < dims.size() : !hasPositions(i, dims.size())) {
      halo.positions *= isForward ? dim.out : dim.in;
      halo.depthTaps *= dim.filter;
      continue;
    }
    const int64_t count = countPositions(dim);
    halo.positions *= count;
    halo.around = halo.around * count + getReach(dim);
    halo.taps *= dim.filter;
  }
  return halo;
}

int64_t TmaHalo::countSteps(const TmaShape &shape) const {
  constexpr int64_t kBytes = 2;
  return taps * depthTaps *
         llvm::divideCeilSigned(channels * kBytes, shape.stepBytes);
}

int64_t TmaHalo::countRows(const TmaShape &shape) const {
  constexpr int64_t kBoxRows = 256, kSwizzleRows = 8;
  const int64_t rows = shape.m + around,
                boxes = llvm::divideCeilSigned(rows, kBoxRows);
  return boxes *
         llvm::divideCeilSigned(llvm::divideCeilSigned(rows, boxes),
                                kSwizzleRows) *
         kSwizzleRows;
}

bool TmaHalo::filterStays(const TmaShape &shape) const {
  return groups == 1 && columns <= shape.n && shape.stages == countSteps(shape);
}

double TmaHalo::getRowsOfStep(const TmaShape &shape) const {
  return static_cast<double>(countRows(shape)) / static_cast<double>(taps);
}

/// The number of stages of the filter that fit beside two halos: a stage for
/// each step if the filter stays for all tiles, else as many as fit up to a
/// limit. 0 if too few fit.
static int countStages(const TmaHalo &halo, TmaShape shape,
                       const GpuTarget &target) {
  // A warp also stages 16 rows of the result. kHalfSm, which each of two
  // workgroups on a multiprocessor has, and kRest, for barriers and alignment,
  // follow HopperShape: there are barriers for kMostKept stages.
  constexpr int64_t kHalfSm = 115712, kRest = 2048, kLeast = 3;
  constexpr int64_t kWarpBytes = 2048, kMostBytes = 6 * 128, kMostKept = 60;
  constexpr uint64_t kAlignment = 1024;
  const int64_t warps = shape.isPingPong ? 8 : 4 * shape.consumers;
  const int64_t left =
      (shape.isSmall() ? kHalfSm : target.getMaxSharedBytes()) - kRest -
      warps * kWarpBytes -
      shape.halo * static_cast<int64_t>(llvm::alignTo(
                       halo.countRows(shape) * shape.stepBytes, kAlignment));
  // A stage holds whole blocks of 64 columns.
  const int64_t columns = llvm::divideCeilSigned(shape.n, kTmaStep) * kTmaStep;
  const int64_t fitting = left < 0 ? 0 : left / (columns * shape.stepBytes);
  shape.stages = static_cast<int>(halo.countSteps(shape));
  if (std::min(fitting, kMostKept) >= shape.stages && halo.filterStays(shape))
    return shape.stages;
  return fitting < kLeast ? 0
                          : static_cast<int>(std::min(
                                fitting, kMostBytes / shape.stepBytes));
}

static constexpr TmaShape kShapes[] = {
    {256, 64, 1, true, 0, 2},   {192, 64, 1, true, 0, 2},
    {128, 64, 1, true, 0, 2},   {256, 64, 2, false, 0, 2},
    {128, 64, 1, false, 0, 2},  {128, 128, 1, true, 0, 2},
    {192, 128, 1, true, 0, 2},  {192, 128, 3, false, 0, 2},
    {256, 128, 2, false, 0, 2}, {128, 256, 2, false, 0, 2}};

static constexpr TmaShape kSwapped[] = {{256, 64, 1, true, 0, 2, true},
                                        {192, 64, 1, true, 0, 2, true},
                                        {128, 64, 1, true, 0, 2, true}};

/// With swapped operands, as many positions a tile as fill the chip in one
/// wave. Of 7200 positions and 256 columns that are 112 by 128, where 128 by
/// 128 leave a seventh of it idle.
static std::vector<TmaShape> getFillingShapes(const TmaHalo &halo,
                                              const GpuTarget &target) {
  constexpr int64_t kLeast = 64, kMost = 256, kUnit = 8;
  constexpr int64_t kMostAccumulators = 128;
  std::vector<TmaShape> shapes;
  for (int64_t n = kLeast; n <= kMost; n += kLeast) {
    const int64_t columns =
        halo.groups * llvm::divideCeilSigned(halo.columns, n);
    const int64_t tiles = target.computeUnits / columns;
    if (tiles == 0 || halo.columns % n != 0)
      continue;
    const int64_t m =
        llvm::divideCeilSigned(llvm::divideCeilSigned(halo.positions, tiles),
                               kUnit) *
        kUnit;
    const TmaShape shape{.m = static_cast<int>(std::min(m, kMost + 1)),
                         .n = static_cast<int>(n),
                         .consumers = 1,
                         .isPingPong = true,
                         .stages = 0,
                         .halo = 2,
                         .isSwapped = true};
    if (m >= kLeast && m <= kMost &&
        shape.countAccumulators() <= kMostAccumulators)
      shapes.push_back(shape);
  }
  return shapes;
}

std::vector<TmaShape> tessera::getTmaHaloShapes(const ConvProblem &problem,
                                                const GpuTarget &target,
                                                bool hasOneRow) {
  std::vector<TmaShape> shapes;
  const TmaHalo halo = measureHalo(problem, hasOneRow);
  if (halo.taps == 1 || getByteSize(problem.dataType) != 2 ||
      problem.direction == Direction::BackwardWeights ||
      !std::ranges::all_of(getConvDims(problem), fitsHalo) ||
      (hasOneRow && problem.hasDepth()))
    return shapes;
  const int fewColumns = getFewestColumns(halo.columns);
  auto add = [&](const TmaShape &kind) {
    for (TmaShape shape : getStepShapes(problem, kind, halo.channels)) {
      // A buffer is for the taps of one filter row then.
      constexpr int kOfRows = 4;
      shape.hasOneRow = hasOneRow;
      shape.halo = hasOneRow ? kOfRows : shape.halo;
      if (shape.n == kTmaStep && !shape.isSwapped)
        shape.n = fewColumns;
      shape.stages = countStages(halo, shape, target);
      if (shape.stages > 0)
        shapes.push_back(shape);
    }
  };
  constexpr int kWide = 128, kNarrow = 64, kUnit = 16;
  // With swapped operands, a wgmma of 64 rows by as many columns as a consumer
  // has pixels reads less of shared memory than several of 64 by 64. Measured
  // where there are at most 64 columns. Such accumulators can only be rounded
  // on their way to memory, so epilogues with tensors are left out.
  const Epilogue &epilogue = problem.epilogue;
  const bool canSwap = !epilogue.bias && !epilogue.residual && !epilogue.beta;
  if (halo.columns <= kNarrow && canSwap)
    for (TmaShape shape : kSwapped)
      add(shape);
  if (problem.hasDepth() && canSwap)
    for (const TmaShape &shape : getFillingShapes(halo, target))
      add(shape);
  for (TmaShape shape : kShapes) {
    // Copies of pixels limit narrow tiles; of wider ones positions that are no
    // results cost more than shared pixels save.
    if (hasOneRow && shape.n > kNarrow)
      continue;
    add(shape);
    // Narrower tiles are worth trying if the columns are a whole number of
    // them.
    if (shape.n != kWide)
      continue;
    for (shape.n -= kUnit; shape.n > kNarrow; shape.n -= kUnit)
      if (halo.columns % shape.n == 0)
        add(shape);
  }
  return shapes;
}
