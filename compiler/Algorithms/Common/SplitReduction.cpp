//===- SplitReduction.cpp - The launch that adds partial results ----------===//

#include "compiler/Algorithms/Common/SplitReduction.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>
#include <numeric>
#include <optional>

using namespace mlir;
using namespace tessera;

static int64_t getProduct(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                         std::multiplies<>());
}

/// Appends a workspace to the arguments of the function of `conv`.
static Value addWorkspace(dnn::ConvOp conv, MemRefType type, Attribute bytes) {
  auto function = conv->getParentOfType<func::FuncOp>();
  Builder b(conv.getContext());
  DictionaryAttr attributes = b.getDictionaryAttr(
      {b.getNamedAttr(dnn::kArgAttrName, b.getStringAttr("workspace")),
       b.getNamedAttr(dnn::kBytesAttrName, bytes)});
  unsigned last = function.getNumArguments();
  (void)function.insertArgument(last, type, attributes, conv.getLoc());
  return function.getArgument(last);
}

std::optional<int64_t> tessera::getMovedDim(dnn::ConvOp conv,
                                            PartialOrder order) {
  switch (order) {
  case PartialOrder::Result:
    return std::nullopt;
  case PartialOrder::ChannelsLast:
    return conv.getResultLayout() == dnn::Layout::NCHW ? std::optional(1)
                                                       : std::nullopt;
  case PartialOrder::FirstLast:
    return 0;
  }
  llvm_unreachable("unknown order");
}

/// Brings sizes, of which the number of splits is the first, into an order.
template <typename Sizes>
static void reorder(Sizes &sizes, dnn::ConvOp conv, PartialOrder order) {
  if (std::optional<int64_t> moved = getMovedDim(conv, order)) {
    const auto from = sizes.begin() + 1 + *moved;
    std::rotate(from, from + 1, sizes.end());
  }
}

/// The same for `splits` partial results of unknown size.
static Value addOpenWorkspace(dnn::ConvOp conv, int64_t splits,
                              PartialOrder order) {
  const ConvProgram program(conv);
  const Type element = program.getAccType();
  SmallVector<SizeExpr> sizes = {splits};
  SizeExpr bytes = splits * (element.getIntOrFloatBitWidth() / 8);
  for (const SizeExpr &size : getArgumentSizes(program.getResult().memory)) {
    sizes.push_back(size);
    bytes = bytes * size;
  }
  reorder(sizes, conv, order);
  Value workspace =
      addWorkspace(conv, MemRefType::get({splits}, element),
                   StringAttr::get(conv.getContext(), bytes.toText()));
  return reshapeOpen(workspace, sizes);
}

Value tessera::addSplitsWorkspace(dnn::ConvOp conv, int64_t splits,
                                  PartialOrder order) {
  const MemRefType result = ConvProgram(conv).getResult().getType();
  if (!result.hasStaticShape())
    return addOpenWorkspace(conv, splits, order);
  SmallVector<int64_t> shape = {splits};
  llvm::append_range(shape, result.getShape());
  reorder(shape, conv, order);
  return addSplitsWorkspace(conv, shape);
}

Value tessera::addSplitsWorkspace(dnn::ConvOp conv, ArrayRef<int64_t> shape) {
  return addTensorWorkspace(conv, shape, ConvProgram(conv).getAccType());
}

Value tessera::addTensorWorkspace(dnn::ConvOp conv, ArrayRef<int64_t> shape,
                                  Type element) {
  const int64_t bytes = getProduct(shape) * element.getIntOrFloatBitWidth() / 8;
  return addWorkspace(conv, MemRefType::get(shape, element),
                      Builder(conv.getContext()).getI64IntegerAttr(bytes));
}

/// Creates an empty kernel function at `b` with the arguments of the function
/// of `conv`.
static func::FuncOp createKernel(OpBuilder b, dnn::ConvOp conv,
                                 StringRef suffix) {
  auto function = conv->getParentOfType<func::FuncOp>();
  auto kernel = func::FuncOp::create(b, conv.getLoc(),
                                     (function.getName() + suffix).str(),
                                     function.getFunctionType());
  kernel->setAttr(dnn::kKernelAttrName, b.getUnitAttr());
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    kernel.setArgAttrs(i, function.getArgAttrDict(i));
  b.setInsertionPointToStart(kernel.addEntryBlock());
  func::ReturnOp::create(b, conv.getLoc());
  return kernel;
}

