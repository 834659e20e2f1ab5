//===- Margin.cpp - Margin losses -----------------------------------------===//

#include "compiler/Frontend/ActivationFormulas.h"
#include "compiler/Frontend/RowWise/RowWiseFormulas.h"
#include "runtime/Base/RowWiseKind.h"

#include <cmath>

using namespace mlir;
using namespace tessera;
using arith::CmpFPredicate;

using Values = SmallVector<Value>;

/// An activation without parameters.
static Value activate(RowRegion &r, Activation activation, Value v) {
  return buildActivation(r, activation, v, [](int) { return Value(); });
}

/// -x t, the argument of the soft margin loss.
static Value getArgument(RowRegion &r) {
  return r.sub(r.constant(0), r.mul(r.get(0), r.get(1)));
}

static RowWiseFormulas getSoftMargin(bool isReduced) {
  auto loss = [](RowRegion &r) {
    return activate(r, Activation::SoftRelu, getArgument(r));
  };
  RowWiseFormulas f;
  f.scalarCount = isReduced ? 1 : 0;
  if (!isReduced) {
    f.map = [=](RowRegion &r) { return Values{r.toTensor(2, loss(r))}; };
    return f;
  }
  f.reductions.push_back(
      {{dnn::ReduceKind::Sum}, [=](RowRegion &r) { return Values{loss(r)}; }});
  f.row = [](RowRegion &r) {
    return Values{r.toTensor(2, r.mul(r.result(0), r.scalar(0)))};
  };
  return f;
}

static RowWiseFormulas getSoftMarginGradient() {
  RowWiseFormulas f;
  f.scalarCount = 1;
  f.map = [](RowRegion &r) {
    Value slope = activate(r, Activation::Logistic, getArgument(r));
    Value dx = r.mul(r.mul(slope, r.get(1)), r.mul(r.get(2), r.scalar(0)));
    return Values{r.toTensor(3, r.sub(r.constant(0), dx))};
  };
  return f;
}

/// `inside` for the class that is the row's target, else `outside`. Numbers of
/// classes are floats, which are exact up to 2^24.
static Value whereTarget(RowRegion &r, Value inside, Value outside) {
  return r.select(CmpFPredicate::OEQ, r.convert(r.rowIndex()), r.get(1), inside,
                  outside);
}

static RowWiseFormulas getMultiMargin(const RowWiseProblem &p) {
  const bool isSquare = p.mode == 1;
  const auto classes = static_cast<double>(p.getRowLength());
  RowWiseFormulas f;
  f.scalarCount = 1;
  f.reductions.push_back(
      {{dnn::ReduceKind::Sum, dnn::ReduceKind::Sum}, [](RowRegion &r) {
         Value zero = r.constant(0);
         return Values{whereTarget(r, r.get(0), zero),
                       whereTarget(r, r.get(2), zero)};
       }});
  f.reductions.push_back(
      {{dnn::ReduceKind::Sum}, [=](RowRegion &r) {
         Value zero = r.constant(0);
         Value loss = r.add(r.sub(r.scalar(0), r.result(0)), r.get(0));
         loss = r.atLeast(loss, zero);
         return Values{
             whereTarget(r, zero, isSquare ? r.mul(loss, loss) : loss)};
       }});
  f.row = [=](RowRegion &r) {
    Value loss =
        r.mul(r.mul(r.result(1), r.result(2)), r.constant(1 / classes));
    Value none = r.constant(NAN), target = r.get(1);
    loss = r.select(CmpFPredicate::OLT, target, r.constant(0), none, loss);
    loss =
        r.select(CmpFPredicate::OGE, target, r.constant(classes), none, loss);
    return Values{r.toTensor(3, loss)};
  };
  return f;
}

ErrorOr<RowWiseFormulas> tessera::getMarginFormulas(const RowWiseProblem &p) {
  auto make = [&](std::string_view roles, uint32_t modes,
                  RowWiseFormulas formulas) -> ErrorOr<RowWiseFormulas> {
    Status status = expectTensors(p, roles);
    if (status.isOk())
      status = expectMode(p, modes);
    if (!status.isOk())
      return status;
    return formulas;
  };
  switch (p.op) {
  case RowWiseKind::SoftMargin:
    return make(p.mode == 1 ? "iir" : "iio", 2, getSoftMargin(p.mode == 1));
  case RowWiseKind::SoftMarginGradient:
    return make("iiio", 1, getSoftMarginGradient());
  default:
    return make("iiir", 2, getMultiMargin(p));
  }
}
