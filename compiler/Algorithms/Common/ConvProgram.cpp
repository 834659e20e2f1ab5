//===- ConvProgram.cpp - A convolution as a point program reads it --------===//

#include "compiler/Algorithms/Common/ConvProgram.h"
#include "dialect/IR/OpenMemory.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tessera;

bool ConvTensor::hasChannelsInnermost() const {
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)getType().getStridesAndOffset(strides, offset);
  int64_t column = getSpatialDim(getNumSpatial() - 1);
  if (ShapedType::isDynamic(strides[getChannelDim()]))
    return false; // The channels of packed planes.
  return strides[getChannelDim()] < strides[column];
}

PointBuilder::Values ConvTensor::order(Value outer, Value channel,
                                       ValueRange spatial) const {
  PointBuilder::Values values = {outer};
  if (layout == dnn::Layout::NCHW)
    values.push_back(channel);
  values.append(spatial.begin(), spatial.end());
  if (layout != dnn::Layout::NCHW)
    values.push_back(channel);
  return values;
}

/// The last `count` entries of depth, height and width.
static SmallVector<int64_t> takeSpatial(ArrayRef<int64_t> all, int64_t count) {
  return SmallVector<int64_t>(all.take_back(count));
}

ConvProgram::ConvProgram(dnn::ConvOp conv)
    : dims(conv.getDims()), x{conv.getX(), conv.getXLayout()},
      w{conv.getW(), conv.getWLayout()}, y{conv.getY(), conv.getYLayout()},
      conv(conv) {
  int64_t count = x.getNumSpatial();
  filter = takeSpatial({dims.z, dims.y, dims.x}, count);
  pads = takeSpatial({dims.padD, dims.padH, dims.padW}, count);
  strides = takeSpatial({dims.strideD, dims.strideH, dims.strideW}, count);
  dilations =
      takeSpatial({dims.dilationD, dims.dilationH, dims.dilationW}, count);
}

const ConvTensor &ConvProgram::getResult() const {
  Value result = getConv().getResultOperand().get();
  return result == x.memory ? x : result == w.memory ? w : y;
}

Type ConvProgram::getAccType() const {
  Type element = x.getElementType();
  MLIRContext *context = element.getContext();
  if (element.isInteger(8))
    return IntegerType::get(context, 32);
  return element.isF64() ? element : Float32Type::get(context);
}

bool tessera::hasPackedStrides(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset = 0, packed = 1;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  for (auto [size, stride] :
       llvm::reverse(llvm::zip_equal(type.getShape(), strides))) {
    if (stride != packed)
      return false;
    packed *= size;
  }
  return true;
}

Value tessera::setArgumentType(Value argument, MemRefType type) {
  argument.setType(type);
  auto function = cast<func::FuncOp>(argument.getParentBlock()->getParentOp());
  function.setFunctionType(
      FunctionType::get(function.getContext(),
                        function.getBody().front().getArgumentTypes(), {}));
  return argument;
}

Value tessera::reshapeArgument(Value argument, ArrayRef<int64_t> shape) {
  auto type = cast<MemRefType>(argument.getType());
  SmallVector<int64_t> given, packed(shape.size(), 1);
  int64_t offset = 0;
  (void)type.getStridesAndOffset(given, offset);
  for (size_t d = shape.size() - 1; d > 0; --d)
    packed[d - 1] = packed[d] * shape[d];
  auto layout = StridedLayoutAttr::get(type.getContext(), offset, packed);
  return setArgumentType(argument,
                         MemRefType::get(shape, type.getElementType(), layout));
}

Value tessera::reshapeOpen(Value argument, ArrayRef<SizeExpr> shape) {
  const auto isOpen = [](const SizeExpr &size) { return !size.getNumber(); };
  SmallVector<int64_t> numbers;
  for (const SizeExpr &size : shape)
    numbers.push_back(size.getNumber().value_or(ShapedType::kDynamic));
  if (llvm::none_of(shape, isOpen))
    return reshapeArgument(argument, numbers);
  SmallVector<Attribute> texts;
  for (const SizeExpr &size : shape)
    texts.push_back(StringAttr::get(argument.getContext(), size.toText()));
  auto function = cast<func::FuncOp>(argument.getParentBlock()->getParentOp());
  const unsigned index = cast<BlockArgument>(argument).getArgNumber();
  function.setArgAttr(index, dnn::kSizesAttrName,
                      ArrayAttr::get(argument.getContext(), texts));
  function.removeArgAttr(index, dnn::kMemoryAttrName);
  auto type = cast<MemRefType>(argument.getType());
  return setArgumentType(argument,
                         MemRefType::get(numbers, type.getElementType()));
}

