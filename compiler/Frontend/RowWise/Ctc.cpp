//===- Ctc.cpp - The launches of a CTC loss -------------------------------===//
//
// The loss is computed from logarithms of probabilities by launches over all
// states of all sequences of a batch (docs/spec/row-wise.md): one for each time
// step in each direction, and a few before and after them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/RowWise/RowWiseFormulas.h"
#include "runtime/Base/RowWiseKind.h"

#include <cmath>

using namespace mlir;
using namespace tessera;
using arith::CmpFPredicate;

using Values = SmallVector<Value>;

/// The logarithm of the probability 0. It is finite, because the difference of
/// two infinities would be a NaN.
static constexpr double kLogZero = -1e30;

static Value whereNotZero(RowRegion &r, int flag, Value yes, Value no) {
  return r.select(CmpFPredicate::ONE, r.get(flag), r.constant(0), yes, no);
}

/// The logarithm of a label's probability at each time step, for each state.
static RowWiseFormulas getGather() {
  RowWiseFormulas f;
  f.reductions.push_back({{dnn::ReduceKind::Sum}, [](RowRegion &r) {
                            return Values{r.select(CmpFPredicate::OEQ, r.get(1),
                                                   r.get(2), r.get(0),
                                                   r.constant(0))};
                          }});
  f.row = [](RowRegion &r) {
    Value zero = r.constant(kLogZero);
    return Values{r.select(CmpFPredicate::OLT, r.get(1), r.constant(0), zero,
                           r.atLeast(r.result(0), zero))};
  };
  return f;
}

/// The states after a time step: ln(e^a + e^b + e^c) + ln(p), and those before
/// it where the sequence is over.
static RowWiseFormulas getStep() {
  RowWiseFormulas f;
  f.scalarCount = 1;
  f.map = [](RowRegion &r) {
    Value a = r.get(0), b = r.get(1);
    Value c = whereNotZero(r, 3, r.get(2), r.constant(kLogZero));
    Value most = r.atLeast(r.atLeast(a, b), c);
    Value sum = r.exp(r.sub(a, most));
    for (Value other : {b, c})
      sum = r.add(sum, r.exp(r.sub(other, most)));
    Value next = r.add(r.add(most, r.log(sum)), r.get(4));
    next = r.atLeast(next, r.constant(kLogZero));
    return Values{r.select(CmpFPredicate::OLT, r.scalar(0), r.get(5), next, a)};
  };
  return f;
}

/// -ln of the sum of the probabilities of a sequence's final states.
static RowWiseFormulas getLoss() {
  RowWiseFormulas f;
  f.reductions.push_back(
      {{dnn::ReduceKind::Max}, [](RowRegion &r) {
         return Values{whereNotZero(r, 1, r.get(0), r.constant(kLogZero))};
       }});
  f.reductions.push_back(
      {{dnn::ReduceKind::Sum}, [](RowRegion &r) {
         return Values{whereNotZero(r, 1, r.exp(r.sub(r.get(0), r.result(0))),
                                    r.constant(0))};
       }});
  f.row = [](RowRegion &r) {
    Value loss = r.sub(r.constant(0), r.add(r.result(0), r.log(r.result(1))));
    return Values{r.select(CmpFPredicate::OGT, loss, r.constant(-kLogZero / 2),
                           r.constant(INFINITY), loss)};
  };
  return f;
}

/// The probability of being in a state at a time, given the labels.
static RowWiseFormulas getOccupancy() {
  RowWiseFormulas f;
  f.map = [](RowRegion &r) {
    Value zero = r.constant(0), loss = r.get(3);
    Value exponent = r.sub(r.add(r.get(0), r.get(1)), r.get(2));
    Value occupancy = r.exp(r.add(exponent, loss));
    occupancy = r.select(CmpFPredicate::OEQ, loss, r.constant(INFINITY), zero,
                         occupancy);
    return Values{
        r.select(CmpFPredicate::OLT, r.get(5), r.get(4), occupancy, zero)};
  };
  return f;
}

/// The gradient from the occupancies of the states that have the class's label.
static RowWiseFormulas getGradient(bool hasSoftmax) {
  RowWiseFormulas f;
  f.reductions.push_back({{dnn::ReduceKind::Sum}, [](RowRegion &r) {
                            return Values{r.select(CmpFPredicate::OEQ, r.get(2),
                                                   r.get(3), r.get(1),
                                                   r.constant(0))};
                          }});
  f.row = [hasSoftmax](RowRegion &r) {
    Value zero = r.constant(0), sum = r.result(0);
    Value gradient;
    if (hasSoftmax) {
      gradient = r.sub(r.exp(r.get(0)), sum);
    } else {
      // Where the probability is 0, the sum is 0, too.
      Value quotient = r.mul(sum, r.exp(r.get(0), -1));
      gradient =
          r.select(CmpFPredicate::OEQ, sum, zero, zero, r.sub(zero, quotient));
    }
    return Values{
        r.select(CmpFPredicate::OLT, r.get(4), r.get(5), gradient, zero)};
  };
  return f;
}

ErrorOr<RowWiseFormulas> tessera::getCtcFormulas(const RowWiseProblem &p) {
  auto make = [&](std::string_view roles,
                  RowWiseFormulas formulas) -> ErrorOr<RowWiseFormulas> {
    Status status = expectTensors(p, roles);
    if (status.isOk())
      status = expectMode(p, p.op == RowWiseKind::CtcGradient ? 2 : 1);
    if (!status.isOk())
      return status;
    return formulas;
  };
  switch (p.op) {
  case RowWiseKind::CtcGather:
    return make("iiir", getGather());
  case RowWiseKind::CtcStep:
    return make("iiiiiio", getStep());
  case RowWiseKind::CtcLoss:
    return make("iir", getLoss());
  case RowWiseKind::CtcOccupancy:
    return make("iiiiiio", getOccupancy());
  default:
    return make("iiiiiir", getGradient(p.mode == 0));
  }
}
