//===- RowWiseFrontend.cpp - A row-wise problem as a module ---------------===//

#include "compiler/Frontend/RowWiseFrontend.h"
#include "compiler/Frontend/ElementType.h"
#include "compiler/Frontend/PoolFrontend.h"
#include "compiler/Frontend/RowWise/RowWiseFormulas.h"
#include "dialect/IR/Steps.h"
#include "runtime/Base/RowWiseKind.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tessera;

static ErrorOr<RowWiseFormulas> getFormulas(const RowWiseProblem &problem) {
  switch (problem.op) {
  case RowWiseKind::ActivationForward:
  case RowWiseKind::ActivationBackward:
    return getActivationFormulas(problem);
  case RowWiseKind::OpTensor:
  case RowWiseKind::SetTensor:
  case RowWiseKind::ScaleTensor:
  case RowWiseKind::TransformTensor:
    return getElementwiseFormulas(problem);
  case RowWiseKind::Dropout:
  case RowWiseKind::DropoutMask:
  case RowWiseKind::DropoutAdvance:
    return getDropoutFormulas(problem);
  case RowWiseKind::Adam:
  case RowWiseKind::AdamStep:
    return getAdamFormulas(problem);
  case RowWiseKind::GluForward:
  case RowWiseKind::GluBackward:
    return getGluFormulas(problem);
  case RowWiseKind::BatchNormInference:
  case RowWiseKind::BatchNormTraining:
  case RowWiseKind::BatchNormBackward:
    return getBatchNormFormulas(problem);
  case RowWiseKind::CtcGather:
  case RowWiseKind::CtcStep:
  case RowWiseKind::CtcLoss:
  case RowWiseKind::CtcOccupancy:
  case RowWiseKind::CtcGradient:
    return getCtcFormulas(problem);
  case RowWiseKind::KthStep:
  case RowWiseKind::KthFind:
    return getKthValueFormulas(problem);
  case RowWiseKind::Number:
  case RowWiseKind::GetitemBackward:
  case RowWiseKind::GetitemError:
    return getGetitemFormulas(problem);
  case RowWiseKind::LrnSum:
  case RowWiseKind::LrnForward:
  case RowWiseKind::LrnBackwardSum:
  case RowWiseKind::LrnBackward:
    return getLrnFormulas(problem);
  case RowWiseKind::SoftMargin:
  case RowWiseKind::SoftMarginGradient:
  case RowWiseKind::MultiMargin:
    return getMarginFormulas(problem);
  case RowWiseKind::Moments:
  case RowWiseKind::NormForward:
  case RowWiseKind::NormBackward:
  case RowWiseKind::NormBackwardWeight:
  case RowWiseKind::T5Backward:
  case RowWiseKind::T5BackwardWeight:
    return getNormFormulas(problem);
  case RowWiseKind::PReluBackward:
    return getPReluFormulas(problem);
  case RowWiseKind::RnnForward:
  case RowWiseKind::RnnBackward:
  case RowWiseKind::LstmForward:
  case RowWiseKind::LstmBackward:
  case RowWiseKind::GruForward:
  case RowWiseKind::GruBackward:
  case RowWiseKind::RnnStep:
  case RowWiseKind::RnnStepBackward:
  case RowWiseKind::LstmStep:
  case RowWiseKind::LstmStepBackward:
  case RowWiseKind::GruStep:
  case RowWiseKind::GruStepBackward:
    return getRnnFormulas(problem);
  case RowWiseKind::Rope:
    return getRopeFormulas(problem);
  case RowWiseKind::SoftmaxForward:
  case RowWiseKind::SoftmaxBackward:
    return getSoftmaxFormulas(problem);
  case RowWiseKind::Reduce:
    return getReduceFormulas(problem);
  default:
    break;
  }
  return notSupported("no formulas are known for " +
                      std::string(getName(problem.op)));
}

