//===- Activation.cpp - Activations and their gradients -------------------===//
//
// The problem's mode is the Activation; the scalars are its parameters a, b, c.
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
  return status;
}

ErrorOr<RowWiseFormulas>
tessera::getActivationFormulas(const RowWiseProblem &p) {
  if (Status status = checkActivation(p); !status.isOk())
    return status;
  const auto activation = static_cast<Activation>(p.mode);
  RowWiseFormulas formulas;
  formulas.scalarCount = countParameters(activation);
  if (p.op == RowWiseKind::ActivationForward)
    formulas.map = [](RowRegion &r) -> SmallVector<Value> {
      return {r.toTensor(1, r.activateByMode(0, r.get(0)))};
    };
  else
    formulas.map = [activation](RowRegion &r) -> SmallVector<Value> {
      Value dx =
          buildActivationGradient(r, activation, r.get(0), r.get(1), r.get(2),
                                  [&](int i) { return r.scalar(i); });
      return {r.toTensor(3, dx)};
    };
  return formulas;
}
