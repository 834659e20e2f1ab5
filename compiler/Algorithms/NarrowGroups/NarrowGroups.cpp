//===- NarrowGroups.cpp - Groups of few channels, side by side ------------===//

#include "compiler/Algorithms/NarrowGroups/NarrowGroups.h"
#include "compiler/Algorithms/Common/ConvProgram.h"
#include "compiler/Algorithms/ImplicitGemm/ImplicitGemm.h"
#include "compiler/Algorithms/OpenSamples.h"
#include "compiler/Algorithms/Registry.h"
#include "runtime/Base/TextScanner.h"

#include <algorithm>

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// The tile's text
//===----------------------------------------------------------------------===//

TileConfig NarrowTile::toConfig() const {
  return {"groups",
          "h" + std::to_string(height) + "w" + std::to_string(width) + "-w" +
              std::to_string(waves) +
              (persistent > 0 ? "-p" + std::to_string(persistent) : "") +
              (run > 1 ? "-r" + std::to_string(run) +
                             (buffers > 2 ? "b" + std::to_string(buffers) : "")
                       : "") +
              (splits > 1 ? "-s" + std::to_string(splits) : "")};
}

ErrorOr<NarrowTile> tessera::parseNarrowTile(const TileConfig &config) {
  NarrowTile tile;
  TextScanner scanner(config.parameters);
  scanner.expect("h").number(tile.height).expect("w").number(tile.width);
  scanner.expect("-w").number(tile.waves);
  if (scanner.consume("-p")) {
    scanner.number(tile.persistent);
    if (tile.persistent < 1 || tile.persistent > 32)
      scanner.fail();
  }
  if (scanner.consume("-r")) {
    scanner.number(tile.run);
    if (scanner.consume("b")) {
      scanner.number(tile.buffers);
      if (tile.buffers < 3 || tile.buffers > 4)
        scanner.fail();
    }
    if (tile.run < 2 || tile.run > 1024 || tile.persistent > 0)
      scanner.fail();
  }
  if (scanner.consume("-s")) {
    scanner.number(tile.splits);
    if (tile.splits < 2)
      scanner.fail();
  }
  const bool isInRange =
      std::min({tile.height, tile.width, tile.waves}) >= 1 &&
      std::max({tile.height, tile.width, tile.waves}) <= 1024;
  if (!scanner.isDone() || !isInRange || config.algorithm != "groups")
    return invalidArgument("'" + config.toText() +
                           "' is not a tile, which looks like "
                           "'groups-h7w28-w1'");
  return tile;
}

//===----------------------------------------------------------------------===//
// The algorithm
//===----------------------------------------------------------------------===//

namespace {
class NarrowGroups final : public Algorithm {
public:
  std::string_view getName() const override { return "groups"; }
  bool takesUnknownSizes() const override { return true; }
  bool needsWorkspace(const ConvProblem &conv,
                      const TileConfig &) const override {
    return conv.direction == Direction::BackwardWeights;
  }
  Status check(const Problem &problem, const GpuTarget &target) const override;
  std::vector<Candidate> getCandidates(const Problem &problem,
                                       const GpuTarget &target) const override;
  LogicalResult build(Operation *primitive, const TileConfig &tile,
                      const GpuTarget &target) const override;
};
} // namespace

/// Whether groups of so many channels fill a block of 64 channels and divide,
/// or are a multiple of, the 16 channels of a warp.
static bool isNarrow(int64_t channels) {
  return channels == 4 || channels == 8 || channels == 16 || channels == 32;
}

Status NarrowGroups::check(const Problem &problem,
                           const GpuTarget &target) const {
  const Problem sample = problem.getSample();
  const ConvProblem *conv = sample.getConv();
  if (!conv)
    return notSupported("solves convolutions");
  if (target.matrixUnit != MatrixUnit::MmaSm80)
    return notSupported("is for chips with mma.sync and cp.async");
  if (conv->dataType != DataType::F16 && conv->dataType != DataType::BF16 &&
      conv->dataType != DataType::F32)
    return notSupported("computes with f16, bf16 and f32");
  if (conv->inChannels != conv->outChannels ||
      conv->inChannels % NarrowTile::kBlock != 0 ||
      !isNarrow(conv->inChannels / conv->groups))
    return notSupported("wants as many output as input channels, a multiple of "
                        "64, in groups of 4, 8, 16 or 32");
  if (conv->hasDepth())
    return notSupported("knows no depth");
  if (conv->xLayout != Layout::NHWC || conv->wLayout != Layout::NHWC ||
      conv->yLayout != Layout::NHWC)
    return notSupported("wants packed tensors with channels last");
  if (conv->direction == Direction::BackwardData &&
      (conv->stride.h != 1 || conv->stride.w != 1))
    return notSupported("goes back to data without a stride");
  constexpr int64_t kMaxBytes = int64_t(1) << 31;
  if (std::max(conv->getInputElements(), conv->getOutputElements()) *
          getByteSize(conv->dataType) >
      kMaxBytes)
    return notSupported("wants tensors of at most 2 GiB");
  return Status::ok();
}

