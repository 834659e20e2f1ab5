//===- RowsModel.cpp - What reducing and mapping rows costs ---------------===//
//
// All of it is bound by memory, if enough threads have loads under way; where
// there are few, by how often each waits. What a problem's regions do is not
// known here: a row with outputs is taken to be walked twice.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/RowsModel.h"

#include <algorithm>
#include <cmath>

using namespace tessera;

static constexpr double kWait = 800;    ///< Clocks of a load from memory.
static constexpr double kBarrier = 150; ///< Of a turn of an exchange.
static constexpr double kLaunch = 6000; ///< A further launch.
static constexpr double kAtOnce = 4;    ///< Turns whose loads are together.

Status tessera::checkRowsReach(const RowsGeometry &g) {
  constexpr int64_t kLimit = int64_t(1) << 30;
  auto isTooLong = [](int64_t length) { return length >= kLimit; };
  if (std::any_of(g.lengths.begin(), g.lengths.end(), isTooLong) ||
      g.getRows() > 2 * kLimit - 1)
    return notSupported("the space is beyond the 32-bit arithmetic of a "
                        "kernel");
  return Status::ok();
}

/// Bytes that all of a chip's compute units move in a clock.
static double getBytesPerClock(const GpuTarget &target) {
  constexpr double kBytesOfUnit = 12;
  return kBytesOfUnit * target.computeUnits;
}

/// Clocks to issue the accesses of elements, of which each compute unit takes
/// the lanes of a wave four clocks.
static double estimateIssue(const RowsGeometry &g, const RowsTile &tile,
                            double passes, const GpuTarget &target) {
  const double tensors = static_cast<double>(g.tensors.size());
  const double accesses = static_cast<double>(g.getElements()) / tile.vector *
                          tensors * passes / target.waveSize;
  return accesses * 4 / target.computeUnits;
}

/// Clocks of `groups` workgroups that move `bytes` and of which each needs
/// `clocks`. Memory is as fast as it can be only if most of a chip asks.
static double estimateGroups(double groups, double threads, double clocks,
                             double bytes, const GpuTarget &target) {
  constexpr double kThreadsOfUnit = 1024, kBusy = 512;
  const double atOnce =
      target.computeUnits * std::max(1.0, kThreadsOfUnit / threads);
  const double share =
      std::min(1.0, groups * threads / (target.computeUnits * kBusy));
  return std::max(bytes / getBytesPerClock(target) / share,
                  std::ceil(groups / atOnce) * clocks) +
         clocks;
}

double tessera::estimateMap(const RowsGeometry &g, const RowsTile &tile,
                            const GpuTarget &target) {
  const double bytes = g.getBytesOfElements() + g.getSmallBytes();
  return kWait + std::max(bytes / getBytesPerClock(target),
                          estimateIssue(g, tile, 1, target));
}

/// Clocks of a team for its blocks and one exchange a walk.
static double estimateTeam(double blocks, double threads, double walks) {
  const double turns = std::ceil(blocks / threads);
  const double levels = threads > 1 ? std::ceil(std::log2(threads) / 4) : 0;
  return walks * (std::ceil(turns / kAtOnce) * kWait + levels * kBarrier);
}

static bool hasOutputs(const RowsGeometry &g) {
  return std::any_of(
      g.tensors.begin(), g.tensors.end(),
      [](const RowsTensor &t) { return t.role == RowRole::Output; });
}

/// Bytes that neighbouring teams find side by side: less than a line is a waste
/// of the rest.
static double estimateWaste(const RowsGeometry &g, const RowsTile &tile) {
  constexpr double kLine = 128;
  double bytes = 1;
  for (const RowsTensor &tensor : g.tensors)
    bytes = std::max(bytes, static_cast<double>(tensor.elementBytes));
  const double side =
      bytes * tile.vector * (g.isVectorInRow() ? tile.threads : tile.columns);
  const double whole = bytes * static_cast<double>(g.lengths[g.vectorDim]);
  return std::max(1.0, std::min(kLine, whole) / side);
}

double tessera::estimateRows(const RowsGeometry &g, const RowsTile &tile,
                             const GpuTarget &target) {
  const double walks = hasOutputs(g) ? 2 : 1;
  const auto blocks = static_cast<double>(g.getBlocksOfRow(tile.vector));
  const double groups = std::ceil(
      static_cast<double>(g.getRowBlocks(tile.vector)) / tile.columns);
  const double threads = tile.threads * tile.columns;
  // What does not fit registers comes from the cache the second time.
  const bool isKept = std::ceil(blocks / tile.threads) * tile.vector <= 32;
  const double bytes =
      g.getBytesOfElements() + g.getSmallBytes() +
      (isKept || walks == 1 ? 0 : g.getInputBytesOfElements() / 2);
  const double team = estimateTeam(blocks, tile.threads, isKept ? 1 : walks) +
                      (isKept ? (walks - 1) * kBarrier : 0);
  return std::max(estimateIssue(g, tile, isKept ? 1 : walks, target),
                  estimateGroups(groups, threads, team,
                                 bytes * estimateWaste(g, tile), target));
}

double tessera::estimateRowSplit(const RowsGeometry &g, const RowsTile &tile,
                                 const GpuTarget &target) {
  const double walks = hasOutputs(g) ? 2 : 1;
  const auto blocks = static_cast<double>(g.getBlocksOfRow(tile.vector));
  const double groups =
      std::ceil(static_cast<double>(g.getRowBlocks(tile.vector)) /
                tile.columns) *
      tile.parts;
  const double threads = tile.threads * tile.columns;
  const double team = estimateTeam(blocks / tile.parts, tile.threads, 1);
  const double bytes =
      g.getBytesOfElements() + (walks - 1) * g.getInputBytesOfElements();
  // Parts, their results, and the map.
  return (walks + 1) * kLaunch + 2 * kWait +
         std::max(estimateIssue(g, tile, walks, target),
                  estimateGroups(groups, threads, team,
                                 bytes * estimateWaste(g, tile), target));
}
