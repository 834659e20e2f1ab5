//===- ChannelsLast.cpp - Tensors transposed around another algorithm -----===//
//
// In NCHW neighbours in memory are pixels, but what a matrix product reduces
// is channels: its loads are narrow, and TMA has no form for them. Launches at
// the speed of a copy bring x, w or y into the workspace as NHWC, another
// algorithm computes there, and a launch brings the result back
// (docs/design/0019-channels-last.md). Where lanes side by side load pixels
// side by side, transposing the filter alone may be worth more, and where tiles
// leave column by column, the result is stored as it is wanted
// (docs/design/0026-column-major-results.md).
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Algorithms/Common/ConvProgram.h"
#include "compiler/Algorithms/Converted/ConvertedTensor.h"
#include "compiler/Algorithms/Converted/ConvertedTraffic.h"
#include "compiler/Algorithms/ImplicitGemm/GemmShapes.h"
#include "compiler/Algorithms/ImplicitGemm/GemmSize.h"
#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"
#include "compiler/Algorithms/Registry.h"
#include "compiler/Target/ElementType.h"
#include "compiler/Target/MatrixInstruction.h"

#include "mlir/IR/TypeUtilities.h"

#include <array>
#include <numeric>

using namespace mlir;
using namespace tessera;

static constexpr std::string_view kName = "nhwc";
/// Before the inner tile where the filter alone is transposed.
static constexpr std::string_view kFilterAlone = "w-";
/// Before the inner tile where the result is stored with channels first.
static constexpr std::string_view kOperandsAlone = "operands-";
/// Before all of that where operands of 8 bits are widened.
static constexpr std::string_view kWidened = "bf16-";

namespace {
class ChannelsLast final : public Algorithm {
public:
  std::string_view getName() const override { return kName; }
  bool takesUnknownSizes() const override { return true; }
  Status check(const Problem &problem, const GpuTarget &target) const override;
  std::vector<Candidate> getCandidates(const Problem &problem,
                                       const GpuTarget &target) const override;
  LogicalResult build(Operation *primitive, const TileConfig &tile,
                      const GpuTarget &target) const override;
};
} // namespace

/// Those that read channels last much faster; others have programs of their
/// own for NCHW.
static std::array<const Algorithm *, 4> getInnerAlgorithms() {
  return {&getImplicitGemm(), &getStem(), &getNarrowGroups(), &getPacked()};
}

//===----------------------------------------------------------------------===//
// The problem
//===----------------------------------------------------------------------===//

namespace {
/// Which of the tensors that are channels first are transposed.
enum class Transposed : uint8_t { All, Filter, Operands };

/// What the launches do to the tensors.
struct Conversions {
  Transposed transposed = Transposed::All;
  bool widens = false; ///< The operands, to bf16.

  std::string getPrefix() const;
};
} // namespace

static std::string_view getPrefix(Transposed transposed) {
  switch (transposed) {
  case Transposed::All:
    return "";
  case Transposed::Filter:
    return kFilterAlone;
  case Transposed::Operands:
    return kOperandsAlone;
  }
  return "";
}

std::string Conversions::getPrefix() const {
  return std::string(widens ? kWidened : "") +
         std::string(::getPrefix(transposed));
}

/// Whether the copy of a filter of `outputs` channels a group, which is
/// transposed alone, has these last: backward data reduces over them, and reads
/// whole chunks of 16 bytes.
static bool hasOutputsLast(bool isBackwardData, int64_t outputs,
                           int64_t elementBytes) {
  constexpr int64_t kChunkBytes = 16;
  return isBackwardData && outputs * elementBytes % kChunkBytes == 0;
}

/// The strides of such a copy.
static Strides getOutputsLast(const ConvProblem &p) {
  Strides strides{.n = 1, .w = p.outChannels};
  strides.h = strides.w * p.filter.w;
  strides.d = strides.h * p.filter.h;
  strides.c = strides.d * p.filter.d;
  return strides;
}

