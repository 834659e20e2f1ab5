//===- Stem.cpp - Convolutions of few input channels ----------------------===//

#include "compiler/Algorithms/Stem/Stem.h"
#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Common/ConvProgram.h"
#include "compiler/Algorithms/ImplicitGemm/GemmCost.h"
#include "compiler/Algorithms/ImplicitGemm/ImplicitGemm.h"
#include "compiler/Algorithms/OpenSamples.h"
#include "compiler/Algorithms/Registry.h"
#include "compiler/Target/ElementType.h"
#include "compiler/Target/MatrixInstruction.h"
#include "runtime/Base/TextScanner.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// The tile's text
//===----------------------------------------------------------------------===//

TileConfig StemTile::toConfig() const {
  return {"stem", "h" + std::to_string(height) + "w" + std::to_string(width) +
                      "n" + std::to_string(n) + "-w" + std::to_string(wavesM) +
                      "x" + std::to_string(wavesN) + "-" + mma +
                      (perUnit > 0 ? "-p" + std::to_string(perUnit) : "")};
}

ErrorOr<StemTile> tessera::parseStemTile(const TileConfig &config) {
  StemTile tile;
  std::string_view mma;
  TextScanner scanner(config.parameters);
  scanner.expect("h").number(tile.height).expect("w").number(tile.width);
  scanner.expect("n").number(tile.n).expect("-w").number(tile.wavesM);
  scanner.expect("x").number(tile.wavesN).expect("-").word(mma, "- ");
  if (scanner.consume("-p")) {
    scanner.number(tile.perUnit);
    if (tile.perUnit < 1 || tile.perUnit > 32)
      scanner.fail();
  }
  bool isInRange = std::min({tile.height, tile.width, tile.n, tile.wavesM,
                             tile.wavesN}) >= 1 &&
                   std::max({tile.height, tile.width, tile.n}) <= 1024;
  if (!scanner.isDone() || !isInRange || config.algorithm != "stem")
    return invalidArgument("'" + config.toText() +
                           "' is not a tile, which looks like "
                           "'stem-h16w16n64-w4x1-mfma32'");
  tile.mma = mma;
  return tile;
}

//===----------------------------------------------------------------------===//
// What a tile needs
//===----------------------------------------------------------------------===//

namespace {
/// A tile for a problem, in numbers.
struct StemWork {
  MatrixInstruction row;
  int64_t chunk;     ///< The number of elements in 16 bytes.
  int64_t perColumn; ///< The distance of columns in a line, in elements.
  int64_t step;      ///< The padded length of the reduction.
  double windowElements, ldsBytes, multiplies, tiles, threads;
};
} // namespace

/// The length of a reduction of `total` elements, padded to what the lanes of
/// the instruction read.
static int64_t getStep(int64_t total, const MatrixInstruction &row,
                       int64_t chunk) {
  return llvm::alignTo(total, row.getLaneChunks() *
                                  std::max<int64_t>(chunk, row.kPerLane));
}

static StemWork measure(const ConvProblem &p, const StemTile &tile,
                        const MatrixInstruction &row, const GpuTarget &target) {
  int64_t bytes = getByteSize(p.dataType);
  bool isLast = p.xLayout == Layout::NHWC;
  StemWork work{};
  work.row = row;
  work.chunk = 16 / bytes;
  work.perColumn = isLast ? p.inChannels : 1;
  StemRun run =
      StemRun::make(p.filter.w * work.perColumn, p.pad.w * work.perColumn,
                    p.in.w * work.perColumn, work.chunk);
  int64_t planes = isLast ? 1 : p.inChannels;
  work.step = getStep(planes * p.filter.h * run.length, row, work.chunk);
  auto lines = double(tile.height - 1) * double(p.stride.h) +
               double(p.filter.h - 1) * double(p.dilation.h) + 1;
  double pitch = double(tile.width - 1) * double(p.stride.w * work.perColumn) +
                 double(run.length + work.chunk);
  work.windowElements = double(planes) * lines * pitch;
  work.ldsBytes =
      (work.windowElements + double(tile.n) * double(work.step + work.chunk)) *
      double(bytes);
  work.multiplies = double(tile.getPixels()) / tile.wavesM * tile.n /
                    tile.wavesN / (row.rows * row.columns) *
                    double(work.step / row.k);
  Spatial out = p.getOutput();
  work.tiles = double(p.batch) *
               double(llvm::divideCeilSigned(out.h, tile.height)) *
               double(llvm::divideCeilSigned(out.w, tile.width)) *
               double(llvm::divideCeilSigned(p.outChannels, tile.n));
  work.threads = double(tile.wavesM) * tile.wavesN * target.waveSize;
  return work;
}

