//===- Rope.cpp - Rotary positional embedding -----------------------------===//

#include "compiler/Frontend/RowWise/RowWiseFormulas.h"
#include "runtime/Base/RowWiseKind.h"

using namespace mlir;
using namespace tessera;

using Values = SmallVector<Value>;

/// The tensors are a, b, their cosines, their sines, and the rotated a and b.
/// Mode 1 is the inverse rotation, the gradient of mode 0, in which each uses
/// the sine of the other.
ErrorOr<RowWiseFormulas> tessera::getRopeFormulas(const RowWiseProblem &p) {
  Status status = expectTensors(p, "iiiiiioo");
  if (status.isOk())
    status = expectMode(p, 2);
  if (!status.isOk())
    return status;
  RowWiseFormulas formulas;
  formulas.map = [isInverse = p.mode == 1](RowRegion &r) -> Values {
    Value a = r.get(0), b = r.get(1);
    Value first = r.mul(a, r.get(2)), second = r.mul(b, r.get(3));
    if (isInverse)
      return {r.toTensor(6, r.add(first, r.mul(b, r.get(5)))),
              r.toTensor(7, r.sub(second, r.mul(a, r.get(4))))};
    return {r.toTensor(6, r.sub(first, r.mul(b, r.get(4)))),
            r.toTensor(7, r.add(second, r.mul(a, r.get(5))))};
  };
  return formulas;
}
