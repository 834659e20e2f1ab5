//===- ChannelsLast.cpp - Tensors transposed around another algorithm -----===//
//
// In NCHW neighbours in memory are pixels, but what a matrix product reduces
// is channels: its loads are narrow, and TMA has no form for them. Launches at
// the speed of a copy bring x, w or y into the workspace as NHWC, another
// algorithm computes there, and a launch brings the result back
// (docs/design/0019-channels-last.md).
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/ChannelsLast/TransposeKernel.h"
#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Algorithms/Common/SplitReduction.h"
#include "compiler/Algorithms/Registry.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tessera;

static constexpr std::string_view kName = "nhwc";

namespace {
struct ChannelsLastRates {
#define CHANNELS_LAST_RATE(NAME, VALUE, MEANING) double NAME = VALUE;
#include "compiler/Algorithms/ChannelsLast/ChannelsLastRates.def"
};

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

/// The bytes of a tensor that has to be transposed; of others none.
static int64_t countTransposed(Layout layout, const TensorLengths &lengths,
                               DataType type) {
  const int64_t channels = lengths.c;
  const int64_t pixels = lengths.getElements() / (lengths.n * channels);
  const bool isSame = channels == 1 || pixels == 1;
  return layout == Layout::NHWC || isSame
             ? 0
             : lengths.getElements() * getByteSize(type);
}

/// Of each tensor, in the order x, w, y.
static std::array<int64_t, 3> countTransposed(const ConvProblem &p) {
  auto getType = [&](Direction direction) {
    return p.direction == direction ? p.getResultType() : p.dataType;
  };
  return {countTransposed(p.xLayout, p.getInputLengths(),
                          getType(Direction::BackwardData)),
          countTransposed(p.wLayout, p.getFilterLengths(),
                          getType(Direction::BackwardWeights)),
          countTransposed(p.yLayout, p.getOutputLengths(),
                          getType(Direction::Forward))};
}

/// The result among them.
static size_t getResultIndex(Direction direction) {
  return direction == Direction::Forward        ? 2
         : direction == Direction::BackwardData ? 0
                                                : 1;
}

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
  const std::array<int64_t, 3> bytes = countTransposed(*conv);
  if ((conv->epilogue.beta || conv->epilogue.residual) &&
      bytes[getResultIndex(conv->direction)] > 0)
    return notSupported("adds no second tensor to a transposed result");
  if (std::ranges::all_of(bytes, [](int64_t count) { return count == 0; }) &&
      conv->xLayout == Layout::NHWC && conv->wLayout == Layout::NHWC &&
      conv->yLayout == Layout::NHWC)
    return notSupported("has nothing to transpose");
  constexpr int64_t kMaxBytes = int64_t(1) << 31;
  if (bytes[0] + bytes[1] + bytes[2] >= kMaxBytes)
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

/// Clocks of the launches that transpose: each begins, reads and writes.
static double estimateTransposing(const ConvProblem &conv,
                                  const GpuTarget &target) {
  constexpr ChannelsLastRates kRates;
  double clocks = 0;
  for (int64_t bytes : countTransposed(conv))
    if (bytes > 0)
      clocks += kRates.begin + static_cast<double>(2 * bytes) /
                                   (kRates.memoryBytes * target.computeUnits);
  return clocks;
}

std::vector<Candidate>
ChannelsLast::getCandidates(const Problem &problem,
                            const GpuTarget &target) const {
  const ConvProblem &conv = *problem.getConv();
  const Problem inner(getInnerProblem(conv));
  const double transposing = estimateTransposing(conv, target);
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

/// Bytes that the kernels of `module` ask a workspace for.
static int64_t countWorkspace(ModuleOp module) {
  int64_t bytes = 0;
  module.walk([&](func::FuncOp function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto attr =
              function.getArgAttrOfType<IntegerAttr>(i, dnn::kBytesAttrName))
        bytes = std::max(bytes, attr.getInt());
  });
  return bytes;
}

/// The matrices, channels by pixels, of a tensor that is channels first.
static MatrixBatch getMatrices(MemRefType type) {
  const int64_t batch = type.getDimSize(0), channels = type.getDimSize(1);
  return {batch, channels, type.getNumElements() / batch / channels};
}

/// Whether the transposed matrices are the same memory.
static bool isSame(const MatrixBatch &matrices) {
  return matrices.rows == 1 || matrices.columns == 1;
}

namespace {
/// A tensor of the convolution that is computed with channels last.
class Tensor {
public:
  Tensor(dnn::ConvOp conv, OpOperand &operand, StringRef suffix)
      : function(conv->getParentOfType<func::FuncOp>()),
        isResult(&conv.getResultOperand() == &operand), suffix(suffix),
        original(cast<BlockArgument>(operand.get()).getArgNumber()) {
    auto type = cast<MemRefType>(operand.get().getType());
    SmallVector<int64_t> shape(type.getShape());
    matrices = getMatrices(type);
    std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
    packed = MemRefType::get(shape, type.getElementType());
    if (!isSame(matrices)) {
      addWorkspace(operand);
      return;
    }
    setArgumentType(function.getArgument(original), packed);
    if (isResult)
      for (Value extra : conv.getExtras())
        if (cast<MemRefType>(extra.getType()).getRank() > 1)
          setArgumentType(extra, packed);
  }