/// The same with channels last.
static ConvProblem getInnerProblem(const ConvProblem &problem,
                                   const Conversions &conversions) {
  ConvProblem inner = problem;
  inner.wLayout = Layout::NHWC;
  if (conversions.transposed == Transposed::Filter &&
      hasOutputsLast(problem.direction == Direction::BackwardData,
                     problem.outChannels / problem.groups,
                     getByteSize(problem.dataType))) {
    inner.wLayout = Layout::Strided;
    inner.wStrides = getOutputsLast(problem);
  }
  if (conversions.transposed != Transposed::Filter)
    inner.xLayout = inner.yLayout = Layout::NHWC;
  if (conversions.widens) {
    inner.dataType = DataType::BF16;
    inner.hasWidenedOperands = true;
  }
  return inner;
}

/// The layout of the tensor that is computed.
static Layout &getResultLayout(ConvProblem &conv) {
  return conv.direction == Direction::Forward        ? conv.yLayout
         : conv.direction == Direction::BackwardData ? conv.xLayout
                                                     : conv.wLayout;
}

/// The same of a problem that may have unknown sizes. Its tiles copy through
/// registers where they store the result with channels first.
static Problem getInner(const Problem &problem,
                        const Conversions &conversions) {
  ConvProblem conv = getInnerProblem(*problem.getConv(), conversions);
  if (problem.hasUnknownSizes() &&
      conversions.transposed == Transposed::Operands)
    getResultLayout(conv) = Layout::NCHW;
  const Problem inner(conv);
  return problem.isSmall() ? inner.asSmall() : inner;
}

static ConvertedTraffic getTraffic(const ConvProblem &problem, bool widens) {
  return {problem, widens ? DataType::BF16 : problem.dataType};
}

/// Whether products of bf16 may be faster than those of the type itself: the
/// matrix unit has none, or, wgmma, none of backward weights. Without a matrix
/// unit bf16 becomes f32 by a shift, 8 bits by some ten instructions.
static bool isWorthWidening(const ConvProblem &conv, const GpuTarget &target) {
  if (!isFloat8(conv.dataType))
    return false;
  return target.hasWgmma || target.matrixUnit == MatrixUnit::None ||
         !findMatrixInstruction(target, getGemmShapes(target, conv).instruction,
                                conv.dataType);
}

static bool isChannelsLast(const ConvProblem &conv) {
  return conv.xLayout == Layout::NHWC && conv.wLayout == Layout::NHWC &&
         conv.yLayout == Layout::NHWC;
}

/// Whether igemm may do better with x and y as they are. For TMA, all tensors
/// are channels last; the result of backward weights is the filter.
static bool isFilterWorthTrying(const ConvProblem &conv,
                                const ConvertedTraffic &traffic,
                                const GpuTarget &target) {
  const int64_t filter = traffic.countFilter();
  return target.vendor == Vendor::Amd &&
         conv.direction != Direction::BackwardWeights && filter > 0 &&
         filter < ConvertedTraffic::kMostWorkspace &&
         traffic.countWorkspace() > filter;
}

/// The same of a problem of unknown sizes.
static bool isOpenFilterWorthTrying(const Problem &problem,
                                    const GpuTarget &target) {
  const Problem sample = problem.getSample();
  const ConvProblem &conv = *sample.getConv();
  const Problem filter = getInner(problem, {.transposed = Transposed::Filter});
  return isFilterWorthTrying(conv, ConvertedTraffic(conv), target) &&
         getImplicitGemm().check(filter, target).isOk();
}

/// Whether tiles of unknown sizes may store the result with channels first: one
/// element at a time, which saves a launch where results are few.
static bool canStoreOpenResult(const Problem &problem,
                               const ConvertedTraffic &traffic,
                               const GpuTarget &target) {
  return problem.hasUnknownSizes() && target.vendor == Vendor::Amd &&
         traffic.isResultTransposed() &&
         traffic.countWorkspace() < ConvertedTraffic::kMostWorkspace;
}

/// Whether TMA tiles may store the result with channels first: elements of 16
/// bits or more. Of strided backward data they have pixels that are no
/// neighbours.
static bool canStoreResult(const ConvProblem &conv,
                           const ConvertedTraffic &traffic,
                           const GpuTarget &target) {
  const bool isOfStrideOne =
      conv.direction == Direction::Forward || getVolume(conv.stride) == 1;
  return target.hasWgmma && traffic.isResultTransposed() &&
         getByteSize(conv.getResultType()) > 1 &&
         conv.direction != Direction::BackwardWeights && isOfStrideOne &&
         traffic.countWorkspace() < ConvertedTraffic::kMostWorkspace;
}

