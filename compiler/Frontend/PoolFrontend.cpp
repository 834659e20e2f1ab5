//===- PoolFrontend.cpp - A pooling problem as a module -------------------===//

#include "compiler/Frontend/PoolFrontend.h"
#include "compiler/Frontend/ElementType.h"

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
  case PoolMode::MaxNan:
    return dnn::PoolMode::MaxNan;
  }
  llvm_unreachable("every mode has a case");
}

dnn::IndexMode tessera::getIndexMode(IndexMode mode) {
  return mode == IndexMode::Mask ? dnn::IndexMode::Mask : dnn::IndexMode::Image;
}

/// The memref of a strided tensor has its dimensions in the order NCHW.
static dnn::Layout getLayout(Layout layout) {
  return layout == Layout::NHWC ? dnn::Layout::NHWC : dnn::Layout::NCHW;
}

/// Returns the lengths or strides of an activation in the order of its memref,
/// without the depth if there is none. T is TensorLengths or Strides, which
/// have the same fields.
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
  SmallVector<int64_t> memrefStrides = order(strides, layout, hasDepth);
  for (auto [size, stride] : llvm::zip(shape, memrefStrides))
    if (size == 1)
      stride = kNoStride;
  return MemRefType::get(
      shape, element,
      StridedLayoutAttr::get(element.getContext(), 0, memrefStrides));
}

template <typename T>
static SmallVector<int64_t> getEntries(const T &values, bool hasDepth) {
  if (!hasDepth)
    return {values.h, values.w};
  return {values.d, values.h, values.w};
}

/// The types of the function's arguments, in their order.
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
  DenseI64ArrayAttr padsAfter;
  if (problem.hasUnequalPads())
    padsAfter = builder.getDenseI64ArrayAttr(
        getEntries(problem.getPadAfter(), hasDepth));
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
      padsAfter, getEntries(problem.stride, hasDepth));
  func::ReturnOp::create(builder, loc);
  return module;
}
