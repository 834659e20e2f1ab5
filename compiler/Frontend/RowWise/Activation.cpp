//===- Activation.cpp - Activations and their gradients -------------------===//
//
// The problem's mode is the Activation; the scalars are its parameters a, b, c.
// Integers are computed in f64 and rounded.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/ActivationFormulas.h"
#include "compiler/Frontend/RowWise/RowWiseFormulas.h"
#include "runtime/Base/RowWiseKind.h"

using namespace mlir;
using namespace tessera;

static Status checkActivation(const RowWiseProblem &p) {
  const bool isForward = p.op == RowWiseKind::ActivationForward;
  Status status = expectTensors(p, isForward ? "io" : "iiio");
  if (status.isOk())
    status = expectMode(p, static_cast<uint32_t>(Activation::Clamp) + 1);
  if (status.isOk())
    status = rejectI64(p);
  return status;
}

ErrorOr<RowWiseFormulas>
tessera::getActivationFormulas(const RowWiseProblem &p) {
  if (Status status = checkActivation(p); !status.isOk())
    return status;
  const auto activation = static_cast<Activation>(p.mode);
  RowWiseFormulas formulas;
  formulas.scalarCount = countParameters(activation);
  const bool isForward = p.op == RowWiseKind::ActivationForward;
  const bool hasIntegers = tessera::hasIntegers(p);
  formulas.map = [=](RowRegion &r) -> SmallVector<Value> {
    FloatBuilder f = getArithmetic(r, hasIntegers);
    auto get = [&](int tensor) { return f.convert(r.input(tensor)); };
    auto parameter = [&](int i) { return r.scalar(i); };
    if (isForward)
      return {r.toTensor(1, buildActivation(f, activation, get(0), parameter))};
    Value x = get(0), y = get(1), dy = get(2);
    return {r.toTensor(
        3, buildActivationGradient(f, activation, x, y, dy, parameter))};
  };
  return formulas;
}