  /// Moves the tensor behind `bytes` of the workspace, and `bytes` behind it.
  void place(int64_t &bytes) {
    if (!workspace)
      return;
    constexpr int64_t kAlignment = 256;
    const int64_t element = packed.getElementTypeBitWidth() / 8;
    const int64_t begin = llvm::alignTo(bytes, kAlignment);
    // Some clients count a workspace in dwords.
    bytes =
        llvm::alignTo(begin + packed.getNumElements() * element, kAlignment);
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    (void)packed.getStridesAndOffset(strides, offset);
    MLIRContext *context = function.getContext();
    if (begin > 0)
      setArgumentType(
          function.getArgument(*workspace),
          MemRefType::get(
              packed.getShape(), packed.getElementType(),
              StridedLayoutAttr::get(context, begin / element, strides)));
    function.setArgAttr(*workspace, dnn::kBytesAttrName,
                        Builder(context).getI64IntegerAttr(bytes));
  }

  /// Adds the launch that transposes it, before or after the convolution's.
  void addKernel(dnn::ConvOp conv) const {
    if (!workspace)
      return;
    func::FuncOp kernel =
        isResult ? appendKernel(conv, suffix) : prependKernel(conv, suffix);
    BlockArgument given = kernel.getArgument(original);
    BlockArgument channelsLast = kernel.getArgument(*workspace);
    if (isResult)
      emitTranspose(kernel, channelsLast, given,
                    {matrices.batch, matrices.columns, matrices.rows});
    else
      emitTranspose(kernel, given, channelsLast, matrices);
  }

private:
  func::FuncOp function;
  bool isResult;
  StringRef suffix;
  unsigned original;                 ///< Its argument.
  std::optional<unsigned> workspace; ///< The argument of the transposed one.
  MatrixBatch matrices;              ///< Channels by pixels, as it is given.
  MemRefType packed;                 ///< With channels last.

  void addWorkspace(OpOperand &operand) {
    Builder b(function.getContext());
    workspace = function.getNumArguments();
    DictionaryAttr attributes = b.getDictionaryAttr(
        {b.getNamedAttr(dnn::kArgAttrName, b.getStringAttr("workspace")),
         b.getNamedAttr(dnn::kBytesAttrName, b.getI64IntegerAttr(0))});
    (void)function.insertArgument(*workspace, packed, attributes,
                                  function.getLoc());
    operand.set(function.getArgument(*workspace));
  }
};
} // namespace

/// The tensors that are not channels last; then all are.
static SmallVector<Tensor> transposeTensors(dnn::ConvOp conv) {
  SmallVector<Tensor> tensors;
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

static LogicalResult checkTensors(dnn::ConvOp conv) {
  for (Value tensor : {conv.getX(), conv.getW(), conv.getY()})
    if (!isa<BlockArgument>(tensor) ||
        !cast<MemRefType>(tensor.getType()).getLayout().isIdentity())
      return conv.emitOpError("needs packed tensors to be transposed");
  auto result = cast<MemRefType>(conv.getResultOperand().get().getType());
  const bool isTransposed = conv.getResultLayout() != dnn::Layout::NHWC &&
                            !isSame(getMatrices(result));
  for (Value extra : conv.getExtras())
    if (isTransposed && cast<MemRefType>(extra.getType()).getRank() > 1)
      return conv.emitOpError("adds a second tensor to the result, which "
                              "'nhwc' does not transpose");
  return success();
}

/// The workspace of the inner algorithm: what it asks for in a copy.
static FailureOr<int64_t> findInnerWorkspace(dnn::ConvOp conv,
                                             const Algorithm &inner,
                                             const TileConfig &tile,
                                             const GpuTarget &target) {
  OwningOpRef<ModuleOp> copy(conv->getParentOfType<ModuleOp>().clone());
  auto function = conv->getParentOfType<func::FuncOp>();
  auto same = copy->lookupSymbol<func::FuncOp>(function.getSymName());
  auto primitive = *same.getOps<dnn::ConvOp>().begin();
  if (failed(inner.build(primitive, tile, target)))
    return failure();
  return countWorkspace(*copy);
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
  if (failed(checkTensors(conv)))
    return failure();
  SmallVector<Tensor> tensors = transposeTensors(conv);
  FailureOr<int64_t> bytes = findInnerWorkspace(conv, *inner, *tile, target);
  if (failed(bytes))
    return failure();
  for (Tensor &tensor : tensors)
    tensor.place(*bytes);
  for (const Tensor &tensor : tensors)
    tensor.addKernel(conv);
  return inner->build(conv, *tile, target);
}

const Algorithm &tessera::getChannelsLast() {
  static const ChannelsLast kAlgorithm;
  return kAlgorithm;
}
