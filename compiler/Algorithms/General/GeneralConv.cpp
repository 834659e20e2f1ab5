//===- GeneralConv.cpp - The convolution for any problem ------------------===//
//
// This algorithm makes "every valid problem runs" true: it takes each
// direction, type, stride, dilation, group count and memory order, in 2-D and
// 3-D. A thread owns a few neighbouring elements of the result and adds up
// their products one by one, so it is slow where a matrix unit could do the
// work, and its cost model says so.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/General/GeneralConv.h"
#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Registry.h"
#include "runtime/Base/TextScanner.h"

#include <algorithm>

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// The tile's text
//===----------------------------------------------------------------------===//

TileConfig GeneralTile::toConfig() const {
  return {"general", "b" + std::to_string(block) + "r" + std::to_string(rows) +
                         "t" + std::to_string(threads) + "s" +
                         std::to_string(splits)};
}

ErrorOr<GeneralTile> tessera::parseGeneralTile(const TileConfig &config) {
  GeneralTile tile;
  TextScanner scanner(config.parameters);
  scanner.expect("b").number(tile.block).expect("r").number(tile.rows);
  scanner.expect("t").number(tile.threads).expect("s").number(tile.splits);
  bool isPositive =
      std::ranges::min({tile.block, tile.rows, tile.threads, tile.splits}) >= 1;
  if (!scanner.isDone() || !isPositive || tile.threads > 1024 ||
      config.algorithm != "general")
    return invalidArgument("'" + config.toText() +
                           "' is not a tile, which looks like "
                           "'general-b4r1t256s1'");
  return tile;
}

//===----------------------------------------------------------------------===//
// The algorithm
//===----------------------------------------------------------------------===//

namespace {
class GeneralConv final : public Algorithm {
public:
  std::string_view getName() const override { return "general"; }
  bool takesUnaligned() const override { return true; }
  bool takesUnknownSizes() const override { return true; }
  bool needsWorkspace(const ConvProblem &,
                      const TileConfig &config) const override {
    ErrorOr<GeneralTile> tile = parseGeneralTile(config);
    return !tile || tile->splits > 1;
  }
  Status check(const Problem &problem, const GpuTarget &target) const override;
  std::vector<Candidate> getCandidates(const Problem &problem,
                                       const GpuTarget &target) const override;
  LogicalResult build(Operation *primitive, const TileConfig &tile,
                      const GpuTarget &target) const override;
};
} // namespace

/// Whether every coordinate, inside a tensor or out, fits 32 bits.
static bool fitsInt32(const ConvProblem &conv) {
  constexpr int64_t kLimit = int64_t(1) << 29;
  Spatial out = conv.getOutput();
  auto fits = [&](int64_t in, int64_t out, int64_t filter, int64_t pad,
                  int64_t stride, int64_t dilation) {
    double reach = double(out) * stride + double(filter) * dilation + pad;
    return reach + in < kLimit;
  };
  return fits(conv.in.d, out.d, conv.filter.d, conv.pad.d, conv.stride.d,
              conv.dilation.d) &&
         fits(conv.in.h, out.h, conv.filter.h, conv.pad.h, conv.stride.h,
              conv.dilation.h) &&
         fits(conv.in.w, out.w, conv.filter.w, conv.pad.w, conv.stride.w,
              conv.dilation.w) &&
         std::max({conv.batch, conv.inChannels, conv.outChannels}) < kLimit &&
         double(conv.batch) * out.d * out.h < kLimit;
}

Status GeneralConv::check(const Problem &problem, const GpuTarget &) const {
  const Problem sample = problem.getSample();
  const ConvProblem *conv = sample.getConv();
  if (!conv)
    return notSupported("solves convolutions only");
  if (!fitsInt32(*conv))
    return notSupported("a coordinate is beyond the 32-bit arithmetic of a "
                        "kernel");
  return Status::ok();
}

/// The largest power of two that divides `value`, at most `limit`.
static int64_t getBlock(int64_t value, int64_t limit) {
  return std::min(limit, value & -value);
}

/// The number of threads that fill `target` and hide its memory's latency.
static int64_t getWantedThreads(const GpuTarget &target) {
  constexpr int64_t kWavesPerSimd = 4;
  return int64_t(target.computeUnits) * target.simdsPerCu * kWavesPerSimd *
         target.waveSize;
}

