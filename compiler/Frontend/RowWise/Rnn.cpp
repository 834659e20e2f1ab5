//===- Rnn.cpp - One step of a recurrent network --------------------------===//
//
// These formulas are what follows the products with the weights in a step, for
// each hidden unit of each sequence, and the gradients of that
// (docs/spec/row-wise.md). Mode bits say what training keeps beside the
// results. The formulas of whole steps reduce the product with the hidden state
// too: a row is a unit of a sequence, its elements are those of the state.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/ActivationFormulas.h"
#include "compiler/Frontend/RowWise/RowWiseFormulas.h"
#include "runtime/Base/RowWiseKind.h"

using namespace mlir;
using namespace tessera;

using Values = SmallVector<Value>;

static Value activate(RowRegion &r, Activation activation, Value value) {
  return buildActivation(r, activation, value,
                         [&](int) { return r.constant(1); });
}
static Value logistic(RowRegion &r, Value value) {
  return activate(r, Activation::Logistic, value);
}
static Value tanh(RowRegion &r, Value value) {
  return activate(r, Activation::Tanh, value);
}
/// gradient y (1 - y), where y is a logistic function.
static Value mulLogisticSlope(RowRegion &r, Value gradient, Value y) {
  return r.mul(gradient, r.mul(y, r.sub(r.constant(1), y)));
}
/// gradient (1 - y y), where y is a hyperbolic tangent.
static Value mulTanhSlope(RowRegion &r, Value gradient, Value y) {
  return r.mul(gradient, r.sub(r.constant(1), r.mul(y, y)));
}

/// Sums of the products of tensor `first` with each of the `count` next ones.
static RowReduction reduceProducts(int first, int count) {
  RowReduction reduction;
  reduction.kinds.assign(count, dnn::ReduceKind::Sum);
  reduction.formula = [=](RowRegion &r) {
    Values products;
    for (int i = 1; i <= count; ++i)
      products.push_back(r.mul(r.get(first), r.get(first + i)));
    return products;
  };
  return reduction;
}

/// Rounds the values to the outputs, which begin with tensor `first`.
static Values toTensors(RowRegion &r, int first, ArrayRef<Value> values) {
  Values results;
  for (Value value : values)
    results.push_back(
        r.toTensor(first + static_cast<int>(results.size()), value));
  return results;
}

/// The mode without what it says of a launch of all steps.
static uint32_t getStepMode(const RowWiseProblem &p) {
  return hasSteps(p) ? p.mode & ~(kAllSteps | kDescendingSteps) : p.mode;
}

/// Activation of a vanilla network: bit 0 of the mode.
static Activation getVanillaActivation(const RowWiseProblem &p) {
  return p.mode & 1 ? Activation::Tanh : Activation::Relu;
}

static RegionFormula getVanillaForward(const RowWiseProblem &p) {
  return [activation = getVanillaActivation(p),
          keeps = p.mode >= 2](RowRegion &r) -> Values {
    Value h = activate(r, activation, r.get(0));
    if (keeps)
      return toTensors(r, 2, {h, h, h, r.get(1)});
    return toTensors(r, 2, {h, h});
  };
}

static RegionFormula getVanillaBackward(const RowWiseProblem &p) {
  return [isTanh = p.mode == 1](RowRegion &r) -> Values {
    Value y = r.get(0), dh = r.add(r.get(1), r.get(2));
    Value da = isTanh ? mulTanhSlope(r, dh, y)
                      : r.whereAboveZero(y, dh, r.constant(0));
    return toTensors(r, 3, {da});
  };
}

/// The gates i, f, o and g of their sums, and the new c and h.
static Values buildLstm(RowRegion &r, ArrayRef<Value> sums, Value oldC) {
  Value i = logistic(r, sums[0]), f = logistic(r, sums[1]);
  Value o = logistic(r, sums[2]), g = tanh(r, sums[3]);
  Value c = r.add(r.mul(f, oldC), r.mul(i, g));
  return {i, f, o, g, c, r.mul(o, tanh(r, c))};
}

static RegionFormula getLstmForward(const RowWiseProblem &p) {
  return [keeps = p.mode == 1](RowRegion &r) -> Values {
    const Values all =
        buildLstm(r, {r.get(0), r.get(1), r.get(2), r.get(3)}, r.get(4));
    Value i = all[0], f = all[1], o = all[2], g = all[3], c = all[4];
    Value h = all[5];
    if (keeps)
      return toTensors(r, 6, {i, f, o, g, c, h, h, r.get(4), r.get(5)});
    return toTensors(r, 5, {c, h, h});
  };
}

