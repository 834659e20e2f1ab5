//===- DepthwiseBoxTiles.cpp - The tile of boxes of pixels ----------------===//
//
// Chooses the tile of backward weights whose pixels are copied by TMA. Which
// tile is best depends on how many bytes a multiprocessor has in flight: too
// few leave memory idle, and more than necessary evict rows from L2 that a
// neighbouring workgroup is about to read. The numbers come from 1243 kernels
// of 42 problems on an H100 (docs/design/0018-depthwise-boxes.md).
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Common/TensorMapStrides.h"
#include "compiler/Algorithms/Depthwise/DepthwiseWeightBoxes.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace tessera;

namespace {
/// Estimates all tiles of a problem and keeps the best one. Times are in
/// clocks.
class BoxTiles {
public:
  BoxTiles(const ConvProblem &conv, const GpuTarget &target)
      : conv(conv), target(target), bytes(getByteSize(conv.dataType)),
        y(conv.getOutput()),
        memoryClocks(
            double(conv.getInputElements() + conv.getOutputElements()) *
            double(bytes) / kMemoryBytes / target.computeUnits) {}

  std::optional<DepthwiseTile> choose();

private:
  static constexpr double kMemoryBytes = 11.9; ///< Bytes per clock.

  WindowBlock getRows(const DepthwiseTile &tile) const {
    return {conv.filter.h,
            conv.stride.h,
            conv.pad.h,
            conv.dilation.h,
            tile.rows * conv.stride.h,
            /*isForward=*/false};
  }
  WindowBlock getColumns(const DepthwiseTile &tile) const {
    return {conv.filter.w,   conv.stride.w, conv.pad.w,
            conv.dilation.w, tile.columns,  /*isForward=*/true};
  }
  void tryLanes(DepthwiseTile tile, int64_t lanes);
  void tryRows(DepthwiseTile tile, int64_t lanes, int64_t columnTiles);
  void tryStages(DepthwiseTile tile, int64_t workgroups, int64_t strips);
  bool fitsRegisters(const DepthwiseTile &tile, int64_t loads) const;
  double getWork(const DepthwiseTile &tile, int64_t loads) const;
  double getMemoryClocks(const DepthwiseTile &tile) const;
  double getClocks(const DepthwiseTile &tile, int64_t loads, int64_t iterations,
                   double inFlight) const;