/// The product that `config`, of igemm or, forward, of packed, computes; none
/// if it is not one of TMA.
static std::optional<GemmTile> findTmaProduct(const TileConfig &config,
                                              bool isForward) {
  const bool isPacked = isForward && config.algorithm == getPacked().getName();
  ErrorOr<GemmTile> tile =
      parseGemmTile(isPacked ? TileConfig{"igemm", config.parameters} : config);
  return tile && tile->isTma ? std::optional(*tile) : std::nullopt;
}

/// What stores such a result like `config` one with channels last; none if it
/// cannot: 64 columns, or fewer that are all, are stored at once, by one
/// workgroup, and the epilogue reads tensors of the result's shape where
/// channels are rows of wgmma.
static std::optional<TileConfig> storeChannelsFirst(const TileConfig &config,
                                                    const ConvProblem &conv) {
  constexpr int kBlock = 64, kWarp = 16, kLeastRows = 128;
  std::optional<GemmTile> tile =
      findTmaProduct(config, conv.direction == Direction::Forward);
  if (!tile ||
      (tile->n < kBlock && (tile->n % kWarp != 0 || tile->isSwapped)) ||
      tile->cluster > 1)
    return std::nullopt;
  if ((conv.epilogue.beta || conv.epilogue.residual) && tile->splits == 1) {
    // Products of fewer columns would wait for shared memory; split f32, whose
    // accumulators are promoted, has no swapped operands. A single column has
    // no neighbours that its rows could be closer than.
    const int64_t columns = conv.direction == Direction::Forward
                                ? conv.outChannels
                                : conv.inChannels;
    if (tile->n % kBlock != 0 || tile->m / tile->wavesM < kLeastRows ||
        tile->promote > 0 || columns == conv.groups)
      return std::nullopt;
    tile->isSwapped = true;
  }
  return TileConfig{config.algorithm, tile->toConfig().parameters};
}

/// Whether all tensors that are channels first can be transposed.
static Status checkAll(const ConvProblem &conv,
                       const ConvertedTraffic &traffic) {
  if ((conv.epilogue.beta || conv.epilogue.residual) &&
      traffic.isResultTransposed())
    return notSupported("adds no second tensor to a transposed result");
  if (traffic.isEmpty() && isChannelsLast(conv))
    return notSupported("has nothing to transpose");
  if (traffic.countWorkspace() >= ConvertedTraffic::kMostWorkspace)
    return notSupported("wants a workspace below 2 GiB");
  return Status::ok();
}

/// Whether all tensors can be converted, or all operands, and an algorithm
/// takes them then.
static Status checkConversions(const Problem &problem, bool widens,
                               const GpuTarget &target) {
  const Problem sample = problem.getSample();
  const ConvProblem &conv = *sample.getConv();
  const ConvertedTraffic traffic = getTraffic(conv, widens);
  if (Status status = checkAll(conv, traffic);
      !status.isOk() && !canStoreResult(conv, traffic, target) &&
      !canStoreOpenResult(problem, traffic, target))
    return status;
  const Problem inner =
      getInner(problem, {.transposed = Transposed::All, .widens = widens});
  std::string reasons;
  for (const Algorithm *algorithm : getInnerAlgorithms()) {
    Status status = checkAlgorithm(*algorithm, inner, target);
    if (status.isOk())
      return status;
    reasons += (reasons.empty() ? "" : "; ") +
               std::string(algorithm->getName()) + ": " + status.getMessage();
  }
  return notSupported(reasons);
}