static bool fits(const StemTile &tile, int64_t channels, const StemWork &work,
                 const GpuTarget &target) {
  constexpr double kMaxMultiplies = 512;
  // Persistent workgroups keep the filter, which must be that of all channels.
  return (tile.perUnit == 0 || channels <= tile.n) &&
         work.ldsBytes <= target.ldsBytes &&
         (work.multiplies <= kMaxMultiplies || work.row.isFma()) &&
         work.step <= 1024 &&
         work.tiles * work.threads <= std::numeric_limits<uint32_t>::max();
}

/// Whether lanes hold the fragments of the filter in registers from tile to
/// tile (compiler/Conversion/Workgroup/WaveWindows.cpp).
static bool holdsFilter(const StemTile &tile, const StemWork &work,
                        int64_t bytes, const GpuTarget &target) {
  constexpr double kMaxRegisters = 128, kRegisterBytes = 4;
  double columns = double(tile.n) / tile.wavesN;
  double accumulators = double(tile.getPixels()) / tile.wavesM * columns;
  double filter = columns * double(work.step) * double(bytes) / kRegisterBytes;
  return tile.perUnit > 0 &&
         (accumulators + filter) / target.waveSize <= kMaxRegisters;
}

/// The clocks of the whole chip. Besides the products, the waves of a workgroup
/// execute instructions to copy the operands to LDS, to read windows, and to
/// store the result.
static double estimateClocks(const ConvProblem &p, const StemTile &tile,
                             const StemWork &work, double peak,
                             const GpuTarget &target, const StemRates &rates) {
  double bytes = getByteSize(p.dataType);
  double share = work.row.isFma() ? rates.fmaShare : rates.share;
  // Waves of small workgroups wait less at their barriers.
  if (holdsFilter(tile, work, getByteSize(p.dataType), target))
    share = rates.heldShare + rates.fewWaves / (tile.wavesM * tile.wavesN);
  double products = double(tile.getPixels()) * tile.n * double(work.step);
  int64_t aligned = std::gcd(p.stride.w * work.perColumn, work.chunk);
  double loadWidth = double(std::gcd(p.in.w * work.perColumn, work.chunk));
  double windowReads = double(tile.getPixels()) * double(work.step) *
                       tile.wavesN / double(aligned) / 2;
  double instructions = work.windowElements / loadWidth * rates.piece +
                        (tile.perUnit > 0 ? 0 : double(tile.n)) *
                            double(work.step) * rates.filterElement +
                        double(tile.getPixels()) * tile.n * rates.result +
                        windowReads;
  double issueClocks = target.waveSize == 64 ? 4 : 1;
  double clocks = products / (share * peak) + instructions / target.waveSize *
                                                  issueClocks /
                                                  target.simdsPerCu;
  double tilesPerUnit = std::ceil(work.tiles / target.computeUnits);
  double tensorBytes =
      double(p.getInputElements() + p.getOutputElements()) * bytes;
  // On an H100 7x7 of channels first took 6.3 times as long.
  constexpr double kChannelsFirst = 6;
  if (target.hasWgmma && p.xLayout == Layout::NCHW)
    clocks *= kChannelsFirst;
  double multiply = tilesPerUnit * clocks;
  double memory = tensorBytes / getMemoryBytesPerClock(target);
  if (tile.perUnit == 0)
    return std::max(multiply, memory);
  // A persistent workgroup begins by loading the filter, and later waits for
  // the windows that it loads itself. Other workgroups hide most of both.
  double filters = std::min<double>(tile.perUnit, tilesPerUnit) *
                   double(tile.n) * double(work.step) * rates.filterElement /
                   target.waveSize * issueClocks / target.simdsPerCu;
  return std::max(multiply, memory) +
         rates.overlap * std::min(multiply, memory) + rates.unhidden * filters;
}

