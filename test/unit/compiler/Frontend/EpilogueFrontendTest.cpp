//===- EpilogueFrontendTest.cpp - Evaluates the regions of epilogues ------===//
//
// The region that the frontend builds is evaluated here, operation by
// operation, and compared with the formulas of the reference, which are written
// separately.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/EpilogueFrontend.h"
#include "compiler/Frontend/ConvFrontend.h"
#include "dialect/IR/Dnn.h"
#include "runtime/Reference/ReferenceShape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/TypeSwitch.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tessera;
using namespace mlir;

namespace {
/// Evaluates straight-line arithmetic on doubles, and on the integers that
/// exponentials and logarithms of f64 are made of.
class Evaluator {
public:
  void set(Value value, double number) { numbers[value] = number; }
  double get(Value value) const { return numbers.lookup(value); }

  void run(Operation &op) {
    if (op.getResult(0).getType().isInteger(64) ||
        op.getResult(0).getType().isInteger(32)) {
      integers[op.getResult(0)] = runInteger(op);
      return;
    }
    auto in = [&](unsigned i) { return get(op.getOperand(i)); };
    double result =
        llvm::TypeSwitch<Operation *, double>(&op)
            .Case([&](arith::ConstantOp constant) {
              return cast<FloatAttr>(constant.getValue()).getValueAsDouble();
            })
            .Case([&](arith::AddFOp) { return in(0) + in(1); })
            .Case([&](arith::SubFOp) { return in(0) - in(1); })
            .Case([&](arith::MulFOp) { return in(0) * in(1); })
            .Case([&](arith::DivFOp) { return in(0) / in(1); })
            .Case([&](arith::TruncFOp) { return in(0); })
            .Case([&](arith::BitcastOp cast) {
              return __builtin_bit_cast(double, integers.lookup(cast.getIn()));
            })
            .Case([&](arith::SIToFPOp convert) {
              return static_cast<double>(integers.lookup(convert.getIn()));
            })
            .Case([&](math::AbsFOp) { return std::fabs(in(0)); })
            .Case([&](math::Exp2Op) { return std::exp2(in(0)); })
            .Case([&](math::Log2Op) { return std::log2(in(0)); })
            .Case([&](arith::SelectOp) { return in(0) ? in(1) : in(2); })
            .Case([&](arith::CmpFOp compare) {
              return evaluate(compare.getPredicate(), in(0), in(1));
            })
            .Default([&](Operation *other) {
              ADD_FAILURE()
                  << "no rule for " << other->getName().getStringRef().str();
              return NAN;
            });
    set(op.getResult(0), result);
  }

private:
  int64_t runInteger(Operation &op) {
    auto in = [&](unsigned i) { return integers.lookup(op.getOperand(i)); };
    return llvm::TypeSwitch<Operation *, int64_t>(&op)
        .Case([&](arith::ConstantOp constant) {
          return cast<IntegerAttr>(constant.getValue()).getInt();
        })
        .Case([&](arith::BitcastOp cast) {
          return __builtin_bit_cast(int64_t, get(cast.getIn()));
        })
        .Case([&](arith::FPToSIOp convert) {
          return static_cast<int64_t>(get(convert.getIn()));
        })
        .Case([&](arith::AddIOp) { return in(0) + in(1); })
        .Case([&](arith::SubIOp) { return in(0) - in(1); })
        .Case([&](arith::ShLIOp) {
          return static_cast<int64_t>(static_cast<uint64_t>(in(0)) << in(1));
        })
        .Case([&](arith::ShRSIOp) { return in(0) >> in(1); })
        .Case<arith::ExtSIOp, arith::TruncIOp>([&](auto) { return in(0); })
        .Default([&](Operation *other) {
          ADD_FAILURE() << "no rule for "
                        << other->getName().getStringRef().str();
          return 0;
        });
  }

  static double evaluate(arith::CmpFPredicate predicate, double l, double r) {
    switch (predicate) {
    case arith::CmpFPredicate::OEQ:
      return l == r;
    case arith::CmpFPredicate::UEQ:
      return l == r || std::isnan(l) || std::isnan(r);
    case arith::CmpFPredicate::UNO:
      return std::isnan(l) || std::isnan(r);
    case arith::CmpFPredicate::OLT:
      return l < r;
    case arith::CmpFPredicate::OGT:
      return l > r;
    case arith::CmpFPredicate::OLE:
      return l <= r;
    default:
      ADD_FAILURE() << "no rule for this comparison";
      return NAN;
    }
  }

