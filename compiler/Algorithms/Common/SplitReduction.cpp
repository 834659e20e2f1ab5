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

/// Brings the sizes of partial results, behind their number, from the order of
/// one layout to that of another.
template <typename Sizes>
static void reorder(Sizes &sizes, dnn::Layout from, dnn::Layout to) {
  const bool isFirst = from == dnn::Layout::NCHW;
  if (isFirst == (to == dnn::Layout::NCHW))
    return;
  const auto inner = sizes.begin() + 2;
  std::rotate(inner, isFirst ? inner + 1 : sizes.end() - 1, sizes.end());
}

/// The same for `splits` partial results of unknown size.
static Value addOpenWorkspace(dnn::ConvOp conv, int64_t splits,
                              dnn::Layout layout) {
  const ConvProgram program(conv);
  const Type element = program.getAccType();
  SmallVector<SizeExpr> sizes = {splits};
  SizeExpr bytes = splits * (element.getIntOrFloatBitWidth() / 8);
  for (const SizeExpr &size : getArgumentSizes(program.getResult().memory)) {
    sizes.push_back(size);
    bytes = bytes * size;
  }
  reorder(sizes, conv.getResultLayout(), layout);
  Value workspace =
      addWorkspace(conv, MemRefType::get({splits}, element),
                   StringAttr::get(conv.getContext(), bytes.toText()));
  return reshapeOpen(workspace, sizes);
}

Value tessera::addSplitsWorkspace(dnn::ConvOp conv, int64_t splits) {
  return addSplitsWorkspace(conv, splits, conv.getResultLayout());
}

Value tessera::addSplitsWorkspace(dnn::ConvOp conv, int64_t splits,
                                  dnn::Layout layout) {
  const MemRefType result = ConvProgram(conv).getResult().getType();
  if (!result.hasStaticShape())
    return addOpenWorkspace(conv, splits, layout);
  SmallVector<int64_t> shape = {splits};
  llvm::append_range(shape, result.getShape());
  reorder(shape, conv.getResultLayout(), layout);
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

void tessera::buildSplitReduction(dnn::ConvOp conv, Value workspace) {
  buildSplitReduction(conv, workspace, conv.getResultLayout());
}

void tessera::buildSplitReduction(dnn::ConvOp conv, Value workspace,
                                  dnn::Layout layout) {
  ConvProgram program(conv);
  func::FuncOp function = appendKernel(conv, "_sum");
  OpBuilder b(function.getBody().front().getTerminator());
  PointBuilder p(b, conv.getLoc());
  auto type = cast<MemRefType>(workspace.getType());
  Value memory =
      function.getArgument(cast<BlockArgument>(workspace).getArgNumber());

  // The workspace is packed, so its last dimension is the one for vectors.
  int64_t last = type.getRank() - 1;
  const int64_t splits = type.getDimSize(0);
  const auto elements = type.hasStaticShape()
                            ? std::optional(type.getNumElements() / splits)
                            : std::nullopt;
  const int64_t width =
      getAccessWidth(type, last, chooseWidth(elements, splits));
  // A thread loads `atOnce` splits before it adds the first one: loaded one by
  // one, each would wait for memory. A load past the last split gives zero.
  const int64_t passes = llvm::divideCeilSigned(splits * width, kLoaded);
  const int64_t atOnce = llvm::divideCeilSigned(splits, passes);
  SmallVector<Size> sizes;
  for (int64_t d = 1; d < last; ++d)
    sizes.push_back(p.getSize(memory, d));
  sizes.push_back(p.divideUp(p.getSize(memory, last), width));
  PointBuilder::Values indices(p.forEachPointOf(sizes, kThreads));
  indices.back() = p.mul(indices.back(), width);
  Value zero = p.zero(type.getElementType(), width);
  Value sum = p.loop(passes, zero, [&](Value pass, ValueRange carried) {
    PointBuilder::Values blocks;
    for (int64_t i = 0; i < atOnce; ++i) {
      PointBuilder::Values from = {p.add(p.mul(pass, atOnce), i)};
      from.append(indices.begin(), indices.end());
      blocks.push_back(p.loadBlock(memory, last, width, from));
    }
    Value next = carried[0];
    for (Value block : blocks)
      next = p.addBlocks(next, block);
    return PointBuilder::Values{next};
  })[0];
  int64_t dim = last - 1;
  const ConvTensor &result = program.getResult();
  if (layout != dnn::Layout::NCHW && result.layout == dnn::Layout::NCHW) {
    dim = result.getChannelDim();
    indices = result.order(indices.front(), indices.back(),
                           ArrayRef(indices).drop_front().drop_back());
  }
  emitResult(p, program, sum, dim, indices, function.getArguments());
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