/// The gradients of the sums and of the old c. The tensors from `first` on are
/// the gates and the old c; `dh` and `dNewC` are the gradients of the states.
static Values buildLstmGradients(RowRegion &r, int first, Value dh,
                                 Value dNewC) {
  Value i = r.get(first), f = r.get(first + 1), o = r.get(first + 2);
  Value g = r.get(first + 3), old = r.get(first + 4);
  // The new cell state is computed again instead of being kept.
  Value tanhC = tanh(r, r.add(r.mul(f, old), r.mul(i, g)));
  Value dc = r.add(dNewC, mulTanhSlope(r, r.mul(dh, o), tanhC));
  return {mulLogisticSlope(r, r.mul(dc, g), i),
          mulLogisticSlope(r, r.mul(dc, old), f),
          mulLogisticSlope(r, r.mul(dh, tanhC), o),
          mulTanhSlope(r, r.mul(dc, i), g), r.mul(dc, f)};
}

static Values buildLstmBackward(RowRegion &r) {
  Value dh = r.add(r.get(5), r.get(6));
  return toTensors(r, 8, buildLstmGradients(r, 0, dh, r.get(7)));
}

/// The gates z, r and n, and the new h. The tensors from `first` on are the
/// products with the input; `products` are those with the hidden state.
static Values buildGru(RowRegion &r, int first, ArrayRef<Value> products,
                       Value oldH) {
  Value z = logistic(r, r.add(r.get(first), products[0]));
  Value reset = logistic(r, r.add(r.get(first + 1), products[1]));
  Value n = tanh(r, r.add(r.get(first + 2), r.mul(reset, products[2])));
  return {z, reset, n, r.add(n, r.mul(z, r.sub(oldH, n)))};
}

static RegionFormula getGruForward(const RowWiseProblem &p) {
  return [keeps = p.mode == 1](RowRegion &r) -> Values {
    const Values all = buildGru(r, 0, {r.get(3), r.get(4), r.get(5)}, r.get(6));
    Value z = all[0], reset = all[1], n = all[2], h = all[3];
    if (keeps)
      return toTensors(r, 7, {z, reset, n, r.get(5), h, h, r.get(6)});
    return toTensors(r, 7, {h, h});
  };
}

/// The gradients of the products with the input and of those with the hidden
/// state, and what z passes on. The tensors from `first` on are z, r, n, the
/// product of n and the old h; `dh` is the gradient of the new one.
static Values buildGruGradients(RowRegion &r, int first, Value dh) {
  Value z = r.get(first), reset = r.get(first + 1), n = r.get(first + 2);
  Value product = r.get(first + 3), old = r.get(first + 4);
  Value dn = mulTanhSlope(r, r.mul(dh, r.sub(r.constant(1), z)), n);
  Value dz = mulLogisticSlope(r, r.mul(dh, r.sub(old, n)), z);
  Value dreset = mulLogisticSlope(r, r.mul(dn, product), reset);
  return {dz, dreset, dn, dz, dreset, r.mul(dn, reset), r.mul(dh, z)};
}

static Values buildGruBackward(RowRegion &r) {
  return toTensors(r, 7, buildGruGradients(r, 0, r.add(r.get(5), r.get(6))));
}

//===----------------------------------------------------------------------===//
// Whole steps
//===----------------------------------------------------------------------===//

static RegionFormula getVanillaStep(const RowWiseProblem &p) {
  return [activation = getVanillaActivation(p),
          keeps = getStepMode(p) >= 2](RowRegion &r) -> Values {
    Value h = activate(r, activation, r.add(r.get(2), r.result(0)));
    return toTensors(r, 3, keeps ? Values{h, h} : Values{h});
  };
}

static RegionFormula getVanillaStepBackward(const RowWiseProblem &p) {
  return [isTanh = getStepMode(p) == 1](RowRegion &r) -> Values {
    Value y = r.get(2), dh = r.add(r.get(3), r.result(0));
    return toTensors(r, 4,
                     {isTanh ? mulTanhSlope(r, dh, y)
                             : r.whereAboveZero(y, dh, r.constant(0))});
  };
}

static RegionFormula getLstmStep(const RowWiseProblem &p) {
  return [keeps = getStepMode(p) == 1](RowRegion &r) -> Values {
    Values sums;
    for (int gate = 0; gate < 4; ++gate)
      sums.push_back(r.add(r.get(5 + gate), r.result(gate)));
    const Values all = buildLstm(r, sums, r.get(9));
    return toTensors(r, 10,
                     keeps ? ArrayRef(all) : ArrayRef(all).drop_front(4));
  };
}