Status ChannelsLast::check(const Problem &problem,
                           const GpuTarget &target) const {
  const ConvProblem *conv = problem.getConv();
  if (!conv)
    return notSupported("solves convolutions");
  for (Layout layout : {conv->xLayout, conv->wLayout, conv->yLayout})
    if (layout != Layout::NHWC && layout != Layout::NCHW)
      return notSupported("transposes packed tensors");
  if (problem.hasUnknownSizes() && !isOpenFilterWorthTrying(problem, target))
    return checkConversions(problem, /*widens=*/false, target);
  if (problem.hasUnknownSizes())
    return Status::ok();
  const ConvertedTraffic traffic(*conv);
  const Problem filter(
      getInnerProblem(*conv, {.transposed = Transposed::Filter}));
  if (isFilterWorthTrying(*conv, traffic, target) &&
      getImplicitGemm().check(filter, target).isOk())
    return Status::ok();
  if (isWorthWidening(*conv, target) &&
      checkConversions(problem, /*widens=*/true, target).isOk())
    return Status::ok();
  return checkConversions(problem, /*widens=*/false, target);
}

/// What the launches take that convert.
static double estimateClocks(const ConvProblem &conv,
                             const Conversions &conversions,
                             const GpuTarget &target) {
  const ConvertedTraffic traffic = getTraffic(conv, conversions.widens);
  switch (conversions.transposed) {
  case Transposed::All:
    return traffic.estimateClocks(target);
  case Transposed::Filter:
    return traffic.estimateFilterClocks(target);
  case Transposed::Operands:
    return traffic.estimateOperandClocks(target);
  }
  return 0;
}

/// The elements of a result that a product reduces over.
static int64_t countReduced(const ConvProblem &conv) {
  const int64_t channels =
      conv.direction == Direction::Forward ? conv.inChannels : conv.outChannels;
  return channels / conv.groups * getVolume(conv.filter);
}

/// What lanes take that store a result with channels first, where TMA cannot
/// (docs/design/0026-column-major-results.md): two neighbours at a time in a
/// halo's lines if their pixels are even, one if odd, else as many as divide
/// the pixels of an image. Elements a clock of a multiprocessor are those of
/// r50_5_1x1b on an H100, and of r50_2_3x3, where the products of several taps
/// hide them. The shorter the reduction is, the less they do: on an H200 halos
/// of 32 and 48 channels of 3x3 took 0.157 and 0.07 clocks an element, without
/// ping-pong as many of both, and with more than 128 accumulators a thread 0.03
/// to 0.085 more.
static double estimateLaneStores(const ConvProblem &conv,
                                 const TileConfig &config,
                                 const GpuTarget &target) {
  constexpr int64_t kStaged = 64, kMostAtOnce = 8;
  constexpr double kPointwise = 2, kSeveralTaps = 10;
  const bool isForward = conv.direction == Direction::Forward;
  const Spatial image = isForward ? conv.getOutput() : conv.in;
  const int64_t pixels = getVolume(image);
  const std::optional<GemmTile> tile = findTmaProduct(config, isForward);
  const bool hasHalo = tile && tile->halo > 0;
  if (!hasHalo && pixels % kStaged == 0)
    return 0;
  const bool hasTaps = getVolume(conv.filter) > 1;
  const int64_t atOnce =
      hasHalo ? std::gcd(image.w, 2) : std::gcd(pixels, kMostAtOnce);
  double clocks =
      1 / ((hasTaps ? kSeveralTaps : kPointwise) * static_cast<double>(atOnce));
  // Clocks of an element, and what each element of the reduction hides.
  constexpr double kExposed = 0.33, kHidden = 0.0006, kApart = 0.157;
  constexpr double kCrowded = 0.13, kCrowdedHidden = 0.00019;
  constexpr int64_t kFew = 2, kMostAccumulators = 128, kThreads = 128;
  const auto reduced = static_cast<double>(countReduced(conv));
  if (hasHalo)
    clocks = std::max(
        {clocks, kExposed - kHidden * reduced, tile->isPingPong ? 0 : kApart});
  if (hasTaps && tile && tile->isPingPong && atOnce <= kFew &&
      int64_t(tile->m) * tile->n > kMostAccumulators * kThreads)
    clocks += std::max(0.0, kCrowded - kCrowdedHidden * reduced);
  return static_cast<double>(conv.getResultLengths().getElements()) * clocks /
         target.computeUnits;
}