SmallVector<SmallVector<dnn::ReduceKind>>
tessera::getReductions(const RowWiseProblem &problem) {
  SmallVector<SmallVector<dnn::ReduceKind>> reductions;
  if (const ErrorOr<RowWiseFormulas> formulas = getFormulas(problem))
    for (const RowReduction &reduction : formulas->reductions)
      reductions.push_back(reduction.kinds);
  return reductions;
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// The type of a tensor's memref. It has the rank of the space, and size 1 in
/// dimensions in which the tensor is broadcast.
static MemRefType getMemRefType(Builder &builder, const RowWiseProblem &p,
                                const RowTensor &tensor) {
  SmallVector<int64_t> sizes, strides;
  for (int dim = 0; dim < p.rank; ++dim) {
    const int64_t stride = tensor.strides[dim];
    const bool isOne = stride == 0 || p.lengths[dim] == 1;
    sizes.push_back(isOne ? 1 : p.lengths[dim]);
    strides.push_back(isOne ? kNoStride : stride);
  }
  Type element = getElementType(builder, tensor.type);
  MemRefType packed = MemRefType::get(sizes, element);
  bool isPacked = true;
  for (auto [size, stride, natural] :
       llvm::zip(sizes, strides, packed.getStridesAndOffset().first))
    isPacked &= size == 1 || stride == natural;
  // The stride of a packed type's last dimension of one element would forbid
  // wider accesses along the units of steps.
  if (isPacked && !hasSteps(p))
    return packed;
  return MemRefType::get(
      sizes, element, StridedLayoutAttr::get(builder.getContext(), 0, strides));
}

/// Whether floats in the regions are f64.
static bool computesInDouble(const RowWiseProblem &problem) {
  return llvm::any_of(problem.getTensors(), [](const RowTensor &tensor) {
    return tensor.type == DataType::F64;
  });
}

static func::FuncOp buildFunction(OpBuilder &builder,
                                  const RowWiseProblem &problem,
                                  int scalarCount, StringRef symbol) {
  SmallVector<Type> types;
  SmallVector<KernelArg> args;
  for (const RowTensor &tensor : problem.getTensors()) {
    args.push_back(getTensorArg(static_cast<int>(args.size())));
    types.push_back(getMemRefType(builder, problem, tensor));
  }
  for (int scalar = 0; scalar < scalarCount; ++scalar) {
    args.push_back(getScalarArg(scalar));
    types.push_back(builder.getF64Type());
  }
  auto function = func::FuncOp::create(builder, builder.getUnknownLoc(), symbol,
                                       builder.getFunctionType(types, {}));
  function->setAttr(dnn::kKernelAttrName, builder.getUnitAttr());
  function->setAttr(kProblemAttrName,
                    builder.getStringAttr(problem.toNetworkConfig()));
  for (auto [index, arg] : llvm::enumerate(args))
    function.setArgAttr(index, dnn::kArgAttrName,
                        builder.getStringAttr(getName(arg)));
  return function;
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

namespace {
/// Builds a dnn.row_wise op in a function, one region after the other.
class RowWiseBuilder {
public:
  RowWiseBuilder(OpBuilder &builder, const RowWiseProblem &problem,
                 const RowWiseFormulas &formulas, func::FuncOp function)
      : builder(builder), problem(problem), formulas(formulas),
        function(function), loc(function.getLoc()),
        compute(computesInDouble(problem) ? builder.getF64Type()
                                          : builder.getF32Type()) {}

  void build() {
    createOp();
    SmallVector<Type> results;
    for (auto [index, reduction] : llvm::enumerate(formulas.reductions)) {
      fill(op.getReduces()[index], reduction.formula, /*isRow=*/false, results,
           {});
      llvm::append_range(results, op.getResultTypesOf(index));
    }
    if (formulas.row)
      fill(op.getRow(), formulas.row, /*isRow=*/true, results, {});
    if (formulas.map)
      fill(op.getMap(), formulas.map, /*isRow=*/false, results,
           op.getRowValueTypes());
  }

private:
  SmallVector<Value> getTensors(RowRole role) {
    SmallVector<Value> tensors;
    for (int tensor = 0; tensor < problem.tensorCount; ++tensor)
      if (problem.tensors[tensor].role == role)
        tensors.push_back(function.getArgument(tensor));
    return tensors;
  }

  /// The scalars in the compute type.
  SmallVector<Value> getScalars() {
    FloatBuilder f(builder, loc, compute);
    SmallVector<Value> scalars;
    for (int scalar = 0; scalar < formulas.scalarCount; ++scalar)
      scalars.push_back(
          f.convert(function.getArgument(problem.tensorCount + scalar)));
    return scalars;
  }

  void createOp() {
    SmallVector<int64_t> lengths(
        ArrayRef(problem.lengths).take_front(problem.rank));
    SmallVector<int64_t> reduced;
    for (int dim = 0; dim < problem.rank; ++dim)
      if (problem.isReduced(dim))
        reduced.push_back(dim);
    SmallVector<Attribute> kinds;
    for (const RowReduction &reduction : formulas.reductions)
      kinds.push_back(builder.getArrayAttr(llvm::map_to_vector(
          reduction.kinds, [&](dnn::ReduceKind kind) -> Attribute {
            return dnn::ReduceKindAttr::get(builder.getContext(), kind);
          })));
    SmallVector<Value> scalars = getScalars();
    op = dnn::RowWiseOp::create(
        builder, loc, lengths, reduced, builder.getArrayAttr(kinds),
        getTensors(RowRole::Input), getTensors(RowRole::RowOutput),
        getTensors(RowRole::Output), scalars,
        static_cast<unsigned>(formulas.reductions.size()));
    if (hasSteps(problem))
      setSteps();
  }

  void setSteps() {
    op->setAttr(dnn::kStepsAttrName,
                builder.getArrayAttr(llvm::map_to_vector(
                    formulas.carried,
                    [&](const SmallVector<int64_t> &numbers) -> Attribute {
                      return builder.getDenseI64ArrayAttr(numbers);
                    })));
    if (problem.mode & kDescendingSteps)
      op->setAttr(dnn::kDescendingAttrName, builder.getUnitAttr());
  }

  /// Builds a region: its block with the arguments, and the values that
  /// `formula` yields.
  void fill(Region &region, const RegionFormula &formula, bool isRow,
            ArrayRef<Type> results, ArrayRef<Type> rowValues) {
    OpBuilder::InsertionGuard guard(builder);
    Block *body = builder.createBlock(&region);
    RowRegion::Args args;
    for (Value input : op.getInputs()) {
      auto type = cast<MemRefType>(input.getType());
      const bool isTaken = !isRow || op.isOnePerRow(type);
      args.inputs.push_back(
          isTaken ? Value(body->addArgument(op.getWidened(type), loc))
                  : Value());
    }
    auto addArguments = [&](auto types, SmallVector<Value> &values) {
      for (Type type : types)
        values.push_back(body->addArgument(type, loc));
    };
    addArguments(op.getScalars().getTypes(), args.scalars);
    addArguments(results, args.results);
    addArguments(rowValues, args.rowValues);
    RowRegion writer(builder, loc, compute, problem, std::move(args));
    SmallVector<Value> values = formula(writer);
    dnn::YieldOp::create(builder, loc, values);
  }

  OpBuilder &builder;
  const RowWiseProblem &problem;
  const RowWiseFormulas &formulas;
  func::FuncOp function;
  Location loc;
  Type compute;
  dnn::RowWiseOp op;
};
} // namespace

ErrorOr<OwningOpRef<ModuleOp>>
tessera::buildRowWiseModule(MLIRContext &context, const RowWiseProblem &problem,
                            StringRef symbol) {
  ErrorOr<RowWiseFormulas> formulas = getFormulas(problem);
  if (!formulas)
    return formulas.getStatus();
  if (!problem.reduced && (!formulas->reductions.empty() || formulas->row))
    return invalidArgument(std::string(getName(problem.op)) +
                           " needs a dimension to reduce");
  context.loadDialect<dnn::DnnDialect, func::FuncDialect, arith::ArithDialect,
                      math::MathDialect>();
  OpBuilder builder(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToStart(module->getBody());
  func::FuncOp function =
      buildFunction(builder, problem, formulas->scalarCount, symbol);
  builder.setInsertionPointToStart(function.addEntryBlock());
  RowWiseBuilder(builder, problem, *formulas, function).build();
  func::ReturnOp::create(builder, function.getLoc());
  return std::move(module);
}
