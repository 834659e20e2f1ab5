//===- PoolFrontend.cpp - A pooling problem as a module -------------------===//

#include "compiler/Frontend/PoolFrontend.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <algorithm>

using namespace mlir;
using namespace tessera;

dnn::PoolMode tessera::getPoolMode(PoolMode mode) {
  switch (mode) {
  case PoolMode::Max:
    return dnn::PoolMode::Max;
  case PoolMode::Average:
    return dnn::PoolMode::Average;
  case PoolMode::AverageInclusive:
    return dnn::PoolMode::AverageInclusive;
  }
  llvm_unreachable("every mode has a case");
}

dnn::IndexMode tessera::getIndexMode(IndexMode mode) {
  return mode == IndexMode::Mask ? dnn::IndexMode::Mask : dnn::IndexMode::Image;
}

/// Strided tensors are written in the order of `nchw`.
static dnn::Layout getLayout(Layout layout) {
  return layout == Layout::NHWC ? dnn::Layout::NHWC : dnn::Layout::NCHW;
}

/// Numbers of the dimensions of an activation in the order of a memref, without
/// a depth in two dimensions. Lengths and Strides have the same fields.
template <typename T>
static SmallVector<int64_t> order(const T &values, Layout layout,
                                  bool hasDepth) {
  SmallVector<int64_t> ordered = {values.n, values.c, values.d, values.h,
                                  values.w};
  if (!hasDepth)
    ordered.erase(ordered.begin() + 2);
  if (layout == Layout::NHWC)
    std::rotate(ordered.begin() + 1, ordered.begin() + 2, ordered.end());
  return ordered;
}

static MemRefType getMemRefType(const TensorLengths &lengths, Layout layout,
                                const Strides &strides, bool hasDepth,
                                Type element) {
  SmallVector<int64_t> shape = order(lengths, layout, hasDepth);
  if (layout != Layout::Strided)
    return MemRefType::get(shape, element);
  SmallVector<int64_t> distances = order(strides, layout, hasDepth);
  for (auto [size, distance] : llvm::zip(shape, distances))
    if (size == 1)
      distance = kNoStride;
  return MemRefType::get(
      shape, element,
      StridedLayoutAttr::get(element.getContext(), 0, distances));
}

template <typename T>
static SmallVector<int64_t> getEntries(const T &values, bool hasDepth) {
  if (!hasDepth)
    return {values.h, values.w};
  return {values.d, values.h, values.w};
}

static Type getElementType(Builder &builder, DataType type) {
  switch (type) {
  case DataType::F16:
    return builder.getF16Type();
  case DataType::BF16:
    return builder.getBF16Type();
  default: // What is not f32 either, PoolProblem::verify() refuses.
    return builder.getF32Type();
  }
}

/// The arguments' types, in their order.
static SmallVector<Type> getArgumentTypes(Builder &builder,
                                          const PoolProblem &problem) {
  bool hasDepth = problem.hasDepth();
  Type element = getElementType(builder, problem.dataType);
  SmallVector<Type> types = {
      getMemRefType(problem.getInputLengths(), problem.xLayout,
                    problem.xStrides, hasDepth, element),
      getMemRefType(problem.getOutputLengths(), problem.yLayout,
                    problem.yStrides, hasDepth, element)};
  if (problem.indexType != tessera::IndexType::None)
    types.push_back(getMemRefType(
        problem.getOutputLengths(),
        problem.yLayout == Layout::NHWC ? Layout::NHWC : Layout::NCHW, {},
        hasDepth, builder.getIntegerType(8 * getByteSize(problem.indexType))));
  return types;
}