  llvm::DenseMap<Value, double> numbers;
  llvm::DenseMap<Value, int64_t> integers;
};

/// The values of all tensors and scalars that an epilogue reads.
struct Inputs {
  double sum = 0, old = 0, bias = 0, residual = 0, alpha = 1, beta = 0;
  std::array<double, 3> parameters{};

  double get(KernelArg arg) const {
    switch (arg) {
    case KernelArg::Bias:
      return bias;
    case KernelArg::Residual:
      return residual;
    case KernelArg::Alpha:
      return alpha;
    case KernelArg::Beta:
      return beta;
    case KernelArg::ActivAlpha:
      return parameters[0];
    case KernelArg::ActivBeta:
      return parameters[1];
    case KernelArg::ActivGamma:
      return parameters[2];
    default:
      return NAN;
    }
  }
};
} // namespace

/// Evaluates the region of `epilogue` on `inputs`.
static double evaluate(const Epilogue &epilogue, const Inputs &inputs) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  ConvProblem problem;
  problem.dataType = DataType::F64; // Its constants are not rounded to f32.
  problem.epilogue = epilogue;
  auto module = buildConvModule(context, problem, "conv");
  auto function = *module->getOps<func::FuncOp>().begin();
  auto conv = *function.getOps<dnn::ConvOp>().begin();
  Evaluator evaluator;
  for (auto [i, arg] : llvm::enumerate(getEpilogueArgs(epilogue)))
    evaluator.set(function.getArgument(3 + i), inputs.get(arg));

  Block &body = conv.getEpilogue().front();
  evaluator.set(body.getArgument(0), inputs.sum);
  for (auto [argument, operand] :
       llvm::zip(body.getArguments().drop_front(), conv.getExtras()))
    evaluator.set(argument, operand == function.getArgument(2)
                                ? inputs.old
                                : evaluator.get(operand));
  for (Operation &op : body.without_terminator())
    evaluator.run(op);
  return evaluator.get(body.getTerminator()->getOperand(0));
}

// Every activation has the reference's value far from zero and near it, at its
// corners, and where an exponential would overflow an f32.
TEST(EpilogueFrontend, ActivationsAgreeWithTheReference) {
  for (int kind = 1; kind <= static_cast<int>(Activation::Clamp); ++kind) {
    const auto activation = static_cast<Activation>(kind);
    SCOPED_TRACE(std::string(getName(activation)));
    for (double v : {-200.0, -88.0, -7.5, -2.0, -1.0, -0.3, -1e-3, 0.0, 1e-4,
                     0.25, 1.0, 1.75, 3.0, 20.0, 89.0, 300.0}) {
      Inputs inputs;
      inputs.sum = v;
      inputs.parameters = {0.5, 1.5, -1.25};
      const double expected =
          activate(getReferenceActivation(activation), inputs.parameters, v);
      EXPECT_NEAR(evaluate({.activation = activation}, inputs), expected,
                  1e-14 * std::fmax(1, std::fabs(expected)))
          << v;
    }
  }
}

// The linear part adds each value once, with its scale.
TEST(EpilogueFrontend, LinearPart) {
  const Inputs inputs{.sum = 3,
                      .old = 10,
                      .bias = 100,
                      .residual = 1000,
                      .alpha = 2,
                      .beta = 7};
  EXPECT_EQ(evaluate({.alpha = true}, inputs), 6);
  EXPECT_EQ(evaluate({.beta = true}, inputs), 73);
  EXPECT_EQ(evaluate({.bias = true}, inputs), 103);
  EXPECT_EQ(evaluate({.residual = true}, inputs), 1003);
  EXPECT_EQ(evaluate({.alpha = true,
                      .beta = true,
                      .bias = true,
                      .residual = true,
                      .activation = Activation::Abs},
                     inputs),
            1176);
}

// Every activation of a NaN is a NaN.
TEST(EpilogueFrontend, NaNStaysNaN) {
  for (int kind = 1; kind <= static_cast<int>(Activation::Clamp); ++kind) {
    Inputs inputs;
    inputs.sum = NAN;
    inputs.parameters = {0.5, 1.5, 2};
    EXPECT_TRUE(std::isnan(
        evaluate({.activation = static_cast<Activation>(kind)}, inputs)))
        << kind;
  }
}