SmallVector<SizeExpr> tessera::getArgumentSizes(Value argument) {
  auto function = cast<func::FuncOp>(argument.getParentBlock()->getParentOp());
  const unsigned index = cast<BlockArgument>(argument).getArgNumber();
  auto name = function.getArgAttrOfType<StringAttr>(index, dnn::kArgAttrName);
  const std::optional<KernelArg> kind =
      parseKernelArg(name ? name.getValue() : StringRef());
  SmallVector<SizeExpr> sizes;
  // Those of a copy are made of those of other tensors.
  if (auto texts =
          function.getArgAttrOfType<ArrayAttr>(index, dnn::kSizesAttrName)) {
    for (auto text : texts.getAsValueRange<StringAttr>())
      sizes.push_back(*parseSizeExpr(text));
    return sizes;
  }
  for (auto [dim, size] :
       llvm::enumerate(cast<MemRefType>(argument.getType()).getShape()))
    sizes.push_back(ShapedType::isDynamic(size) && kind
                        ? SizeExpr::makeSize(*kind, dim)
                        : SizeExpr(size));
  return sizes;
}

Value tessera::flattenArgument(Value argument) {
  auto type = cast<MemRefType>(argument.getType());
  return setArgumentType(argument, MemRefType::get({type.getNumElements()},
                                                   type.getElementType()));
}

//===----------------------------------------------------------------------===//
// The epilogue
//===----------------------------------------------------------------------===//

/// Widens the results of an op to blocks of `count` elements.
static void widenResults(Operation *op, int64_t count) {
  for (Value result : op->getResults())
    result.setType(PointBuilder::getBlockType(result.getType(), count));
}

/// Maps `value`, which an epilogue captures from outside, to its counterpart in
/// the function that is being written: an argument, or a clone of what is
/// computed from arguments.
static Value mapCaptured(PointBuilder &p, Value value, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    mapCaptured(p, operand, mapping);
  p.b.clone(*op, mapping);
  return mapping.lookup(value);
}

/// Applies the elementwise ops of the region to whole blocks.
static Value applyRegion(PointBuilder &p, Region &region, ValueRange blocks,
                         IRMapping &functions) {
  int64_t count = PointBuilder::getBlockSize(blocks.front());
  Block &body = region.front();
  IRMapping mapping;
  mapping.map(body.getArguments(), blocks);
  for (Operation &op : body.without_terminator()) {
    for (Value operand : op.getOperands())
      if (!mapping.contains(operand))
        mapping.map(operand,
                    p.splat(mapCaptured(p, operand, functions), count));
    Operation *clone = p.b.clone(op, mapping);
    if (op.hasTrait<OpTrait::ConstantLike>())
      mapping.map(op.getResult(0), p.splat(clone->getResult(0), count));
    else
      widenResults(clone, count);
  }
  Value result = body.getTerminator()->getOperand(0);
  return mapping.contains(result)
             ? mapping.lookup(result)
             : p.splat(mapCaptured(p, result, functions), count);
}

/// Loads a block of an extra tensor of the epilogue, which has one element for
/// each element of the result or one for each channel.
static Value loadExtra(PointBuilder &p, const ConvProgram &program,
                       Value memory, int64_t dim, int64_t count,
                       ValueRange coordinates) {
  auto type = cast<MemRefType>(memory.getType());
  if (type.getRank() != 1)
    return p.loadBlock(memory, dim, count, coordinates);
  int64_t channelDim = program.getResult().getChannelDim();
  Value channel = coordinates[channelDim];
  if (dim == channelDim)
    return p.loadBlock(memory, 0, count, channel);
  return p.splat(p.loadBlock(memory, 0, 1, channel), count);
}

void tessera::emitResult(PointBuilder &p, const ConvProgram &program,
                         Value accumulators, int64_t dim,
                         ValueRange coordinates, ValueRange arguments) {
  dnn::ConvOp conv = program.getConv();
  Block &entry = *conv->getBlock();
  int64_t count = PointBuilder::getBlockSize(accumulators);
  auto find = [&](Value memory) {
    return arguments[cast<BlockArgument>(memory).getArgNumber()];
  };
  if (conv.hasEpilogue()) {
    Type compute = conv.getComputeType();
    PointBuilder::Values blocks = {p.convert(accumulators, compute)};
    for (Value extra : conv.getExtras())
      blocks.push_back(
          p.convert(loadExtra(p, program, find(extra), dim, count, coordinates),
                    compute));
    IRMapping functions;
    functions.map(entry.getArguments(), arguments);
    accumulators = applyRegion(p, conv.getEpilogue(), blocks, functions);
  }
  const ConvTensor &result = program.getResult();
  p.storeBlock(p.convert(accumulators, result.getElementType()),
               find(result.memory), dim, coordinates);
}
