//===- ConvFrontend.cpp - A convolution problem as a module ---------------===//

#include "compiler/Frontend/ConvFrontend.h"
#include "dialect/IR/Dnn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include <algorithm>

using namespace mlir;
using namespace tessera;

static Type getElementType(Builder &builder, DataType type) {
  switch (type) {
  case DataType::F16:
    return builder.getF16Type();
  case DataType::BF16:
    return builder.getBF16Type();
  case DataType::F32:
    return builder.getF32Type();
  case DataType::F64:
    return builder.getF64Type();
  case DataType::I8:
    return builder.getI8Type();
  case DataType::I32:
    return builder.getI32Type();
  }
  llvm_unreachable("every data type has a case");
}

static dnn::Layout getLayout(tessera::Layout layout) {
  return layout == tessera::Layout::NCHW ? dnn::Layout::NCHW
                                         : dnn::Layout::NHWC;
}

static dnn::ConvDirection getDirection(Direction direction) {
  switch (direction) {
  case Direction::Forward:
    return dnn::ConvDirection::Forward;
  case Direction::BackwardData:
    return dnn::ConvDirection::BackwardData;
  case Direction::BackwardWeights:
    return dnn::ConvDirection::BackwardWeights;
  }
  llvm_unreachable("every direction has a case");
}

/// The packed memref of an activation or a filter, in memory order.
static MemRefType getMemRefType(tessera::Layout layout, int64_t outer,
                                int64_t channels, Spatial size, Type element) {
  if (layout == tessera::Layout::NCHW)
    return MemRefType::get({outer, channels, size.h, size.w}, element);
  return MemRefType::get({outer, size.h, size.w, channels}, element);
}

OwningOpRef<ModuleOp> tessera::buildConvModule(MLIRContext &context,
                                               const ConvProblem &problem,
                                               StringRef symbol) {
  context.loadDialect<dnn::DnnDialect, func::FuncDialect>();
  OpBuilder builder(&context);
  Location loc = builder.getUnknownLoc();
  Type element = getElementType(builder, problem.dataType);
  // Zero groups divide nothing: the type is then of no consequence, because
  // the verifier refuses the op.
  int64_t groups = std::max<int64_t>(problem.groups, 1);
  Type types[] = {
      getMemRefType(problem.xLayout, problem.batch, problem.inChannels,
                    problem.in, element),
      getMemRefType(problem.wLayout, problem.outChannels,
                    problem.inChannels / groups, problem.filter, element),
      getMemRefType(problem.yLayout, problem.batch, problem.outChannels,
                    problem.getOutput(), element)};

  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToStart(module->getBody());
  auto function = func::FuncOp::create(builder, loc, symbol,
                                       builder.getFunctionType(types, {}));
  function->setAttr(dnn::kKernelAttrName, builder.getUnitAttr());
  constexpr const char *kNames[] = {"x", "w", "y"};
  for (auto [index, name] : llvm::enumerate(kNames))
    function.setArgAttr(index, dnn::kArgAttrName, builder.getStringAttr(name));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  dnn::ConvOp::create(
      builder, loc, getDirection(problem.direction), body->getArgument(0),
      body->getArgument(1), body->getArgument(2), getLayout(problem.xLayout),
      getLayout(problem.wLayout), getLayout(problem.yLayout),
      {problem.pad.h, problem.pad.w}, {problem.stride.h, problem.stride.w},
      {problem.dilation.h, problem.dilation.w}, problem.groups);
  func::ReturnOp::create(builder, loc);
  return module;
}
