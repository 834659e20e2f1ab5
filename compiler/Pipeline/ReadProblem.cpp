//===- ReadProblem.cpp - The problem that a dnn module states -------------===//

#include "compiler/Pipeline/ReadProblem.h"
#include "compiler/Frontend/ConvFrontend.h"
#include "compiler/Frontend/RowWiseFrontend.h"
#include "compiler/Target/ElementType.h"
#include "dialect/IR/Dnn.h"
#include "dialect/IR/PointHints.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OperationSupport.h"

using namespace tessera;

/// Maps an element type. The verifier allows only those below.
static DataType getDataType(mlir::Type type) {
  return findDataType(type).value_or(DataType::I32);
}

static Direction getDirection(dnn::ConvDirection direction) {
  switch (direction) {
  case dnn::ConvDirection::Forward:
    return Direction::Forward;
  case dnn::ConvDirection::BackwardData:
    return Direction::BackwardData;
  case dnn::ConvDirection::BackwardWeights:
    return Direction::BackwardWeights;
  }
  llvm_unreachable("every direction has a case");
}

/// Sets the layout, and the strides if the memref has any.
static void readLayout(mlir::MemRefType type, dnn::Layout word, Layout &layout,
                       Strides &strides) {
  bool channelsFirst = word == dnn::Layout::NCHW;
  layout = channelsFirst ? Layout::NCHW : Layout::NHWC;
  if (type.getLayout().isIdentity())
    return;
  llvm::SmallVector<int64_t> values;
  int64_t offset;
  (void)type.getStridesAndOffset(values, offset);
  layout = Layout::Strided;
  strides.n = values.front();
  strides.c = channelsFirst ? values[1] : values.back();
  llvm::ArrayRef<int64_t> spatial = llvm::ArrayRef(values).drop_front();
  spatial = channelsFirst ? spatial.drop_front() : spatial.drop_back();
  strides.w = spatial.back();
  strides.h = spatial.drop_back().back();
  strides.d = spatial.size() == 3 ? spatial.front() : 1;
}

static ConvProblem readShape(dnn::ConvOp conv) {
  dnn::ConvDims d = conv.getDims();
  ConvProblem problem;
  problem.direction = getDirection(conv.getDirection());
  problem.dataType = getDataType(conv.getElementType());
  if (problem.hasByteResult())
    problem.byteResult = getDataType(conv.getResultElementType());
  if (conv.getTf32())
    problem.mathType = MathType::Tf32;
  readLayout(conv.getX().getType(), conv.getXLayout(), problem.xLayout,
             problem.xStrides);
  readLayout(conv.getW().getType(), conv.getWLayout(), problem.wLayout,
             problem.wStrides);
  readLayout(conv.getY().getType(), conv.getYLayout(), problem.yLayout,
             problem.yStrides);
  problem.batch = d.n;
  problem.inChannels = d.c;
  problem.outChannels = d.k;
  problem.groups = d.groups;
  problem.in = {d.h, d.w, d.d};
  problem.filter = {d.y, d.x, d.z};
  problem.pad = {d.padH, d.padW, d.padD};
  problem.setPadAfter({d.padAfterH, d.padAfterW, d.padAfterD});
  problem.stride = {d.strideH, d.strideW, d.strideD};
  problem.dilation = {d.dilationH, d.dilationW, d.dilationD};
  return problem;
}

/// Whether the function has an argument of this name.
static bool hasArg(mlir::func::FuncOp function, llvm::StringRef name) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto arg =
        function.getArgAttrOfType<mlir::StringAttr>(i, dnn::kArgAttrName);
    if (arg && arg.getValue() == name)
      return true;
  }
  return false;
}

/// Finds the epilogue for which the frontend builds the same function.
/// Comparing functions is simpler than matching a region, which a person may
/// have written in any way.
static bool findEpilogue(dnn::ConvOp conv, ConvProblem &problem) {
  auto function = conv->getParentOfType<mlir::func::FuncOp>();
  if (!function)
    return false;
  const bool hasScale = hasArg(function, getName(norm_gradient::kScale)),
             hasMask = hasArg(function, getName(norm_gradient::kMask)),
             hasSum = hasArg(function, getName(norm_gradient::kSum));
  problem.epilogue = {.alpha = hasArg(function, "alpha"),
                      .beta = hasArg(function, "beta"),
                      .bias = hasArg(function, "bias"),
                      .residual = hasArg(function, "residual"),
                      .statistics = hasArg(function, "mean"),
                      .normGradient = hasScale  ? NormGradient::Relu
                                      : hasMask ? NormGradient::Mask
                                      : hasSum  ? NormGradient::Plain
                                                : NormGradient::None};
  for (int i = 0; i <= static_cast<int>(Activation::Clamp); ++i) {
    problem.epilogue.activation = static_cast<Activation>(i);
    auto module =
        buildConvModule(*conv.getContext(), problem, function.getName());
    auto candidate = *module->getOps<mlir::func::FuncOp>().begin();
    if (mlir::OperationEquivalence::isEquivalentTo(
            function, candidate, mlir::OperationEquivalence::IgnoreLocations))
      return true;
  }
  return false;
}