func::FuncOp tessera::appendKernel(dnn::ConvOp conv, StringRef suffix) {
  OpBuilder after(conv.getContext());
  after.setInsertionPointAfter(conv->getParentOp());
  return createKernel(after, conv, suffix);
}

func::FuncOp tessera::prependKernel(dnn::ConvOp conv, StringRef suffix) {
  return createKernel(OpBuilder(conv->getParentOp()), conv, suffix);
}

static constexpr int64_t kThreads = 256, kMaxWidth = 4;
/// The number of elements, from several splits, that a thread loads before it
/// adds the first one.
static constexpr int64_t kLoaded = 64;

/// The number of neighbouring elements that a thread adds. It is one if a small
/// result has many splits: then each load in flight is of another split, and
/// the chip still has enough threads for all elements. A result of unknown size
/// that is split is small.
static int64_t chooseWidth(std::optional<int64_t> elements, int64_t splits) {
  constexpr int64_t kFewThreads = 1 << 17, kFewSplits = kLoaded / kMaxWidth;
  const bool isSmall = !elements || *elements < kFewThreads * kMaxWidth;
  return isSmall && splits > kFewSplits ? 1 : kMaxWidth;
}

int64_t tessera::countSumPasses(int64_t elements, int64_t splits) {
  return llvm::divideCeilSigned(splits * chooseWidth(elements, splits),
                                kLoaded);
}

namespace {
/// What a thread of the launch adds: neighbours along `dim` of the workspace.
struct SumBlock {
  int64_t dim, width;
};
} // namespace

/// The last dimension of the result that is longer than one, but the first.
static int64_t findLastDim(MemRefType result) {
  int64_t dim = result.getRank() - 1;
  while (dim > 1 && result.getDimSize(dim) == 1)
    --dim;
  return dim;
}

int64_t tessera::countStoredSums(MemRefType result) {
  constexpr int64_t kFewThreads = 1 << 15, kStoreBytes = 16;
  const int64_t dim = findLastDim(result);
  const int64_t most =
      kStoreBytes * 8 / result.getElementType().getIntOrFloatBitWidth();
  int64_t width = 1;
  while (width < most && result.getDimSize(dim) % (2 * width) == 0 &&
         result.getNumElements() >= 2 * width * kFewThreads)
    width *= 2;
  return getAccessWidth(result, dim, width);
}

/// The workspace is packed, so its last dimension is the one for vectors. Where
/// the result's first dimension is that, lanes go along it, and a thread has
/// neighbours of the result instead, to store them at once.
static SumBlock chooseBlock(const ConvProgram &program, MemRefType workspace,
                            PartialOrder order) {
  const MemRefType result = program.getResult().getType();
  if (order == PartialOrder::FirstLast)
    return {findLastDim(result), countStoredSums(result)};
  const int64_t last = workspace.getRank() - 1;
  const auto elements =
      workspace.hasStaticShape()
          ? std::optional(workspace.getNumElements() / workspace.getDimSize(0))
          : std::nullopt;
  return {last, getAccessWidth(workspace, last,
                               chooseWidth(elements, workspace.getDimSize(0)))};
}

/// Blocks of neighbouring pixels of a line by neighbouring channels, in which a
/// wave reads whole lines of partial results with channels last, and stores the
/// pixels of a block together where the result has channels first.
static constexpr int64_t kBlockPixels = 8, kBlockChannels = 8;

static bool wantsPixelBlocks(dnn::ConvOp conv, MemRefType workspace,
                             PartialOrder order, int64_t width) {
  const int64_t channels = workspace.getShape().back();
  return order == PartialOrder::ChannelsLast && getMovedDim(conv, order) &&
         workspace.isDynamicDim(workspace.getRank() - 2) &&
         conv.getDirection() != dnn::ConvDirection::BackwardWeights &&
         channels % (width * kBlockChannels) == 0;
}

