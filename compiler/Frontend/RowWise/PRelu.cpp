//===- PRelu.cpp - Gradients of the parametric ReLU -----------------------===//

#include "compiler/Frontend/RowWise/RowWiseFormulas.h"
#include "runtime/Base/RowWiseKind.h"

using namespace mlir;
using namespace tessera;

using Values = SmallVector<Value>;

/// Returns `above` where x > 0, else `below`.
static Value whereAbove(RowRegion &r, Value above, Value below) {
  return r.whereAboveZero(r.get(0), above, below);
}

/// The tensors are x, w, dy, and one or both of dw and dx. An element of dw is
/// the sum over all elements that share a slope.
ErrorOr<RowWiseFormulas> tessera::getPReluFormulas(const RowWiseProblem &p) {
  const bool hasDw =
      p.tensorCount > 3 && p.tensors[3].role == RowRole::RowOutput;
  const bool hasDx = p.tensors[p.tensorCount - 1].role == RowRole::Output;
  if (Status status =
          expectTensors(p, hasDw ? hasDx ? "iiiro" : "iiir" : "iiio");
      !status.isOk())
    return status;
  RowWiseFormulas formulas;
  if (hasDw) {
    formulas.reductions.push_back(
        {{dnn::ReduceKind::Sum}, [](RowRegion &r) -> Values {
           return {whereAbove(r, r.constant(0), r.mul(r.get(2), r.get(0)))};
         }});
    formulas.row = [](RowRegion &r) -> Values {
      return {r.toTensor(3, r.result(0))};
    };
  }
  if (hasDx)
    formulas.map = [p](RowRegion &r) -> Values {
      Value below = r.mul(r.get(2), r.get(1));
      return {r.toTensor(p.tensorCount - 1, whereAbove(r, r.get(2), below))};
    };
  return formulas;
}