OwningOpRef<ModuleOp> tessera::buildPoolModule(MLIRContext &context,
                                               const PoolProblem &problem,
                                               StringRef symbol) {
  context.loadDialect<dnn::DnnDialect, func::FuncDialect>();
  OpBuilder builder(&context);
  Location loc = builder.getUnknownLoc();
  SmallVector<Type> types = getArgumentTypes(builder, problem);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToStart(module->getBody());
  auto function = func::FuncOp::create(builder, loc, symbol,
                                       builder.getFunctionType(types, {}));
  function->setAttr(dnn::kKernelAttrName, builder.getUnitAttr());
  constexpr const char *kNames[] = {"x", "y", "indices"};
  for (unsigned i = 0; i < types.size(); ++i)
    function.setArgAttr(i, dnn::kArgAttrName, builder.getStringAttr(kNames[i]));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  bool hasIndices = types.size() == 3;
  bool hasDepth = problem.hasDepth();
  dnn::PoolOp::create(
      builder, loc,
      problem.direction == Direction::Forward ? dnn::PoolDirection::Forward
                                              : dnn::PoolDirection::Backward,
      getPoolMode(problem.mode), body->getArgument(0), body->getArgument(1),
      hasIndices ? Value(body->getArgument(2)) : Value(),
      hasIndices
          ? dnn::IndexModeAttr::get(&context, getIndexMode(problem.indexMode))
          : dnn::IndexModeAttr(),
      getLayout(problem.xLayout), getLayout(problem.yLayout),
      getEntries(problem.window, hasDepth), getEntries(problem.pad, hasDepth),
      getEntries(problem.stride, hasDepth));
  func::ReturnOp::create(builder, loc);
  return module;
}

//===----------------------------------------------------------------------===//
// From the op
//===----------------------------------------------------------------------===//

/// Distances by meaning, of a memref written in the order of `layout`.
static Strides readStrides(MemRefType type, dnn::Layout layout) {
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  if (layout == dnn::Layout::NHWC)
    std::rotate(strides.begin() + 1, strides.end() - 1, strides.end());
  if (type.getRank() == 4)
    strides.insert(strides.begin() + 2, 1);
  return {strides[0], strides[1], strides[2], strides[3], strides[4]};
}

/// Sets the layout of a tensor and, if no word names it, its strides.
static void readLayout(Value operand, dnn::Layout layout, Layout &word,
                       Strides &strides) {
  auto type = cast<MemRefType>(operand.getType());
  bool isPacked = type.getLayout().isIdentity();
  word = !isPacked                     ? Layout::Strided
         : layout == dnn::Layout::NHWC ? Layout::NHWC
                                       : Layout::NCHW;
  if (!isPacked)
    strides = readStrides(type, layout);
}

static PoolMode readMode(dnn::PoolMode mode) {
  switch (mode) {
  case dnn::PoolMode::Max:
    return PoolMode::Max;
  case dnn::PoolMode::Average:
    return PoolMode::Average;
  case dnn::PoolMode::AverageInclusive:
    return PoolMode::AverageInclusive;
  }
  llvm_unreachable("every mode has a case");
}

static tessera::IndexType readIndexType(Value indices) {
  if (!indices)
    return tessera::IndexType::None;
  switch (cast<MemRefType>(indices.getType()).getElementTypeBitWidth()) {
  case 8:
    return tessera::IndexType::U8;
  case 16:
    return tessera::IndexType::U16;
  case 32:
    return tessera::IndexType::U32;
  default:
    return tessera::IndexType::U64;
  }
}

PoolProblem tessera::readPoolProblem(dnn::PoolOp op) {
  dnn::PoolDims dims = op.getDims();
  PoolProblem problem;
  problem.direction = op.getDirection() == dnn::PoolDirection::Forward
                          ? Direction::Forward
                          : Direction::BackwardData;
  problem.mode = readMode(op.getMode());
  Type element = op.getElementType();
  problem.dataType = element.isF16()    ? DataType::F16
                     : element.isBF16() ? DataType::BF16
                                        : DataType::F32;
  readLayout(op.getX(), op.getXLayout(), problem.xLayout, problem.xStrides);
  readLayout(op.getY(), op.getYLayout(), problem.yLayout, problem.yStrides);
  problem.batch = dims.n;
  problem.channels = dims.c;
  problem.in = {dims.in[1], dims.in[2], dims.in[0]};
  problem.window = {dims.window[1], dims.window[2], dims.window[0]};
  problem.pad = {dims.pads[1], dims.pads[2], dims.pads[0]};
  problem.stride = {dims.strides[1], dims.strides[2], dims.strides[0]};
  problem.indexType = readIndexType(op.getIndices());
  if (op.getIndexMode() == dnn::IndexMode::Image)
    problem.indexMode = IndexMode::Image;
  return problem.canonicalize();
}
