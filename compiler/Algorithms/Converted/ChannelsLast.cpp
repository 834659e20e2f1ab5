//===- ChannelsLast.cpp - Tensors transposed around another algorithm -----===//
//
// In NCHW neighbours in memory are pixels, but what a matrix product reduces
// is channels: its loads are narrow, and TMA has no form for them. Launches at
// the speed of a copy bring x, w or y into the workspace as NHWC, another
// algorithm computes there, and a launch brings the result back
// (docs/design/0019-channels-last.md).
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Algorithms/Converted/ConvertedTensor.h"
#include "compiler/Algorithms/Converted/ConvertedTraffic.h"
#include "compiler/Algorithms/Registry.h"

#include <array>

using namespace mlir;
using namespace tessera;

static constexpr std::string_view kName = "nhwc";

namespace {
class ChannelsLast final : public Algorithm {
public:
  std::string_view getName() const override { return kName; }
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

/// The same with channels last.
static ConvProblem getInnerProblem(const ConvProblem &problem) {
  ConvProblem inner = problem;
  inner.xLayout = inner.wLayout = inner.yLayout = Layout::NHWC;
  return inner;
}

Status ChannelsLast::check(const Problem &problem,
                           const GpuTarget &target) const {
  const ConvProblem *conv = problem.getConv();
  if (!conv)
    return notSupported("solves convolutions");
  for (Layout layout : {conv->xLayout, conv->wLayout, conv->yLayout})
    if (layout != Layout::NHWC && layout != Layout::NCHW)
      return notSupported("transposes packed tensors");
  const ConvertedTraffic traffic(*conv, /*splits=*/false);
  if ((conv->epilogue.beta || conv->epilogue.residual) &&
      traffic.isResultTransposed())
    return notSupported("adds no second tensor to a transposed result");
  if (traffic.isEmpty() && conv->xLayout == Layout::NHWC &&
      conv->wLayout == Layout::NHWC && conv->yLayout == Layout::NHWC)
    return notSupported("has nothing to transpose");
  if (traffic.countWorkspace() >= ConvertedTraffic::kMostWorkspace)
    return notSupported("wants a workspace below 2 GiB");
  const Problem inner(getInnerProblem(*conv));
  std::string reasons;
  for (const Algorithm *algorithm : getInnerAlgorithms()) {
    Status status = algorithm->check(inner, target);
    if (status.isOk())
      return status;
    reasons += (reasons.empty() ? "" : "; ") +
               std::string(algorithm->getName()) + ": " + status.getMessage();
  }
  return notSupported(reasons);
}

std::vector<Candidate>
ChannelsLast::getCandidates(const Problem &problem,
                            const GpuTarget &target) const {
  const ConvProblem &conv = *problem.getConv();
  const Problem inner(getInnerProblem(conv));
  const double transposing =
      ConvertedTraffic(conv, /*splits=*/false).estimateClocks(target);
  std::vector<Candidate> candidates;
  for (const Algorithm *algorithm : getInnerAlgorithms()) {
    if (!algorithm->check(inner, target).isOk())
      continue;
    for (const Candidate &candidate : algorithm->getCandidates(inner, target))
      candidates.push_back({{std::string(kName), candidate.tile.toText()},
                            candidate.cost + transposing});
  }
  return candidates;
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

/// The tensors that are not channels last; then all are.
static SmallVector<ConvertedTensor> transposeTensors(dnn::ConvOp conv) {
  SmallVector<ConvertedTensor> tensors;
  if (conv.getXLayout() != dnn::Layout::NHWC)
    tensors.emplace_back(conv, conv.getXMutable(), "_x");
  if (conv.getWLayout() != dnn::Layout::NHWC)
    tensors.emplace_back(conv, conv.getWMutable(), "_w");
  if (conv.getYLayout() != dnn::Layout::NHWC)
    tensors.emplace_back(conv, conv.getYMutable(), "_y");
  conv.setXLayout(dnn::Layout::NHWC);
  conv.setWLayout(dnn::Layout::NHWC);
  conv.setYLayout(dnn::Layout::NHWC);
  return tensors;
}

LogicalResult ChannelsLast::build(Operation *primitive,
                                  const TileConfig &config,
                                  const GpuTarget &target) const {
  auto conv = dyn_cast<dnn::ConvOp>(primitive);
  if (!conv)
    return primitive->emitOpError("is no convolution");
  ErrorOr<TileConfig> tile = parseTileConfig(config.parameters);
  const Algorithm *inner = tile ? findAlgorithm(*tile) : nullptr;
  if (!inner || !llvm::is_contained(getInnerAlgorithms(), inner))
    return conv.emitOpError()
           << "has tile '" << config.toText()
           << "', but 'nhwc-' is followed by a tile of igemm, stem, groups or "
              "packed";
  if (failed(checkConverted(conv, kName)))
    return failure();
  SmallVector<ConvertedTensor> tensors = transposeTensors(conv);
  return buildAround(conv, tensors, *inner, *tile, target);
}

const Algorithm &tessera::getChannelsLast() {
  static const ChannelsLast kAlgorithm;
  return kAlgorithm;
}