/// The indices of points of `sizes`, the last two of which, pixels of a line
/// and channels, come in such blocks. Some may be behind the end of the line.
static PointBuilder::Values forEachOfBlocks(PointBuilder &p,
                                            ArrayRef<Size> sizes) {
  SmallVector<Size> all(sizes.drop_back(2));
  all.push_back(p.divideUp(sizes[sizes.size() - 2], kBlockPixels));
  all.push_back(p.divideUp(sizes.back(), kBlockChannels));
  all.push_back(kBlockPixels);
  all.push_back(kBlockChannels);
  PointBuilder::Values at(p.forEachPointOf(all, kThreads));
  PointBuilder::Values indices(at.begin(), at.end() - 4);
  ArrayRef<Value> last = ArrayRef(at).take_back(4);
  indices.push_back(p.add(p.mul(last[0], kBlockPixels), last[2]));
  indices.push_back(p.add(p.mul(last[1], kBlockChannels), last[3]));
  return indices;
}

void tessera::buildSplitReduction(dnn::ConvOp conv, Value workspace,
                                  PartialOrder order, const SizeExpr &used) {
  ConvProgram program(conv);
  func::FuncOp function = appendKernel(conv, "_sum");
  OpBuilder b(function.getBody().front().getTerminator());
  PointBuilder p(b, conv.getLoc());
  auto type = cast<MemRefType>(workspace.getType());
  Value memory =
      function.getArgument(cast<BlockArgument>(workspace).getArgNumber());
  if (!used.getNumber()) {
    SmallVector<SizeExpr> shape(type.getShape().begin(), type.getShape().end());
    shape.front() = used;
    memory = reshapeOpen(memory, shape);
  }

  const int64_t splits = type.getDimSize(0);
  const auto [dim, width] = chooseBlock(program, type, order);
  // A thread loads `atOnce` splits before it adds the first one: loaded one by
  // one, each would wait for memory. A load past the last split gives zero.
  const int64_t passes = llvm::divideCeilSigned(splits * width, kLoaded);
  const int64_t atOnce = llvm::divideCeilSigned(splits, passes);
  SmallVector<Size> sizes;
  for (int64_t d = 1; d < type.getRank(); ++d)
    sizes.push_back(d == dim ? p.divideUp(p.getSize(memory, d), width)
                             : p.getSize(memory, d));
  const bool hasPixelBlocks = wantsPixelBlocks(conv, type, order, width);
  PointBuilder::Values indices =
      hasPixelBlocks ? forEachOfBlocks(p, sizes)
                     : PointBuilder::Values(p.forEachPointOf(sizes, kThreads));
  indices[dim - 1] = p.mul(indices[dim - 1], width);
  Value zero = p.zero(type.getElementType(), width);
  const Size count = passes == 1 || used.getNumber()
                         ? Size(passes)
                         : p.divideUp(p.getSize(memory, 0), atOnce);
  Value sum = p.loop(count, zero, [&](Value pass, ValueRange carried) {
    PointBuilder::Values blocks;
    for (int64_t i = 0; i < atOnce; ++i) {
      PointBuilder::Values from = {p.add(p.mul(pass, atOnce), i)};
      from.append(indices.begin(), indices.end());
      blocks.push_back(p.loadBlock(memory, dim, width, from));
    }
    Value next = carried[0];
    for (Value block : blocks)
      next = p.addBlocks(next, block);
    return PointBuilder::Values{next};
  })[0];
  // The dimension of the result that the thread's neighbours differ by.
  int64_t neighbours = dim - 1;
  if (std::optional<int64_t> moved = getMovedDim(conv, order)) {
    std::rotate(indices.begin() + *moved, indices.end() - 1, indices.end());
    const bool isLast = dim == type.getRank() - 1;
    neighbours = isLast ? *moved : dim - 1 < *moved ? dim - 1 : dim;
  }
  emitResult(p, program, sum, neighbours, indices, function.getArguments());
}

void tessera::buildZeros(dnn::ConvOp conv, Value tensor) {
  func::FuncOp function = prependKernel(conv, "_zero");
  OpBuilder b(function.getBody().front().getTerminator());
  PointBuilder p(b, conv.getLoc());
  auto type = cast<MemRefType>(tensor.getType());
  Value memory =
      function.getArgument(cast<BlockArgument>(tensor).getArgNumber());
  const int64_t last = type.getRank() - 1;
  const int64_t width = getAccessWidth(type, last, kMaxWidth);
  SmallVector<int64_t> sizes(type.getShape());
  sizes.back() /= width;
  PointBuilder::Values indices(p.forEachPoint(sizes, kThreads));
  indices.back() = p.mul(indices.back(), width);
  p.storeBlock(p.zero(type.getElementType(), width), memory, last, indices);
}
