//===- ConvFrontend.cpp - A convolution problem as a module ---------------===//

#include "compiler/Frontend/ConvFrontend.h"
#include "compiler/Frontend/ElementType.h"
#include "compiler/Frontend/EpilogueFrontend.h"
#include "dialect/IR/Dnn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace tessera;

/// The layout of the memref. A strided tensor is NHWC if its channels have a
/// smaller stride than its columns.
static dnn::Layout getLayout(tessera::Layout layout, const Strides &strides) {
  bool isNhwc = layout == tessera::Layout::NHWC ||
                (layout == tessera::Layout::Strided && strides.c < strides.w);
  return isNhwc ? dnn::Layout::NHWC : dnn::Layout::NCHW;
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

/// Returns n, c, d, h, w in the order of `layout`, without d if there is no
/// depth.
static SmallVector<int64_t> orderDims(dnn::Layout layout, bool hasDepth,
                                      int64_t n, int64_t c, int64_t d,
                                      int64_t h, int64_t w) {
  SmallVector<int64_t> spatial{d, h, w};
  if (!hasDepth)
    spatial.erase(spatial.begin());
  SmallVector<int64_t> dims{n};
  if (layout == dnn::Layout::NCHW)
    dims.push_back(c);
  llvm::append_range(dims, spatial);
  if (layout == dnn::Layout::NHWC)
    dims.push_back(c);
  return dims;
}

namespace {
/// The memref of one tensor and the order of its dimensions.
struct Tensor {
  dnn::Layout layout;
  MemRefType type;
};
} // namespace

static Tensor makeTensor(tessera::Layout layout, const Strides &strides,
                         const TensorLengths &t, bool hasDepth, Type element) {
  dnn::Layout word = getLayout(layout, strides);
  auto shape = orderDims(word, hasDepth, t.n, t.c, t.d, t.h, t.w);
  if (layout != tessera::Layout::Strided)
    return {word, MemRefType::get(shape, element)};
  auto memrefStrides = orderDims(word, hasDepth, strides.n, strides.c,
                                 strides.d, strides.h, strides.w);
  // The stride of a dimension of one element has no meaning.
  for (auto [size, stride] : llvm::zip(shape, memrefStrides))
    if (size == 1)
      stride = 1;
  auto map = StridedLayoutAttr::get(element.getContext(), 0, memrefStrides);
  return {word, MemRefType::get(shape, element, map)};
}

namespace {
/// The tensors x, w and y.
using Tensors = std::array<Tensor, 3>;
} // namespace

static Tensors makeTensors(Builder &builder, ConvProblem p) {
  // Avoids a division by zero groups; the shape does not matter, because the
  // verifier rejects the op.
  p.groups = std::max<int64_t>(p.groups, 1);
  Type element = getElementType(builder, p.dataType);
  Type result = getElementType(builder, p.getResultType());
  bool deep = p.hasDepth();
  auto type = [&](Direction resultOf) {
    return p.direction == resultOf ? result : element;
  };
  return {makeTensor(p.xLayout, p.xStrides, p.getInputLengths(), deep,
                     type(Direction::BackwardData)),
          makeTensor(p.wLayout, p.wStrides, p.getFilterLengths(), deep,
                     type(Direction::BackwardWeights)),
          makeTensor(p.yLayout, p.yStrides, p.getOutputLengths(), deep,
                     type(Direction::Forward))};
}

static KernelArg getResultArg(Direction direction) {
  switch (direction) {
  case Direction::Forward:
    return KernelArg::Y;
  case Direction::BackwardData:
    return KernelArg::X;
  case Direction::BackwardWeights:
    return KernelArg::W;
  }
  llvm_unreachable("every direction has a case");
}

/// The types of the function's arguments `args`.
static SmallVector<Type> getArgTypes(Builder &builder, const ConvProblem &p,
                                     const Tensors &tensors,
                                     ArrayRef<KernelArg> args) {
  // The values of X, W and Y are the indices of the tensors.
  const Tensor &result = tensors[static_cast<int>(getResultArg(p.direction))];
  int64_t channels = p.direction == Direction::Forward ? p.outChannels
                     : p.direction == Direction::BackwardData
                         ? p.inChannels
                         : p.inChannels / std::max<int64_t>(p.groups, 1);
  SmallVector<Type> types;
  for (KernelArg arg : args)
    if (isScalar(arg))
      types.push_back(builder.getF64Type());
    else if (arg == KernelArg::Bias)
      types.push_back(MemRefType::get(
          {channels}, getElementType(builder, p.getBiasType())));
    else if (arg == KernelArg::Residual || arg == norm_gradient::kInput ||
             arg == norm_gradient::kMask)
      types.push_back(result.type);
    else if (arg == KernelArg::Mean || arg == KernelArg::Variance ||
             isRowTensor(arg))
      types.push_back(MemRefType::get({channels}, builder.getF32Type()));
    else
      types.push_back(tensors[static_cast<int>(arg)].type);
  return types;
}

/// Builds the epilogue region of `conv`, whose extra operands are `extras`, in
/// this order.
static void fillEpilogue(OpBuilder &builder, dnn::ConvOp conv,
                         const Epilogue &epilogue, ArrayRef<KernelArg> extras,
                         function_ref<Value(KernelArg)> findArg) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types(1 + extras.size(), conv.getComputeType());
  SmallVector<Location> locs(types.size(), conv.getLoc());
  Block *body = builder.createBlock(&conv.getEpilogue(), {}, types, locs);
  auto find = [&](KernelArg arg) -> Value {
    auto extra = llvm::find(extras, arg);
    return extra == extras.end()
               ? findArg(arg)
               : body->getArgument(1 + (extra - extras.begin()));
  };
  Value result = buildEpilogue(builder, conv.getLoc(), epilogue,
                               body->getArgument(0), find);
  dnn::YieldOp::create(builder, conv.getLoc(), result);
}

