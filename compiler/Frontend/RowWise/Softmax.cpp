//===- Softmax.cpp - Softmax and its gradient -----------------------------===//
//
// The mode is MIOpen's algorithm; the scalars are alpha and beta. If beta is
// not zero, the old result is an additional input.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/RowWise/RowWiseFormulas.h"
#include "runtime/Base/RowWiseKind.h"

using namespace mlir;
using namespace tessera;

using Values = SmallVector<Value>;

namespace {
enum SoftmaxMode : uint32_t { kFast, kAccurate, kLog, kModes };
} // namespace

/// Returns alpha times `value`, plus beta times the old element of tensor `old`
/// if this is not negative.
static Value scale(RowRegion &r, Value value, int old, int output) {
  value = r.mul(r.scalar(0), value);
  if (old >= 0)
    value = r.add(value, r.mul(r.scalar(1), r.get(old)));
  return r.toTensor(output, value);
}

static RowWiseFormulas getForward(const RowWiseProblem &p) {
  const int output = p.tensorCount - 1, old = output == 2 ? 1 : -1;
  const bool isFast = p.mode == kFast, isLog = p.mode == kLog;
  // The row's maximum is subtracted, so that no exponential overflows.
  auto getExponent = [isFast](RowRegion &r) {
    return isFast ? r.get(0) : r.sub(r.get(0), r.result(0));
  };
  RowWiseFormulas f;
  f.scalarCount = 2;
  if (!isFast)
    f.reductions.push_back({{dnn::ReduceKind::MaxNum},
                            [](RowRegion &r) { return Values{r.get(0)}; }});
  f.reductions.push_back({{dnn::ReduceKind::Sum}, [=](RowRegion &r) {
                            return Values{r.exp(getExponent(r))};
                          }});
  f.row = [=](RowRegion &r) {
    Value sum = r.result(isFast ? 0 : 1);
    return Values{isLog ? r.log(sum) : r.div(r.constant(1), sum)};
  };
  f.map = [=](RowRegion &r) {
    Value exponent = getExponent(r);
    Value result = isLog ? r.sub(exponent, r.rowValue(0))
                         : r.mul(r.exp(exponent), r.rowValue(0));
    return Values{scale(r, result, old, output)};
  };
  return f;
}

/// The tensors are y, dy, the old dx if beta is not zero, and dx.
static RowWiseFormulas getBackward(const RowWiseProblem &p) {
  const int output = p.tensorCount - 1, old = output == 3 ? 2 : -1;
  const bool isLog = p.mode == kLog;
  RowWiseFormulas f;
  f.scalarCount = 2;
  f.reductions.push_back({{dnn::ReduceKind::Sum}, [=](RowRegion &r) {
                            return Values{isLog ? r.get(1)
                                                : r.mul(r.get(0), r.get(1))};
                          }});
  f.map = [=](RowRegion &r) {
    Value result =
        isLog ? r.sub(r.get(1), r.mul(r.result(0), r.exp(r.get(0))))
              : r.mul(r.get(0), r.sub(r.get(1), r.result(0)));
    return Values{scale(r, result, old, output)};
  };
  return f;
}

ErrorOr<RowWiseFormulas> tessera::getSoftmaxFormulas(const RowWiseProblem &p) {
  const bool isForward = p.op == RowWiseKind::SoftmaxForward;
  Status status = p.tensorCount == (isForward ? 2 : 3)
                      ? expectTensors(p, isForward ? "io" : "iio")
                      : expectTensors(p, isForward ? "iio" : "iiio");
  if (status.isOk())
    status = expectMode(p, kModes);
  if (!status.isOk())
    return status;
  return isForward ? getForward(p) : getBackward(p);
}