std::vector<Candidate>
NarrowGroups::getCandidates(const Problem &problem,
                            const GpuTarget &target) const {
  if (!problem.hasUnknownSizes())
    return getNarrowCandidates(*problem.getConv(), target);
  const auto find = [&](const ConvProblem &sample) {
    return getOpenNarrowCandidates(sample, target);
  };
  if (problem.getConv()->direction != Direction::BackwardWeights)
    return rankAtSamples(getOpenImages(problem), find);
  const Problem sample = problem.getSample();
  return find(*sample.getConv());
}

/// Whether `conv` meets the conditions that check() has for a problem.
static bool hasNarrowGroups(dnn::ConvOp conv, const ConvGeometry &g) {
  auto isPacked = [](Value tensor, dnn::Layout layout) {
    auto type = cast<MemRefType>(tensor.getType());
    return isChannelsLast(layout) &&
           (hasPackedStrides(type) || !type.hasStaticShape());
  };
  return g.dims.size() == 2 && g.inChannels == g.outChannels &&
         isNarrow(g.inChannels) &&
         g.groups * g.inChannels % NarrowTile::kBlock == 0 &&
         isPacked(conv.getX(), conv.getXLayout()) &&
         isPacked(conv.getW(), conv.getWLayout()) &&
         isPacked(conv.getY(), conv.getYLayout()) &&
         (conv.getDirection() != dnn::ConvDirection::BackwardData ||
          (g.dims[0].stride == 1 && g.dims[1].stride == 1));
}

/// The matrix product of a workgroup, whose single step of the reduction has
/// all taps.
static GemmTile makeGemmTile(const ConvGeometry &g, const NarrowTile &tile,
                             bool isWeights, StringRef mma) {
  constexpr int kWaves = 4; // Each has 16 channels.
  const auto taps = static_cast<int>(g.dims[0].filter * g.dims[1].filter);
  GemmTile gemm;
  gemm.m = isWeights ? NarrowTile::kBlock : tile.getPixels();
  gemm.n = isWeights ? taps * NarrowTile::kBlock : NarrowTile::kBlock;
  gemm.k = isWeights ? tile.getPixels() : taps * NarrowTile::kBlock;
  gemm.wavesM = isWeights ? kWaves : tile.waves;
  gemm.wavesN = isWeights ? tile.waves : kWaves;
  gemm.buffers = isWeights || tile.persistent > 0 ? 2
                 : tile.run > 1                   ? tile.buffers
                                                  : 1;
  gemm.mma = mma;
  gemm.splits = tile.splits;
  gemm.isResident = true;
  gemm.run = tile.run;
  return gemm;
}

/// Says why a convolution cannot have the tile; null if it can. `persistent` is
/// the number of persistent workgroups, or 0.
static const char *findFault(const NarrowTile &tile, const GemmTile &gemm,
                             bool isWeights, int64_t persistent) {
  if (isWeights != (tile.splits > 1))
    return "but backward weights, and only that, needs 2 splits or more";
  if (isWeights && tile.run > 1)
    return "but backward weights has splits, not runs";
  if (gemm.m % gemm.wavesM != 0)
    return "whose waves do not divide its pixels";
  if (tile.persistent > 0 && isWeights)
    return "but backward weights has splits instead";
  if (tile.persistent > 0 && persistent == 0)
    return "but has more blocks of channels than workgroups";
  return nullptr;
}

LogicalResult NarrowGroups::build(Operation *primitive,
                                  const TileConfig &config,
                                  const GpuTarget &target) const {
  auto conv = dyn_cast<dnn::ConvOp>(primitive);
  if (!conv)
    return primitive->emitOpError("is no convolution");
  ErrorOr<NarrowTile> tile = parseNarrowTile(config);
  if (!tile)
    return conv.emitOpError() << tile.getStatus().getMessage();
  ConvGeometry geometry(conv);
  if (!hasNarrowGroups(conv, geometry))
    return conv.emitOpError(
        "is no 2-D convolution with channels last and groups of 4, 8, 16 or 32 "
        "channels, or goes back to data with a stride, which 'groups' does "
        "not");
  const bool isWeights =
      conv.getDirection() == dnn::ConvDirection::BackwardWeights;
  const StringRef mma = !conv.getElementType().isF32() ? "mma8"
                        : conv.getTf32()               ? "mma8_tf32"
                                                       : "mma8_bf16x6";
  const GemmTile gemm = makeGemmTile(geometry, *tile, isWeights, mma);
  // A persistent workgroup keeps its block of channels, so their number is a
  // multiple of that of the blocks.
  const int64_t blocks =
      geometry.groups * geometry.inChannels / NarrowTile::kBlock;
  const int64_t persistent =
      tile->persistent * int64_t(target.computeUnits) / blocks * blocks;
  if (const char *fault = findFault(*tile, gemm, isWeights, persistent))
    return conv.emitOpError()
           << "has tile '" << config.toText() << "', " << fault;
  OpBuilder b(conv);
  buildGemmTiles(conv, gemm,
                 isWeights ? viewNarrowWeights(b, conv, geometry, *tile)
                           : viewNarrowImages(b, conv, geometry, *tile),
                 persistent);
  return success();
}

const Algorithm &tessera::getNarrowGroups() {
  static const NarrowGroups kAlgorithm;
  return kAlgorithm;
}