/// Appends the tiles of `algorithm` for `conv` with converted tensors.
static void addCandidates(const Algorithm &algorithm, const Problem &problem,
                          const Conversions &conversions,
                          const GpuTarget &target,
                          std::vector<Candidate> &candidates) {
  const Problem inner = getInner(problem, conversions);
  if (!checkAlgorithm(algorithm, inner, target).isOk())
    return;
  const Problem sample = problem.getSample();
  const ConvProblem &conv = *sample.getConv();
  const bool storesResult = conversions.transposed == Transposed::Operands;
  const double converting = estimateClocks(conv, conversions, target);
  for (const Candidate &candidate : algorithm.getCandidates(inner, target)) {
    std::optional<TileConfig> tile = candidate.tile;
    const bool isTma = !problem.hasUnknownSizes();
    if (storesResult && isTma)
      tile = storeChannelsFirst(candidate.tile, conv);
    const double stored = storesResult && isTma && tile
                              ? estimateLaneStores(conv, *tile, target)
                              : 0;
    if (tile)
      candidates.push_back(
          {{std::string(kName), conversions.getPrefix() + tile->toText()},
           candidate.cost + converting + stored});
  }
}

/// Those that convert all tensors, or the operands alone.
static void addCandidates(const Problem &problem, bool widens,
                          const GpuTarget &target,
                          std::vector<Candidate> &candidates) {
  const Problem sample = problem.getSample();
  const ConvProblem &conv = *sample.getConv();
  const ConvertedTraffic traffic = getTraffic(conv, widens);
  if (checkAll(conv, traffic).isOk())
    for (const Algorithm *algorithm : getInnerAlgorithms())
      addCandidates(*algorithm, problem, {Transposed::All, widens}, target,
                    candidates);
  if (canStoreOpenResult(problem, traffic, target))
    addCandidates(getImplicitGemm(), problem, {Transposed::Operands, widens},
                  target, candidates);
  if (!problem.hasUnknownSizes() && canStoreResult(conv, traffic, target))
    for (const Algorithm *algorithm : {&getImplicitGemm(), &getPacked()})
      addCandidates(*algorithm, problem, {Transposed::Operands, widens}, target,
                    candidates);
}