/// The blocks of pixels and channels that are candidates with an instruction.
static std::vector<StemTile> getTiles(const GemmShapes &shapes,
                                      const GpuTarget &target) {
  std::string mma(shapes.instruction);
  if (mma == "mfma32")
    return {{16, 16, 64, 4, 1, mma},
            {8, 32, 64, 4, 1, mma},
            {8, 16, 64, 4, 1, mma},
            {16, 16, 32, 4, 1, mma},
            {8, 16, 32, 4, 1, mma}};
  if (mma == "wmma16")
    return {{8, 16, 64, 2, 2, mma},
            {4, 32, 64, 2, 2, mma},
            {8, 16, 32, 4, 1, mma},
            {4, 16, 32, 2, 2, mma}};
  if (mma == "mma16")
    return {{8, 16, 64, 2, 2, mma},   {8, 16, 32, 4, 1, mma},
            {4, 16, 32, 2, 1, mma},   {8, 16, 64, 2, 2, mma, 3},
            {8, 8, 64, 2, 2, mma, 3}, {4, 8, 64, 1, 2, mma, 6}};
  if (mma == "mma16_tf32")
    return {
        {8, 16, 64, 2, 2, mma}, {8, 16, 32, 4, 1, mma}, {4, 16, 32, 2, 1, mma}};
  if (mma == "fma" && target.waveSize == 64)
    return {{8, 8, 64, 2, 2, mma}, {4, 16, 64, 2, 2, mma}};
  if (mma == "fma")
    return {{8, 8, 32, 2, 2, mma}, {4, 8, 32, 2, 2, mma}};
  return {};
}

//===----------------------------------------------------------------------===//
// The algorithm
//===----------------------------------------------------------------------===//

namespace {
class Stem final : public Algorithm {
public:
  std::string_view getName() const override { return "stem"; }
  bool takesUnknownSizes() const override { return true; }
  bool needsWorkspace(const ConvProblem &, const TileConfig &) const override {
    return false;
  }
  Status check(const Problem &problem, const GpuTarget &target) const override;
  std::vector<Candidate> getCandidates(const Problem &problem,
                                       const GpuTarget &target) const override;
  LogicalResult build(Operation *primitive, const TileConfig &tile,
                      const GpuTarget &target) const override;
};
} // namespace

Status Stem::check(const Problem &problem, const GpuTarget &) const {
  const Problem sample = problem.getSample();
  const ConvProblem *conv = sample.getConv();
  if (!conv)
    return notSupported("solves convolutions");
  if (conv->direction != Direction::Forward)
    return notSupported("goes forward");
  constexpr int64_t kMaxChannels = 4;
  if (conv->groups != 1 || conv->inChannels > kMaxChannels)
    return notSupported("wants one group of at most 4 input channels");
  if (conv->hasDepth())
    return notSupported("knows no depth");
  if (conv->dataType != DataType::F16 && conv->dataType != DataType::BF16 &&
      conv->dataType != DataType::F32)
    return notSupported("computes with f16, bf16 and f32");
  if (conv->xLayout != conv->wLayout || conv->xLayout == Layout::Strided)
    return notSupported("wants image and filter packed in one layout");
  if (conv->dilation.w != 1 && conv->filter.w != 1)
    return notSupported("wants taps that are neighbours");
  int64_t perColumn = conv->xLayout == Layout::NHWC ? conv->inChannels : 1;
  if (conv->stride.w * perColumn * getByteSize(conv->dataType) % 4 != 0)
    return notSupported("wants pixels that lie dwords apart in a line");
  constexpr int64_t kMaxBytes = int64_t(1) << 31;
  constexpr int64_t kMaxLength = int64_t(1) << 24;
  int64_t bytes = getByteSize(conv->dataType);
  Spatial out = conv->getOutput();
  if (conv->getInputElements() * bytes > kMaxBytes ||
      conv->getOutputElements() * bytes > kMaxBytes ||
      std::max({conv->in.h, conv->in.w, out.h, out.w, conv->pad.h, conv->pad.w,
                conv->stride.h, conv->stride.w, conv->dilation.h,
                conv->filter.h, conv->filter.w}) > kMaxLength)
    return notSupported("wants smaller images");
  return Status::ok();
}

