//===- SplitF32.cpp - Exact products of f32 on 16-bit matrix units --------===//
//
// Tensor cores multiply f32 only after rounding it to tf32. But an f32 is the
// sum of three bf16, so a convolution of f32 is one of bf16 whose reduction is
// six times as long: launches split both tensors into the workspace, and igemm
// multiplies there, with a result of f32 (docs/design/0024-f32-by-splits.md).
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Algorithms/Converted/ConvertedTensor.h"
#include "compiler/Algorithms/Converted/ConvertedTraffic.h"
#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"
#include "compiler/Algorithms/Registry.h"

using namespace mlir;
using namespace tessera;

static constexpr std::string_view kName = "bf16x6";

/// Steps of 64 that accumulators of wgmma sum up. They do not round to nearest,
/// and lose what an addition of f32 keeps: 256 elements are as exact as a plain
/// sum of f32.
static constexpr int kPromotedSteps = 4;

namespace {
class SplitF32 final : public Algorithm {
public:
  std::string_view getName() const override { return kName; }
  Status check(const Problem &problem, const GpuTarget &target) const override;
  std::vector<Candidate> getCandidates(const Problem &problem,
                                       const GpuTarget &target) const override;
  LogicalResult build(Operation *primitive, const TileConfig &tile,
                      const GpuTarget &target) const override;
};
} // namespace

//===----------------------------------------------------------------------===//
// The problem
//===----------------------------------------------------------------------===//

/// The convolution of the copies: the dimension that is reduced has them all.
static ConvProblem getInnerProblem(const ConvProblem &problem) {
  ConvProblem inner = problem;
  inner.xLayout = inner.wLayout = inner.yLayout = Layout::NHWC;
  inner.dataType = DataType::BF16;
  inner.mathType = MathType::Exact;
  int64_t &reduced = problem.direction == Direction::Forward ? inner.inChannels
                     : problem.direction == Direction::BackwardData
                         ? inner.outChannels
                         : inner.batch;
  reduced *= kTermProducts;
  return inner;
}

Status SplitF32::check(const Problem &problem, const GpuTarget &target) const {
  const ConvProblem *conv = problem.getConv();
  if (!conv || conv->dataType != DataType::F32)
    return notSupported("solves convolutions of f32");
  if (target.vendor == Vendor::Nvidia && target.wgmmaSharedBytes == 0)
    return notSupported("needs wgmma, whose accumulators it promotes");
  for (Layout layout : {conv->xLayout, conv->wLayout, conv->yLayout})
    if (layout != Layout::NHWC && layout != Layout::NCHW)
      return notSupported("splits packed tensors");
  const ConvertedTraffic traffic(*conv, /*splits=*/true);
  if (traffic.isResultTransposed() &&
      (conv->epilogue.beta || conv->epilogue.residual))
    return notSupported("adds no second tensor to a transposed result");
  if (traffic.countWorkspace() >= ConvertedTraffic::kMostWorkspace)
    return notSupported("wants a workspace below 2 GiB");
  return getImplicitGemm().check(getInnerProblem(*conv), target);
}

/// Whether a thread has registers for accumulators twice.
static bool fitsRegisters(const GemmTile &tile) {
  constexpr int kWarpgroup = 128;
  const int consumers = tile.wavesM * tile.wavesN;
  const int accumulators = tile.m * tile.n / (consumers * kWarpgroup);
  return accumulators <= (consumers == 3 ? 64 : 96);
}

std::vector<Candidate> SplitF32::getCandidates(const Problem &problem,
                                               const GpuTarget &target) const {
  const ConvProblem &conv = *problem.getConv();
  const double converting =
      ConvertedTraffic(conv, /*splits=*/true).estimateClocks(target);
  // The result has twice the bytes, and additions interrupt the products.
  constexpr double kPromotion = 1.08;
  std::vector<Candidate> candidates;
  for (const Candidate &candidate :
       getImplicitGemm().getCandidates(getInnerProblem(conv), target)) {
    ErrorOr<GemmTile> tile = parseGemmTile(candidate.tile);
    if (!tile || !tile->isTma || tile->halo > 0 || tile->isSwapped ||
        !fitsRegisters(*tile))
      continue;
    tile->promote = kPromotedSteps;
    candidates.push_back({{std::string(kName), tile->toConfig().toText()},
                          kPromotion * candidate.cost + converting});
  }
  return candidates;
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

/// Of the operand, where its copies go.
static ElementSplit getSplit(dnn::ConvOp conv, const OpOperand &operand) {
  const auto groups = static_cast<int64_t>(conv.getGroups());
  const bool isFilter = &operand == &conv.getWMutable();
  switch (conv.getDirection()) {
  case dnn::ConvDirection::Forward:
    return {isFilter ? 1 : groups, /*isOuter=*/false, /*isSecond=*/isFilter};
  case dnn::ConvDirection::BackwardData:
    return {groups, /*isOuter=*/isFilter, /*isSecond=*/isFilter};
  case dnn::ConvDirection::BackwardWeights:
    return {1, /*isOuter=*/true,
            /*isSecond=*/&operand == &conv.getYMutable()};
  }
  llvm_unreachable("every direction has a case");
}

/// The tensors with their copies, of bf16 but for the result.
static SmallVector<ConvertedTensor> splitTensors(dnn::ConvOp conv) {
  SmallVector<ConvertedTensor> tensors;
  std::pair<OpOperand *, StringRef> operands[] = {{&conv.getXMutable(), "_x"},
                                                  {&conv.getWMutable(), "_w"},
                                                  {&conv.getYMutable(), "_y"}};
  for (auto [operand, suffix] : operands)
    if (operand == &conv.getResultOperand())
      tensors.emplace_back(conv, *operand, suffix);
    else
      tensors.emplace_back(conv, *operand, suffix, getSplit(conv, *operand));
  conv.setXLayout(dnn::Layout::NHWC);
  conv.setWLayout(dnn::Layout::NHWC);
  conv.setYLayout(dnn::Layout::NHWC);
  conv.setTf32(false);
  return tensors;
}

LogicalResult SplitF32::build(Operation *primitive, const TileConfig &config,
                              const GpuTarget &target) const {
  auto conv = dyn_cast<dnn::ConvOp>(primitive);
  if (!conv)
    return primitive->emitOpError("is no convolution");
  ErrorOr<TileConfig> tile = parseTileConfig(config.parameters);
  if (!tile || findAlgorithm(*tile) != &getImplicitGemm())
    return conv.emitOpError() << "has tile '" << config.toText() << "', but '"
                              << kName << "-' is followed by a tile of igemm";
  if (!conv.getElementType().isF32())
    return conv.emitOpError() << "is of " << conv.getElementType() << ", but '"
                              << kName << "' splits f32";
  if (failed(checkConverted(conv, kName)))
    return failure();
  SmallVector<ConvertedTensor> tensors = splitTensors(conv);
  return buildAround(conv, tensors, getImplicitGemm(), *tile, target);
}

const Algorithm &tessera::getSplitF32() {
  static const SplitF32 kAlgorithm;
  return kAlgorithm;
}