  const ConvProblem &conv;
  const GpuTarget &target;
  const int64_t bytes;
  const Spatial y;
  const double memoryClocks; ///< The time of moving every byte once.
  std::optional<DepthwiseTile> best;
  double bestClocks = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// What a tile costs
//===----------------------------------------------------------------------===//

/// Whether registers hold accumulators, what is loaded of a strip, and
/// addresses.
bool BoxTiles::fitsRegisters(const DepthwiseTile &tile, int64_t loads) const {
  constexpr int64_t kRegisters = 65536, kMost = 255, kOthers = 40, kWord = 4;
  const int64_t accumulators = tile.groups * conv.filter.h * conv.filter.w;
  return accumulators + loads * tile.groups * bytes / kWord + kOthers <=
         std::min(kMost, kRegisters / tile.threads);
}

/// The time of a strip when all warps are busy.
double BoxTiles::getWork(const DepthwiseTile &tile, int64_t loads) const {
  // The instructions of a load, of converting an element of 16 bits and of 32
  // bits, and of a strip. Four schedulers share the instructions.
  constexpr double kLoad = 1.5, kNarrow = 1.5, kWide = 0.45, kStrip = 30;
  constexpr double kSharedBytes = 128, kSharedRate = 0.78;
  const double products = double(tile.rows * tile.columns * tile.groups) *
                          double(conv.filter.h * conv.filter.w);
  const double warps = double(llvm::divideCeil(tile.threads, 32));
  const double instructions =
      (products +
       double(loads) *
           (double(tile.groups) * (bytes == 2 ? kNarrow : kWide) + kLoad) +
       kStrip) *
      warps / 4;
  const double sharedClocks =
      double(loads * tile.threads * tile.groups * bytes) / kSharedBytes;
  return instructions + sharedClocks * kSharedRate;
}

/// The time of memory. Where workgroups share a pixel and their channels are no
/// multiple of 64 bytes, memory reads the pieces at their ends twice. Short
/// rows of channels cost some time besides.
double BoxTiles::getMemoryClocks(const DepthwiseTile &tile) const {
  constexpr int64_t kPiece = 64;
  constexpr double kShared = 0.24, kShort = 0.046;
  const int64_t lanes = tile.threads / tile.summed;
  const int64_t rowBytes = lanes * tile.groups * bytes;
  const bool isShared =
      rowBytes % kPiece != 0 && rowBytes != conv.groups * bytes;
  return memoryClocks * (1 + double(kPiece) / double(rowBytes) *
                                 (kShort + (isShared ? kShared : 0)));
}

/// The time of memory and work, which overlap. Memory takes longer if too few
/// or too many bytes are in flight.
double BoxTiles::getClocks(const DepthwiseTile &tile, int64_t loads,
                           int64_t iterations, double inFlight) const {
  constexpr double kIteration = 520, kFewWarps = 0.21, kManyWarps = 8;
  constexpr double kBestInFlight = 60000, kTooMuch = 3.3e-6, kTooLittle = 1e-6;
  const double idle =
      std::max(0.0, 1 - double(tile.threads) / 32 / kManyWarps) * kFewWarps;
  const double work =
      double(iterations) * (getWork(tile, loads) * (1 + idle) + kIteration);
  const double memory = getMemoryClocks(tile);
  const double off = inFlight - kBestInFlight;
  return std::pow(std::pow(memory, 4) + std::pow(work, 4), 0.25) +
         memory * (off > 0 ? off * kTooMuch : -off * kTooLittle);
}

//===----------------------------------------------------------------------===//
// All tiles
//===----------------------------------------------------------------------===//

void BoxTiles::tryStages(DepthwiseTile tile, int64_t workgroups,
                         int64_t strips) {
  constexpr int64_t kLeast = 36000, kMost = 120000;
  const int64_t iterations =
      llvm::divideCeil(strips, std::min(strips, workgroups));
  tile.splits = llvm::divideCeil(strips, iterations) * tile.summed;
  const WindowBlock rows = getRows(tile), columns = getColumns(tile);
  const auto loads = static_cast<int64_t>(
      tile.rows * conv.stride.h * columns.getOffsets().size() +
      rows.getOffsets().size() * tile.columns);
  if (!fitsRegisters(tile, loads))
    return;
  for (tile.stages = 2; tile.stages <= 3; ++tile.stages) {
    DepthwiseBoxes boxes(rows, columns, tile);
    const int64_t inFlight = tile.stages * boxes.countStageBytes(bytes);
    if (inFlight < kLeast || inFlight > kMost || !boxes.fit(bytes, target))
      continue;
    const double clocks = getClocks(tile, loads, iterations, double(inFlight));
    if (best && clocks >= bestClocks)
      continue;
    best = tile;
    bestClocks = clocks;
  }
}

void BoxTiles::tryRows(DepthwiseTile tile, int64_t lanes, int64_t columnTiles) {
  constexpr int64_t kMaxRows = 4;
  constexpr double kMaxWaste = 1.12;
  const int64_t workgroups = std::max<int64_t>(
      1, target.computeUnits / (conv.groups / tile.groups / lanes));
  for (tile.rows = 1; tile.rows <= kMaxRows; ++tile.rows) {
    const int64_t step = tile.rows * conv.stride.h;
    const int64_t blocks = llvm::divideCeil(conv.in.h, step);
    if (double(blocks * step) <= kMaxWaste * double(conv.in.h))
      tryStages(tile, workgroups, conv.batch * blocks * columnTiles);
  }
}

void BoxTiles::tryLanes(DepthwiseTile tile, int64_t lanes) {
  constexpr int64_t kColumns[] = {1, 2, 3, 4, 5, 7, 8};
  constexpr int64_t kMinThreads = 128, kMaxThreads = 288;
  constexpr double kMaxWaste = 1.15;
  for (int64_t columns : kColumns)
    for (int64_t summed =
             std::max<int64_t>(2, llvm::divideCeil(kMinThreads, lanes));
         summed * lanes <= kMaxThreads; ++summed) {
      tile.columns = columns;
      tile.summed = summed;
      tile.threads = summed * lanes;
      const int64_t columnTiles = llvm::divideCeil(y.w, summed * columns);
      if (tile.canSum() &&
          double(columnTiles * summed * columns) <= kMaxWaste * double(y.w))
        tryRows(tile, lanes, columnTiles);
    }
}

/// Tries all tiles whose lanes load 4 to 16 bytes and whose workgroups load at
/// least 96 bytes of a pixel, or all of it, so that lines of memory are mostly
/// read as a whole.
std::optional<DepthwiseTile> BoxTiles::choose() {
  constexpr int64_t kMinAccess = 4, kMaxAccess = 16, kMinRow = 96;
  const int64_t leastRow = std::min(kMinRow, conv.groups * bytes);
  for (int64_t groups : {1, 2, 4}) {
    DepthwiseTile tile;
    tile.groups = groups;
    tile.resident = 1;
    const int64_t access = groups * bytes;
    if (conv.groups % groups != 0 || access < kMinAccess ||
        access > kMaxAccess ||
        groups * conv.filter.h * conv.filter.w > DepthwiseTile::kMaxFilter)
      continue;
    const int64_t groupBlocks = conv.groups / groups;
    for (int64_t lanes = llvm::divideCeil(leastRow, access);
         lanes <= groupBlocks; ++lanes)
      if (groupBlocks % lanes == 0)
        tryLanes(tile, lanes);
  }
  return best;
}

std::optional<DepthwiseTile>
tessera::chooseDepthwiseBoxTile(const ConvProblem &conv,
                                const GpuTarget &target) {
  // Tensors that fit a cache gain nothing. In tensors many times as large as
  // L2, rows that are evicted first would leave it before a second workgroup
  // reads them, too.
  constexpr int64_t kLeastBytes = 5'000'000, kMaxStreamed = 256'000'000;
  const int64_t bytes = (conv.getInputElements() + conv.getOutputElements()) *
                        getByteSize(conv.dataType);
  if (!target.hasTma || conv.dataType == DataType::F64 ||
      conv.inChannels != conv.groups || conv.outChannels != conv.groups ||
      bytes < kLeastBytes ||
      !fitsTensorMap(conv.getInputStrides(), getByteSize(conv.dataType)) ||
      !fitsTensorMap(conv.getOutputStrides(), getByteSize(conv.dataType)))
    return std::nullopt;
  std::optional<DepthwiseTile> tile = BoxTiles(conv, target).choose();
  if (tile)
    tile->isStreamed = bytes <= kMaxStreamed;
  return tile;
}