static Values buildLstmStepBackward(RowRegion &r) {
  Value dh = r.add(r.get(7), r.result(0));
  return toTensors(r, 9, buildLstmGradients(r, 2, dh, r.get(8)));
}

static RegionFormula getGruStep(const RowWiseProblem &p) {
  return [keeps = getStepMode(p) == 1](RowRegion &r) -> Values {
    Value product = r.add(r.result(2), r.get(7));
    const Values all =
        buildGru(r, 4, {r.result(0), r.result(1), product}, r.get(8));
    if (keeps)
      return toTensors(r, 9, {all[0], all[1], all[2], product, all[3]});
    return toTensors(r, 9, {all[3]});
  };
}

static Values buildGruStepBackward(RowRegion &r) {
  Value dh = r.add(r.add(r.get(7), r.get(8)), r.result(0));
  return toTensors(r, 9, buildGruGradients(r, 2, dh));
}

/// Checks the tensors and the modes, of which there are `modes`.
static ErrorOr<RowWiseFormulas> make(const RowWiseProblem &p, uint32_t modes,
                                     std::string_view roles,
                                     RegionFormula map) {
  Status status = expectMode(p, modes);
  if (status.isOk())
    status = expectTensors(p, roles);
  if (!status.isOk())
    return status;
  RowWiseFormulas formulas;
  formulas.map = std::move(map);
  return formulas;
}

using Carried = SmallVector<SmallVector<int64_t>>;

/// The same for a whole step, which reduces the products of tensor 0 with each
/// of the `count` next ones, and for a launch of all steps, which hand on what
/// `carried` says.
static ErrorOr<RowWiseFormulas> makeStep(RowWiseProblem p, uint32_t modes,
                                         int count, std::string_view roles,
                                         RegionFormula row, Carried carried) {
  const bool isAll = hasSteps(p);
  p.mode = getStepMode(p);
  ErrorOr<RowWiseFormulas> formulas = make(p, modes, roles, nullptr);
  if (formulas) {
    formulas->reductions.push_back(reduceProducts(0, count));
    formulas->row = std::move(row);
    if (isAll)
      formulas->carried = std::move(carried);
  }
  return formulas;
}

ErrorOr<RowWiseFormulas> tessera::getRnnFormulas(const RowWiseProblem &p) {
  switch (p.op) {
  case RowWiseKind::RnnForward:
    return make(p, 4, p.mode < 2 ? "iioo" : "iioooo", getVanillaForward(p));
  case RowWiseKind::RnnBackward:
    return make(p, 2, "iiio", getVanillaBackward(p));
  case RowWiseKind::LstmForward:
    return make(p, 2, p.mode == 0 ? "iiiiiooo" : "iiiiiiooooooooo",
                getLstmForward(p));
  case RowWiseKind::LstmBackward:
    return make(p, 1, "iiiiiiiiooooo", buildLstmBackward);
  case RowWiseKind::GruForward:
    return make(p, 2, p.mode == 0 ? "iiiiiiioo" : "iiiiiiiooooooo",
                getGruForward(p));
  case RowWiseKind::GruBackward:
    return make(p, 1, "iiiiiiiooooooo", buildGruBackward);
  case RowWiseKind::RnnStep:
    return makeStep(p, 4, 1, getStepMode(p) < 2 ? "iiir" : "iiirr",
                    getVanillaStep(p), {{0, 0}});
  case RowWiseKind::RnnStepBackward:
    return makeStep(p, 2, 1, "iiiir", getVanillaStepBackward(p), {{0, 0}});
  case RowWiseKind::LstmStep:
    return getStepMode(p) == 0 ? makeStep(p, 2, 4, "iiiiiiiiiirr",
                                          getLstmStep(p), {{0, 1}, {9, 0}})
                               : makeStep(p, 2, 4, "iiiiiiiiiirrrrrr",
                                          getLstmStep(p), {{0, 5}, {9, 4}});
  case RowWiseKind::LstmStepBackward:
    return makeStep(p, 1, 1, "iiiiiiiiirrrrr", buildLstmStepBackward,
                    {{0, 0, 1, 2, 3}, {8, 4}});
  case RowWiseKind::GruStep:
    return getStepMode(p) == 0 ? makeStep(p, 2, 3, "iiiiiiiiir", getGruStep(p),
                                          {{0, 0}, {8, 0}})
                               : makeStep(p, 2, 3, "iiiiiiiiirrrrr",
                                          getGruStep(p), {{0, 4}, {8, 4}});
  default:
    return makeStep(p, 1, 1, "iiiiiiiiirrrrrrr", buildGruStepBackward,
                    {{0, 3, 4, 5}, {8, 6}});
  }
}
