//===- Glu.cpp - Gated linear units ---------------------------------------===//
//
// y = a logistic(b), where a and b are the halves of one tensor.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/ActivationFormulas.h"
#include "compiler/Frontend/RowWise/RowWiseFormulas.h"
#include "runtime/Base/RowWiseKind.h"

using namespace mlir;
using namespace tessera;

using Values = SmallVector<Value>;

static Value getGate(RowRegion &r) {
  return buildActivation(r, Activation::Logistic, r.get(1),
                         [](int) { return Value(); });
}

ErrorOr<RowWiseFormulas> tessera::getGluFormulas(const RowWiseProblem &p) {
  const bool isForward = p.op == RowWiseKind::GluForward;
  if (Status status = expectTensors(p, isForward ? "iio" : "iiioo");
      !status.isOk())
    return status;
  RowWiseFormulas formulas;
  if (isForward)
    formulas.map = [](RowRegion &r) -> Values {
      return {r.toTensor(2, r.mul(r.get(0), getGate(r)))};
    };
  else
    formulas.map = [](RowRegion &r) -> Values {
      Value gate = getGate(r);
      Value da = r.mul(r.get(2), gate);
      Value slope = r.mul(r.sub(r.constant(1), gate), r.get(0));
      return {r.toTensor(3, da), r.toTensor(4, r.mul(da, slope))};
    };
  return formulas;
}