std::vector<Candidate> Stem::getCandidates(const Problem &problem,
                                           const GpuTarget &target) const {
  if (!problem.hasUnknownSizes())
    return getStemCandidates(*problem.getConv(), target);
  std::vector<Candidate> candidates =
      rankAtSamples(getOpenSamples(problem), [&](const ConvProblem &sample) {
        return getStemCandidates(sample, target);
      });
  // How many tiles a persistent workgroup has is not known.
  std::erase_if(candidates, [](const Candidate &candidate) {
    return parseStemTile(candidate.tile)->perUnit > 0;
  });
  return candidates;
}

std::vector<Candidate> tessera::getStemCandidates(const ConvProblem &conv,
                                                  const GpuTarget &target,
                                                  const StemRates &rates) {
  GemmShapes shapes = getGemmShapes(target, conv);
  auto row = findMatrixInstruction(target, shapes.instruction, conv.dataType);
  // Packing, whose costs follow times, is for chips with wgmma.
  const double scale = target.hasWgmma ? rates.scale : 1;
  std::vector<Candidate> candidates;
  for (const StemTile &tile : getTiles(shapes, target)) {
    StemWork work = measure(conv, tile, *row, target);
    if (fits(tile, conv.outChannels, work, target))
      candidates.push_back(
          {tile.toConfig(),
           scale *
               ::estimateClocks(conv, tile, work, shapes.peak, target, rates)});
  }
  return candidates;
}

/// Whether `conv` meets the conditions that check() has for a problem.
static bool isStem(dnn::ConvOp conv, const ConvGeometry &g) {
  auto isPacked = [](Value tensor) {
    auto type = cast<MemRefType>(tensor.getType());
    return hasPackedStrides(type) || !type.hasStaticShape();
  };
  Type element = conv.getElementType();
  return conv.getDirection() == dnn::ConvDirection::Forward && g.groups == 1 &&
         g.dims.size() == 2 && conv.getXLayout() == conv.getWLayout() &&
         isPacked(conv.getX()) && isPacked(conv.getW()) &&
         (element.isF16() || element.isBF16() || element.isF32()) &&
         (g.dims[1].dilation == 1 || g.dims[1].filter == 1);
}

LogicalResult Stem::build(Operation *primitive, const TileConfig &config,
                          const GpuTarget &target) const {
  auto conv = dyn_cast<dnn::ConvOp>(primitive);
  if (!conv)
    return primitive->emitOpError("is no convolution");
  ErrorOr<StemTile> tile = parseStemTile(config);
  if (!tile)
    return conv.emitOpError() << tile.getStatus().getMessage();
  ConvGeometry geometry(conv);
  if (!isStem(conv, geometry))
    return conv.emitOpError("is no forward convolution of one group in a "
                            "packed layout, which 'stem' needs");
  Type element = conv.getElementType();
  if (failed(checkRounding(conv, config, tile->mma)))
    return failure();
  auto row = findMatrixInstruction(target, tile->mma, *findDataType(element));
  if (!row)
    return conv.emitOpError() << "has tile '" << config.toText() << "', but "
                              << target.name << " has no such instruction";
  if (tile->perUnit > 0 && ShapedType::isDynamic(geometry.batch))
    return conv.emitOpError("has unknown sizes, for which each workgroup of a "
                            "stem has one tile");
  OpBuilder b(conv);
  GemmViews views = viewStem(b, conv, geometry, *tile);
  int64_t total = std::accumulate(views.reduce.begin(), views.reduce.end(),
                                  int64_t(1), std::multiplies<>());
  int64_t chunk = 128 / element.getIntOrFloatBitWidth();
  GemmTile gemm;
  gemm.m = tile->getPixels();
  gemm.n = tile->n;
  gemm.k = static_cast<int>(getStep(total, *row, chunk));
  gemm.wavesM = tile->wavesM;
  gemm.wavesN = tile->wavesN;
  gemm.buffers = 1;
  gemm.mma = tile->mma;
  buildGemmTiles(conv, gemm, std::move(views),
                 tile->perUnit * target.computeUnits);
  return success();
}

const Algorithm &tessera::getStem() {
  static const Stem kAlgorithm;
  return kAlgorithm;
}