std::vector<Candidate>
ChannelsLast::getCandidates(const Problem &problem,
                            const GpuTarget &target) const {
  const ConvProblem &conv = *problem.getConv();
  std::vector<Candidate> candidates;
  addCandidates(problem, /*widens=*/false, target, candidates);
  if (problem.hasUnknownSizes()) {
    if (isOpenFilterWorthTrying(problem, target))
      addCandidates(getImplicitGemm(), problem, {Transposed::Filter, false},
                    target, candidates);
    return candidates;
  }
  if (isFilterWorthTrying(conv, ConvertedTraffic(conv), target))
    addCandidates(getImplicitGemm(), problem, {Transposed::Filter, false},
                  target, candidates);
  if (isWorthWidening(conv, target))
    addCandidates(problem, /*widens=*/true, target, candidates);
  return candidates;
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

/// The tensors that are not channels last, or are widened; then `conv` is the
/// inner convolution.
static std::vector<ConvertedTensor>
convertTensors(dnn::ConvOp conv, const Conversions &conversions) {
  const Transposed transposed = conversions.transposed;
  const bool putsOutputsLast =
      transposed == Transposed::Filter &&
      hasOutputsLast(conv.getDirection() == dnn::ConvDirection::BackwardData,
                     ConvProgram(conv).getOutputsPerGroup(),
                     conv.getElementType().getIntOrFloatBitWidth() / 8);
  std::vector<ConvertedTensor> tensors;
  // The layout of `operand` inside.
  auto convert = [&](OpOperand &operand, dnn::Layout layout, bool isFilter,
                     StringRef suffix) {
    const bool isResult = &operand == &conv.getResultOperand();
    const Type given = getElementTypeOrSelf(operand.get().getType());
    const Type element = conversions.widens && !isResult
                             ? BFloat16Type::get(conv.getContext())
                             : given;
    const bool keepsLayout = (transposed == Transposed::Filter && !isFilter) ||
                             (transposed == Transposed::Operands && isResult);
    if (element != given || (!keepsLayout && layout != dnn::Layout::NHWC))
      tensors.emplace_back(conv, operand, layout, element, suffix,
                           isFilter && putsOutputsLast);
    return keepsLayout ? layout : dnn::Layout::NHWC;
  };
  conv.setXLayout(
      convert(conv.getXMutable(), conv.getXLayout(), /*isFilter=*/false, "_x"));
  conv.setWLayout(
      convert(conv.getWMutable(), conv.getWLayout(), /*isFilter=*/true, "_w"));
  conv.setYLayout(
      convert(conv.getYMutable(), conv.getYLayout(), /*isFilter=*/false, "_y"));
  return tensors;
}

/// Takes what the parameters of a tile begin with.
static Conversions takePrefix(std::string_view &parameters) {
  Conversions conversions;
  auto take = [&](std::string_view prefix) {
    const bool isThere = parameters.starts_with(prefix);
    parameters.remove_prefix(isThere ? prefix.size() : 0);
    return isThere;
  };
  conversions.widens = take(kWidened);
  for (Transposed transposed : {Transposed::Filter, Transposed::Operands})
    if (take(getPrefix(transposed))) {
      conversions.transposed = transposed;
      break;
    }
  return conversions;
}

/// One type for both operands of the product.
static LogicalResult checkWidened(dnn::ConvOp conv,
                                  const Conversions &conversions) {
  if (!conversions.widens)
    return success();
  if (!isFloat8(conv.getElementType()))
    return conv.emitOpError()
           << "multiplies " << conv.getElementType() << ", but 'nhwc-"
           << kWidened << "' widens floats of 8 bits";
  if (conversions.transposed == Transposed::Filter)
    return conv.emitOpError()
           << "has two operands, which 'nhwc-" << kWidened << "' widens both";
  return success();
}

/// Tiles that store column by column are those of TMA; others would store one
/// element at a time, as some of unknown sizes do.
static LogicalResult checkPrefix(dnn::ConvOp conv, Transposed transposed,
                                 const TileConfig &inner) {
  const bool isOpen = ShapedType::isDynamic(conv.getDims().n) &&
                      inner.algorithm == getImplicitGemm().getName() &&
                      !findTmaProduct(inner, /*isForward=*/false);
  if (transposed == Transposed::All ||
      (transposed == Transposed::Operands && isOpen))
    return success();
  if (conv.getDirection() == dnn::ConvDirection::BackwardWeights)
    return conv.emitOpError("has the filter as its result, which 'nhwc-")
           << getPrefix(transposed)
           << (transposed == Transposed::Filter ? "' does not transpose alone"
                                                : "' does not store");
  const bool isForward = conv.getDirection() == dnn::ConvDirection::Forward;
  if (transposed == Transposed::Operands && !findTmaProduct(inner, isForward))
    return conv.emitOpError("is stored with channels first, which 'nhwc-")
           << getPrefix(transposed)
           << "' does with tiles of igemm with TMA, or, forward, of packed";
  return success();
}

LogicalResult ChannelsLast::build(Operation *primitive,
                                  const TileConfig &config,
                                  const GpuTarget &target) const {
  auto conv = dyn_cast<dnn::ConvOp>(primitive);
  if (!conv)
    return primitive->emitOpError("is no convolution");
  std::string_view parameters = config.parameters;
  const Conversions conversions = takePrefix(parameters);
  const Transposed transposed = conversions.transposed;
  ErrorOr<TileConfig> tile = parseTileConfig(parameters);
  const Algorithm *inner = tile ? findAlgorithm(*tile) : nullptr;
  if (!inner || !llvm::is_contained(getInnerAlgorithms(), inner))
    return conv.emitOpError()
           << "has tile '" << config.toText()
           << "', but 'nhwc-' is followed by a tile of igemm, stem, groups or "
              "packed";
  const bool keepsResult = transposed != Transposed::All;
  if (failed(checkWidened(conv, conversions)) ||
      failed(checkPrefix(conv, transposed, *tile)) ||
      failed(checkConverted(conv, kName, keepsResult)))
    return failure();
  std::vector<ConvertedTensor> tensors = convertTensors(conv, conversions);
  return buildAround(conv, tensors, *inner, *tile, target);
}

const Algorithm &tessera::getChannelsLast() {
  static const ChannelsLast kAlgorithm;
  return kAlgorithm;
}