static void addNormGradient(OpBuilder &builder, dnn::ConvOp conv,
                            NormGradient gradient,
                            function_ref<Value(KernelArg)> findArg) {
  using namespace norm_gradient;
  const bool hasRelu = gradient == NormGradient::Relu,
             hasMask = gradient == NormGradient::Mask;
  dnn::NormGradientOp::create(
      builder, conv.getLoc(), conv.getX(), conv.getXLayout(), findArg(kInput),
      findArg(kMean), findArg(kInverse), hasRelu ? findArg(kScale) : Value(),
      hasRelu ? findArg(norm_gradient::kBias) : Value(),
      hasMask ? findArg(kMask) : Value(), findArg(kSum), findArg(kDot));
}

static void buildBody(OpBuilder &builder, const ConvProblem &p,
                      const Tensors &tensors, ArrayRef<KernelArg> args,
                      func::FuncOp function) {
  auto findArg = [&](KernelArg arg) -> Value {
    return function.getArgument(llvm::find(args, arg) - args.begin());
  };
  // The region calls the old result Y in every direction.
  SmallVector<KernelArg> extras;
  SmallVector<Value> operands;
  auto addExtra = [&](KernelArg name, KernelArg arg) {
    extras.push_back(name);
    operands.push_back(findArg(arg));
  };
  if (p.epilogue.beta)
    addExtra(KernelArg::Y, getResultArg(p.direction));
  if (p.epilogue.bias)
    addExtra(KernelArg::Bias, KernelArg::Bias);
  if (p.epilogue.residual)
    addExtra(KernelArg::Residual, KernelArg::Residual);

  auto orderWindow = [&](const auto &window) {
    SmallVector<int64_t> values{window.d, window.h, window.w};
    return p.hasDepth() ? values : SmallVector<int64_t>{window.h, window.w};
  };
  DenseI64ArrayAttr padsAfter;
  if (p.hasUnequalPads())
    padsAfter = builder.getDenseI64ArrayAttr(orderWindow(p.getPadAfter()));
  auto conv = dnn::ConvOp::create(
      builder, function.getLoc(), getDirection(p.direction),
      findArg(KernelArg::X), findArg(KernelArg::W), findArg(KernelArg::Y),
      tensors[0].layout, tensors[1].layout, tensors[2].layout,
      orderWindow(p.pad), padsAfter, orderWindow(p.stride),
      orderWindow(p.dilation), p.groups, p.allowsTf32(), operands);
  if (!p.epilogue.leavesSums())
    fillEpilogue(builder, conv, p.epilogue, extras, findArg);
  if (p.epilogue.statistics)
    dnn::StatisticsOp::create(builder, function.getLoc(), conv.getY(),
                              conv.getYLayout(), findArg(KernelArg::Mean),
                              findArg(KernelArg::Variance));
  if (p.epilogue.normGradient != NormGradient::None)
    addNormGradient(builder, conv, p.epilogue.normGradient, findArg);
}

OwningOpRef<ModuleOp> tessera::buildConvModule(MLIRContext &context,
                                               const ConvProblem &problem,
                                               StringRef symbol) {
  context.loadDialect<dnn::DnnDialect, func::FuncDialect, arith::ArithDialect,
                      math::MathDialect>();
  OpBuilder builder(&context);
  Location loc = builder.getUnknownLoc();
  Tensors tensors = makeTensors(builder, problem);
  SmallVector<KernelArg> args{KernelArg::X, KernelArg::W, KernelArg::Y};
  llvm::append_range(args, getEpilogueArgs(problem.epilogue));
  SmallVector<Type> types = getArgTypes(builder, problem, tensors, args);

  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToStart(module->getBody());
  auto function = func::FuncOp::create(builder, loc, symbol,
                                       builder.getFunctionType(types, {}));
  function->setAttr(dnn::kKernelAttrName, builder.getUnitAttr());
  for (auto [index, arg] : llvm::enumerate(args))
    function.setArgAttr(index, dnn::kArgAttrName,
                        builder.getStringAttr(getName(arg)));
  builder.setInsertionPointToStart(function.addEntryBlock());
  buildBody(builder, problem, tensors, args, function);
  func::ReturnOp::create(builder, loc);
  return module;
}