static GeneralTile chooseDataTile(const ConvProblem &conv,
                                  const GpuTarget &target) {
  bool isForward = conv.direction == Direction::Forward;
  int64_t channels =
      (isForward ? conv.outChannels : conv.inChannels) / conv.groups;
  GeneralTile tile;
  tile.block = getBlock(channels, conv.dataType == DataType::F64 ? 4 : 8);
  int64_t elements = conv.getResultLengths().getElements();
  while (tile.block > 1 && elements / tile.block < getWantedThreads(target))
    tile.block /= 2;
  return tile;
}

static GeneralTile chooseWeightsTile(const ConvProblem &conv,
                                     const GpuTarget &target) {
  constexpr int64_t kMaxSplits = 256;
  constexpr int64_t kMaxWorkspaceElements = int64_t(1) << 26;
  GeneralTile tile;
  tile.block = getBlock(conv.inChannels / conv.groups, 8);
  tile.rows = getBlock(conv.outChannels / conv.groups, 4);
  Spatial out = conv.getOutput();
  int64_t elements = conv.getFilterElements();
  int64_t threads = elements / (tile.block * tile.rows);
  tile.splits =
      std::clamp<int64_t>(getWantedThreads(target) / threads, 1,
                          std::min(conv.batch * out.d * out.h, kMaxSplits));
  tile.splits =
      std::clamp<int64_t>(kMaxWorkspaceElements / elements, 1, tile.splits);
  return tile;
}

std::vector<Candidate>
GeneralConv::getCandidates(const Problem &problem,
                           const GpuTarget &target) const {
  const Problem sample = problem.getSample();
  std::vector<Candidate> all = getGeneralCandidates(*sample.getConv(), target);
  if (!problem.isUnaligned() && !problem.isWithoutWorkspace())
    return all;
  // A misaligned problem runs this tile in place of another one, whose
  // workspace may be too small for the partial results of a split.
  for (Candidate &candidate : all) {
    GeneralTile tile = *parseGeneralTile(candidate.tile);
    tile.splits = 1;
    candidate.tile = tile.toConfig();
  }
  return all;
}

/// Whether `conv` is of the kind that was measured with channels first.
static bool hasLines(const ConvProblem &conv, const GpuTarget &target) {
  return target.vendor == Vendor::Nvidia && conv.groups > 1 &&
         conv.dataType == DataType::F32 && !conv.allowsTf32() &&
         conv.xLayout == Layout::NCHW && conv.yLayout == Layout::NCHW;
}

std::vector<Candidate>
tessera::getGeneralCandidates(const ConvProblem &conv, const GpuTarget &target,
                              const GeneralRates &rates) {
  GeneralTile tile = conv.direction == Direction::BackwardWeights
                         ? chooseWeightsTile(conv, target)
                         : chooseDataTile(conv, target);
  double efficiency = tile.block < 4           ? rates.narrowShare
                      : hasLines(conv, target) ? rates.linesShare
                                               : rates.wideShare;
  if (target.matrixUnit == MatrixUnit::MfmaCdna2 ||
      target.matrixUnit == MatrixUnit::MfmaCdna3)
    efficiency *= rates.clockShare;
  double threads = double(conv.getResultLengths().getElements()) *
                   static_cast<double>(tile.splits) /
                   static_cast<double>(tile.block * tile.rows);
  double share = std::min(1.0, threads / getWantedThreads(target));
  double cost = conv.getFlops() / 2 /
                (target.computeUnits * rates.lanes * efficiency * share);
  return {{tile.toConfig(), cost}};
}

LogicalResult GeneralConv::build(Operation *primitive, const TileConfig &config,
                                 const GpuTarget &) const {
  auto conv = dyn_cast<dnn::ConvOp>(primitive);
  if (!conv)
    return primitive->emitOpError("is not a convolution");
  ErrorOr<GeneralTile> tile = parseGeneralTile(config);
  if (!tile)
    return conv.emitOpError() << tile.getStatus().getMessage();
  ConvProgram program(conv);
  bool isWeights = conv.getDirection() == dnn::ConvDirection::BackwardWeights;
  bool ownsOutputs = conv.getDirection() == dnn::ConvDirection::Forward;
  int64_t owned =
      ownsOutputs ? program.getOutputsPerGroup() : program.getInputsPerGroup();
  if (owned % tile->block != 0 ||
      (isWeights ? program.getOutputsPerGroup() % tile->rows != 0
                 : tile->rows != 1 || tile->splits != 1))
    return conv.emitOpError() << "does not fit tile '" << config.toText()
                              << "': its blocks must divide the channels of a "
                                 "group";
  if (isWeights)
    buildGeneralWeights(program, *tile);
  else
    buildGeneralData(program, *tile);
  return success();
}

const Algorithm &tessera::getGeneralConv() {
  static const GeneralConv kAlgorithm;
  return kAlgorithm;
}
