//===- Rope.cpp - Rotary positional embedding -----------------------------===//

#include "compiler/Frontend/Rows/RowFormulas.h"
#include "runtime/Base/RowOp.h"

using namespace mlir;
using namespace tessera;

using Values = SmallVector<Value>;

/// Tensors a, b, their cosines, their sines, and a, b turned. Mode 1 turns
/// back: the gradient of mode 0, in which each has the other's sine.
ErrorOr<RowFormulas> tessera::getRopeFormulas(const RowProblem &p) {
  Status status = expectTensors(p, "iiiiiioo");
  if (status.isOk())
    status = expectMode(p, 2);
  if (!status.isOk())
    return status;
  RowFormulas formulas;
  formulas.map = [isBack = p.mode == 1](RowRegion &r) -> Values {
    Value a = r.get(0), b = r.get(1);
    Value left = r.mul(a, r.get(2)), right = r.mul(b, r.get(3));
    if (isBack)
      return {r.toTensor(6, r.add(left, r.mul(b, r.get(5)))),
              r.toTensor(7, r.sub(right, r.mul(a, r.get(4))))};
    return {r.toTensor(6, r.sub(left, r.mul(b, r.get(4)))),
            r.toTensor(7, r.add(right, r.mul(a, r.get(5))))};
  };
  return formulas;
}
