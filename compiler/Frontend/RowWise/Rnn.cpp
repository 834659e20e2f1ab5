//===- Rnn.cpp - One step of a recurrent network --------------------------===//
//
// The products with the weights are convolutions; these formulas are what
// follows them in a step, for each hidden unit of each sequence, and the
// gradients of that (docs/spec/row-wise.md). Mode bits say what training keeps
// beside the results.
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

/// Rounds the values to the outputs, which begin with tensor `first`.
static Values toTensors(RowRegion &r, int first, ArrayRef<Value> values) {
  Values results;
  for (Value value : values)
    results.push_back(
        r.toTensor(first + static_cast<int>(results.size()), value));
  return results;
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

static RegionFormula getLstmForward(const RowWiseProblem &p) {
  return [keeps = p.mode == 1](RowRegion &r) -> Values {
    Value i = logistic(r, r.get(0)), f = logistic(r, r.get(1));
    Value o = logistic(r, r.get(2)), g = tanh(r, r.get(3));
    Value c = r.add(r.mul(f, r.get(4)), r.mul(i, g));
    Value h = r.mul(o, tanh(r, c));
    if (keeps)
      return toTensors(r, 6, {i, f, o, g, c, h, h, r.get(4), r.get(5)});
    return toTensors(r, 5, {c, h, h});
  };
}

static Values buildLstmBackward(RowRegion &r) {
  Value i = r.get(0), f = r.get(1), o = r.get(2), g = r.get(3), old = r.get(4);
  Value dh = r.add(r.get(5), r.get(6));
  // The new cell state is computed again instead of being kept.
  Value tanhC = tanh(r, r.add(r.mul(f, old), r.mul(i, g)));
  Value dc = r.add(r.get(7), mulTanhSlope(r, r.mul(dh, o), tanhC));
  return toTensors(r, 8,
                   {mulLogisticSlope(r, r.mul(dc, g), i),
                    mulLogisticSlope(r, r.mul(dc, old), f),
                    mulLogisticSlope(r, r.mul(dh, tanhC), o),
                    mulTanhSlope(r, r.mul(dc, i), g), r.mul(dc, f)});
}

static RegionFormula getGruForward(const RowWiseProblem &p) {
  return [keeps = p.mode == 1](RowRegion &r) -> Values {
    Value z = logistic(r, r.add(r.get(0), r.get(3)));
    Value reset = logistic(r, r.add(r.get(1), r.get(4)));
    Value n = tanh(r, r.add(r.get(2), r.mul(reset, r.get(5))));
    Value h = r.add(n, r.mul(z, r.sub(r.get(6), n)));
    if (keeps)
      return toTensors(r, 7, {z, reset, n, r.get(5), h, h, r.get(6)});
    return toTensors(r, 7, {h, h});
  };
}

static Values buildGruBackward(RowRegion &r) {
  Value z = r.get(0), reset = r.get(1), n = r.get(2), product = r.get(3);
  Value old = r.get(4), dh = r.add(r.get(5), r.get(6));
  Value dn = mulTanhSlope(r, r.mul(dh, r.sub(r.constant(1), z)), n);
  Value dz = mulLogisticSlope(r, r.mul(dh, r.sub(old, n)), z);
  Value dreset = mulLogisticSlope(r, r.mul(dn, product), reset);
  return toTensors(
      r, 7, {dz, dreset, dn, dz, dreset, r.mul(dn, reset), r.mul(dh, z)});
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
  default:
    return make(p, 1, "iiiiiiiooooooo", buildGruBackward);
  }
}