static ErrorOr<Problem> readConv(dnn::ConvOp conv) {
  ConvProblem problem = readShape(conv);
  const bool isPlain = !conv.hasEpilogue() &&
                       !isa_and_nonnull<dnn::StatisticsOp, dnn::NormGradientOp>(
                           conv->getNextNode());
  if (!isPlain && !findEpilogue(conv, problem))
    return notSupported("no problem has the epilogue of this dnn.conv");
  return Problem(problem.canonicalize());
}

static PoolMode getMode(dnn::PoolMode mode) {
  switch (mode) {
  case dnn::PoolMode::Max:
    return PoolMode::Max;
  case dnn::PoolMode::Average:
    return PoolMode::Average;
  case dnn::PoolMode::AverageInclusive:
    return PoolMode::AverageInclusive;
  case dnn::PoolMode::MaxNan:
    return PoolMode::MaxNan;
  }
  llvm_unreachable("every mode has a case");
}

static IndexType getIndexType(mlir::Value indices) {
  if (!indices)
    return IndexType::None;
  switch (llvm::cast<mlir::MemRefType>(indices.getType())
              .getElementTypeBitWidth()) {
  case 8:
    return IndexType::U8;
  case 16:
    return IndexType::U16;
  case 32:
    return IndexType::U32;
  default: // The verifier allows no other width.
    return IndexType::U64;
  }
}

static Problem readPool(dnn::PoolOp pool) {
  dnn::PoolDims d = pool.getDims();
  PoolProblem problem;
  problem.direction = pool.getDirection() == dnn::PoolDirection::Forward
                          ? Direction::Forward
                          : Direction::BackwardData;
  problem.mode = getMode(pool.getMode());
  problem.dataType = getDataType(pool.getElementType());
  readLayout(pool.getX().getType(), pool.getXLayout(), problem.xLayout,
             problem.xStrides);
  readLayout(pool.getY().getType(), pool.getYLayout(), problem.yLayout,
             problem.yStrides);
  problem.batch = d.n;
  problem.channels = d.c;
  problem.in = {d.in[1], d.in[2], d.in[0]};
  problem.window = {d.window[1], d.window[2], d.window[0]};
  problem.pad = {d.pads[1], d.pads[2], d.pads[0]};
  problem.setPadAfter({d.padsAfter[1], d.padsAfter[2], d.padsAfter[0]});
  problem.stride = {d.strides[1], d.strides[2], d.strides[0]};
  problem.indexType = getIndexType(pool.getIndices());
  if (pool.getIndexMode() == dnn::IndexMode::Image)
    problem.indexMode = IndexMode::Image;
  return problem.canonicalize();
}

/// Returns the problem that the function names if the frontend builds the same
/// function of it; regions are not matched.
static ErrorOr<Problem> readRows(dnn::RowWiseOp rows) {
  auto function = rows->getParentOfType<mlir::func::FuncOp>();
  auto text = function
                  ? function->getAttrOfType<mlir::StringAttr>(kProblemAttrName)
                  : mlir::StringAttr();
  if (!text)
    return notSupported("a function with dnn.row_wise names its problem in the "
                        "attribute " +
                        kProblemAttrName.str());
  ErrorOr<Problem> problem = parseNetworkConfig(text.getValue());
  if (!problem)
    return problem.getStatus();
  if (!problem->getRows())
    return notSupported("dnn.row_wise solves row problems, not " +
                        text.getValue().str());
  auto module = buildRowWiseModule(*rows.getContext(), *problem->getRows(),
                                   function.getName());
  if (!module)
    return module.getStatus();
  auto candidate = *(*module)->getOps<mlir::func::FuncOp>().begin();
  if (!mlir::OperationEquivalence::isEquivalentTo(
          function, candidate, mlir::OperationEquivalence::IgnoreLocations))
    return notSupported("the function does not compute " +
                        text.getValue().str() + ", which it names");
  return problem;
}

static ErrorOr<Problem> readPrimitive(mlir::Operation *primitive) {
  if (auto pool = llvm::dyn_cast<dnn::PoolOp>(primitive))
    return readPool(pool);
  if (auto rows = llvm::dyn_cast<dnn::RowWiseOp>(primitive))
    return readRows(rows);
  return readConv(llvm::cast<dnn::ConvOp>(primitive));
}

ErrorOr<Problem> tessera::readProblem(mlir::ModuleOp module) {
  llvm::SmallVector<mlir::Operation *> primitives;
  module.walk([&](mlir::Operation *op) {
    if (op->hasTrait<dnn::Primitive>())
      primitives.push_back(op);
  });
  if (primitives.size() != 1)
    return notSupported("a module has one primitive (dnn.conv, dnn.pool or "
                        "dnn.row_wise), not " +
                        std::to_string(primitives.size()));
  ErrorOr<Problem> problem = readPrimitive(primitives.front());
  if (problem && module->hasAttr(dnn::kUnalignedAttrName))
    return problem->asUnaligned();
  return problem;
}
