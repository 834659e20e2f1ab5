//===- ConvertedTensor.cpp - A tensor's copy in the workspace -------------===//

#include "compiler/Algorithms/Converted/ConvertedTensor.h"
#include "compiler/Algorithms/Common/ConvProgram.h"
#include "compiler/Algorithms/Common/SplitReduction.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tessera;

static SizeExpr multiply(ArrayRef<SizeExpr> sizes) {
  SizeExpr product = 1;
  for (const SizeExpr &size : sizes)
    product = product * size;
  return product;
}

/// A tensor that is channels first as matrices, channels by pixels. One that is
/// channels last is one row, which stays as it is.
static Matrices getMatrices(ArrayRef<SizeExpr> sizes, dnn::Layout layout) {
  if (layout == dnn::Layout::NHWC)
    return {1, 1, multiply(sizes)};
  return {sizes[0], sizes[1], multiply(sizes.drop_front(2))};
}

/// The sizes of a tensor with channels last.
static SmallVector<SizeExpr> putChannelsLast(ArrayRef<SizeExpr> sizes,
                                             dnn::Layout layout) {
  SmallVector<SizeExpr> packed(sizes);
  if (layout != dnn::Layout::NHWC)
    std::rotate(packed.begin() + 1, packed.begin() + 2, packed.end());
  return packed;
}

static MemRefType getPackedType(ArrayRef<SizeExpr> sizes, Type element) {
  SmallVector<int64_t> shape;
  for (const SizeExpr &size : sizes)
    shape.push_back(size.getNumber().value_or(ShapedType::kDynamic));
  return MemRefType::get(shape, element);
}

/// `packed`, a filter in the order of NHWC, with its output channels together,
/// and all of its taps between two input channels.
static MemRefType putOutputsLast(MemRefType packed) {
  ArrayRef<int64_t> shape = packed.getShape();
  SmallVector<int64_t> strides(shape.size(), 1);
  int64_t apart = shape.front();
  for (size_t d = shape.size() - 2; d > 0; --d) {
    strides[d] = apart;
    apart *= shape[d];
  }
  strides.back() = apart;
  return MemRefType::get(
      shape, packed.getElementType(),
      StridedLayoutAttr::get(packed.getContext(), 0, strides));
}

ConvertedTensor::ConvertedTensor(dnn::ConvOp conv, OpOperand &operand,
                                 dnn::Layout layout, Type element,
                                 StringRef suffix, bool hasOutputsLast)
    : function(conv->getParentOfType<func::FuncOp>()),
      isTheResult(&conv.getResultOperand() == &operand), suffix(suffix),
      original(cast<BlockArgument>(operand.get()).getArgNumber()) {
  auto type = cast<MemRefType>(operand.get().getType());
  const SmallVector<SizeExpr> given = getArgumentSizes(operand.get());
  matrices = getMatrices(given, layout);
  sizes = putChannelsLast(given, layout);
  packed = getPackedType(sizes, element);
  if (hasOutputsLast) {
    const int64_t outputs = type.getDimSize(0);
    matrices = {1, outputs, type.getNumElements() / outputs};
    packed = putOutputsLast(packed);
  }
  if (matrices.isSameTransposed() && type.getElementType() == element) {
    setMemory(function.getArgument(original));
    if (isTheResult)
      for (Value extra : conv.getExtras())
        if (cast<MemRefType>(extra.getType()).getRank() > 1)
          setMemory(extra);
    return;
  }
  Builder b(function.getContext());
  workspace = function.getNumArguments();
  DictionaryAttr attributes = b.getDictionaryAttr(
      {b.getNamedAttr(dnn::kArgAttrName, b.getStringAttr("workspace")),
       b.getNamedAttr(dnn::kBytesAttrName, b.getI64IntegerAttr(0))});
  (void)function.insertArgument(*workspace, packed, attributes,
                                function.getLoc());
  setMemory(function.getArgument(*workspace));
  operand.set(function.getArgument(*workspace));
}

/// Makes `argument` a tensor as the copy is.
void ConvertedTensor::setMemory(Value argument) const {
  if (packed.hasStaticShape())
    setArgumentType(argument, packed);
  else
    reshapeOpen(argument, sizes);
}

/// A copy begins at a multiple, and so does what follows it.
static constexpr int64_t kAlignment = 256;

void ConvertedTensor::allocateOpen(SizeExpr &bytes) {
  const SizeExpr begin = ceilDiv(bytes, kAlignment) * kAlignment;
  const SizeExpr element = packed.getElementTypeBitWidth() / 8;
  bytes = begin + ceilDiv(multiply(sizes) * element, kAlignment) * kAlignment;
  function.setArgAttr(*workspace, dnn::kOffsetAttrName,
                      StringAttr::get(function.getContext(), begin.toText()));
}

void ConvertedTensor::setWorkspace(const SizeExpr &bytes) {
  function.setArgAttr(*workspace, dnn::kBytesAttrName,
                      StringAttr::get(function.getContext(), bytes.toText()));
}

void ConvertedTensor::allocate(int64_t &bytes) {
  const int64_t element = packed.getElementTypeBitWidth() / 8;
  const int64_t begin = llvm::alignTo(bytes, kAlignment);
  // Some clients count a workspace in dwords.
  bytes = llvm::alignTo(begin + packed.getNumElements() * element, kAlignment);
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  (void)packed.getStridesAndOffset(strides, offset);
  MLIRContext *context = function.getContext();
  if (begin > 0)
    setArgumentType(function.getArgument(*workspace),
                    MemRefType::get(packed.getShape(), packed.getElementType(),
                                    StridedLayoutAttr::get(
                                        context, begin / element, strides)));
  function.setArgAttr(*workspace, dnn::kBytesAttrName,
                      Builder(context).getI64IntegerAttr(bytes));
}

Transposition ConvertedTensor::getTransposition(func::FuncOp kernel) const {
  BlockArgument given = kernel.getArgument(original);
  BlockArgument copy = kernel.getArgument(*workspace);
  if (isTheResult)
    return {copy, given, {matrices.batch, matrices.columns, matrices.rows}};
  return {given, copy, matrices};
}

/// Adds the launches of those of `tensors` that have a copy: one in front of
/// that of `conv` for all operands, and one behind it for the result.
static void addKernels(dnn::ConvOp conv,
                       ArrayRef<const ConvertedTensor *> tensors) {
  SmallVector<const ConvertedTensor *> operands;
  for (const ConvertedTensor *tensor : tensors) {
    if (!tensor->isResult()) {
      operands.push_back(tensor);
      continue;
    }
    func::FuncOp kernel = appendKernel(conv, tensor->getSuffix());
    emitTranspose(kernel, tensor->getTransposition(kernel));
  }
  if (operands.empty())
    return;
  if (operands.size() > 1 && operands[1]->isShorter(*operands[0]))
    std::swap(operands[0], operands[1]);
  std::string suffix;
  for (const ConvertedTensor *operand : operands)
    suffix += operand->getSuffix();
  func::FuncOp kernel = prependKernel(conv, suffix);
  if (operands.size() == 1)
    emitTranspose(kernel, operands[0]->getTransposition(kernel));
  else
    emitTransposes(kernel, operands[0]->getTransposition(kernel),
                   operands[1]->getTransposition(kernel));
}

LogicalResult tessera::checkConverted(dnn::ConvOp conv, StringRef name,
                                      bool keepsResult) {
  for (Value tensor : {conv.getX(), conv.getW(), conv.getY()})
    if (!isa<BlockArgument>(tensor) ||
        !cast<MemRefType>(tensor.getType()).getLayout().isIdentity())
      return conv.emitOpError("needs packed tensors to be transposed");
  const bool isTransposed =
      !keepsResult && conv.getResultLayout() != dnn::Layout::NHWC &&
      !getMatrices(getArgumentSizes(conv.getResultOperand().get()),
                   dnn::Layout::NCHW)
           .isSameTransposed();
  for (Value extra : conv.getExtras())
    if (isTransposed && cast<MemRefType>(extra.getType()).getRank() > 1)
      return conv.emitOpError("adds a second tensor to the result, which '")
             << name << "' does not transpose";
  return success();
}

/// Bytes that the kernels of `module` ask a workspace for; of images of unknown
/// size they are an expression.
static SizeExpr countWorkspace(ModuleOp module) {
  int64_t known = 0;
  SizeExpr open;
  module.walk([&](func::FuncOp function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      const Attribute bytes = function.getArgAttr(i, dnn::kBytesAttrName);
      if (auto number = dyn_cast_if_present<IntegerAttr>(bytes))
        known = std::max(known, number.getInt());
      if (auto text = dyn_cast_if_present<StringAttr>(bytes))
        open = maximum(open, *parseSizeExpr(text.getValue()));
    }
  });
  return maximum(open, known);
}

/// The workspace of the inner algorithm: what it asks for in a copy.
static FailureOr<SizeExpr> findInnerWorkspace(dnn::ConvOp conv,
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

/// Puts copies of unknown size behind those whose size is known, and all behind
/// the `bytes` of the inner algorithm.
static void allocate(ArrayRef<ConvertedTensor *> tensors,
                     const SizeExpr &bytes) {
  SizeExpr all = bytes;
  SmallVector<ConvertedTensor *> open;
  for (ConvertedTensor *tensor : tensors)
    if (const std::optional<int64_t> begin = all.getNumber();
        begin && !tensor->isOpen()) {
      int64_t end = *begin;
      tensor->allocate(end);
      all = end;
    } else {
      open.push_back(tensor);
    }
  for (ConvertedTensor *tensor : open)
    tensor->allocateOpen(all);
  for (ConvertedTensor *tensor : open)
    tensor->setWorkspace(all);
}

LogicalResult tessera::buildAround(dnn::ConvOp conv,
                                   MutableArrayRef<ConvertedTensor> tensors,
                                   const Algorithm &inner,
                                   const TileConfig &tile,
                                   const GpuTarget &target) {
  FailureOr<SizeExpr> bytes = findInnerWorkspace(conv, inner, tile, target);
  if (failed(bytes))
    return failure();
  SmallVector<ConvertedTensor *> copied;
  for (ConvertedTensor &tensor : tensors)
    if (tensor.hasCopy())
      copied.push_back(&tensor);
  allocate(copied, *bytes);
  addKernels(conv, {copied.begin(), copied.end()});
  return inner.build(conv, tile, target);
}
