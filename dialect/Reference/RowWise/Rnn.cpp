//===- Rnn.cpp - One step of a recurrent network --------------------------===//

#include "dialect/Reference/RowWise/RowWiseEvaluators.h"

#include <initializer_list>

using namespace tessera::reference;

static Approx getLogistic(Approx v) {
  return Approx(1) / (Approx(1) + exp(-v));
}
static Approx getTanh(Approx v) {
  const Approx power = exp(v + v);
  if (std::isinf(power.value))
    return 1;
  return Approx(1) - Approx(2) / (power + Approx(1));
}

/// Sets the outputs, which begin with tensor `first`.
static void setAll(Row &row, int64_t i, int first,
                   std::initializer_list<Approx> values) {
  for (Approx value : values)
    row.set(first++, i, value);
}

/// The sum of the products of the elements of two tensors.
static Approx multiplyRows(const Row &row, int a, int b) {
  ApproxSum sum;
  for (int64_t k = 0; k < row.getLength(); ++k)
    sum.add(Approx(row.get(a, k)) * row.get(b, k));
  return sum.get();
}

/// Sets the row outputs, which begin with tensor `first`.
static void setRow(Row &row, int first, std::initializer_list<Approx> values) {
  for (Approx value : values)
    row.set(first++, value);
}

/// The tensors are the sum a of the products, h, and the new h, the same once
/// more for the running state, and in modes 2 and 3 the new h and the old one
/// to keep. Odd modes have tanh, the others max(0, a).
void tessera::reference::evaluateRnnForward(Row &row) {
  for (int64_t i = 0; i < row.getLength(); ++i) {
    const Approx a = row.get(0, i);
    const Approx h = row.getMode() & 1 ? getTanh(a) : max(a, 0);
    setAll(row, i, 2, {h, h});
    if (row.getMode() >= 2)
      setAll(row, i, 4, {h, row.get(1, i)});
  }
}

/// The tensors are the new h, the gradients of it that come from the output and
/// from the next step, and the gradient of a.
void tessera::reference::evaluateRnnBackward(Row &row) {
  for (int64_t i = 0; i < row.getLength(); ++i) {
    const Approx h = row.get(0, i);
    const Approx dh = Approx(row.get(1, i)) + row.get(2, i);
    row.set(3, i,
            row.getMode() == 1 ? dh * (Approx(1) - h * h)
                               : selectPositive(h, dh, 0));
  }
}

/// The inputs are the sums of the gates i, f, o and g, c, and in mode 1 h. The
/// outputs are the gates in mode 1, the new c, the new h twice, and in mode 1
/// the old c and h.
void tessera::reference::evaluateLstmForward(Row &row) {
  const bool keeps = row.getMode() == 1;
  for (int64_t k = 0; k < row.getLength(); ++k) {
    const Approx i = getLogistic(row.get(0, k)), f = getLogistic(row.get(1, k));
    const Approx o = getLogistic(row.get(2, k)), g = getTanh(row.get(3, k));
    const Approx c = f * row.get(4, k) + i * g;
    const Approx h = o * getTanh(c);
    if (!keeps) {
      setAll(row, k, 5, {c, h, h});
      continue;
    }
    setAll(row, k, 6, {i, f, o, g, c, h, h, row.get(4, k), row.get(5, k)});
  }
}

/// The inputs are the gates i, f, o and g, the old c, the gradients of h from
/// the output and from the next step, and that of the new c. The outputs are
/// the gradients of the sums and of the old c.
void tessera::reference::evaluateLstmBackward(Row &row) {
  for (int64_t k = 0; k < row.getLength(); ++k) {
    auto get = [&](int tensor) { return Approx(row.get(tensor, k)); };
    const Approx i = get(0), f = get(1), o = get(2), g = get(3), old = get(4);
    const Approx dh = get(5) + get(6), one = 1;
    const Approx tanhC = getTanh(f * old + i * g);
    const Approx dc = get(7) + dh * o * (one - tanhC * tanhC);
    setAll(row, k, 8,
           {dc * g * (i * (one - i)), dc * old * (f * (one - f)),
            dh * tanhC * (o * (one - o)), dc * i * (one - g * g), dc * f});
  }
}

/// The inputs are the products with the input for z, r and n, those with h, and
/// h. The outputs are z, r, n and the product of n with h in mode 1, the new h
/// twice, and in mode 1 the old h.
void tessera::reference::evaluateGruForward(Row &row) {
  for (int64_t k = 0; k < row.getLength(); ++k) {
    auto get = [&](int tensor) { return Approx(row.get(tensor, k)); };
    const Approx z = getLogistic(get(0) + get(3));
    const Approx r = getLogistic(get(1) + get(4));
    const Approx n = getTanh(get(2) + r * get(5));
    const Approx h = n + z * (get(6) - n);
    if (row.getMode() == 0)
      setAll(row, k, 7, {h, h});
    else
      setAll(row, k, 7, {z, r, n, get(5), h, h, get(6)});
  }
}

/// The inputs are z, r, n, the product of n with h, the old h, and the
/// gradients of h from the output and from the next step. The outputs are the
/// gradients of the products with the input, of those with h, and what z passes
/// on to the old h.
void tessera::reference::evaluateGruBackward(Row &row) {
  for (int64_t k = 0; k < row.getLength(); ++k) {
    auto get = [&](int tensor) { return Approx(row.get(tensor, k)); };
    const Approx z = get(0), r = get(1), n = get(2), one = 1;
    const Approx dh = get(5) + get(6);
    const Approx dn = dh * (one - z) * (one - n * n);
    const Approx dz = dh * (get(4) - n) * (z * (one - z));
    const Approx dr = dn * get(3) * (r * (one - r));
    setAll(row, k, 7, {dz, dr, dn, dz, dr, dn * r, dh * z});
  }
}

//===----------------------------------------------------------------------===//
// Whole steps: tensor 0 is multiplied by the next ones, element by element
//===----------------------------------------------------------------------===//

/// The mode without what it says of a launch of all steps.
static uint32_t getStepMode(const Row &row) { return row.getMode() & 7; }

std::vector<CarriedTensors>
tessera::reference::findCarried(std::string_view operation, uint32_t mode) {
  const bool keeps = mode & 7;
  if (!(mode & kAllStepsBit))
    return {};
  if (operation == "rnn_step")
    return {{0, {3}}};
  if (operation == "rnn_step_bwd")
    return {{0, {4}}};
  if (operation == "lstm_step")
    return keeps ? std::vector<CarriedTensors>{{0, {15}}, {9, {14}}}
                 : std::vector<CarriedTensors>{{0, {11}}, {9, {10}}};
  if (operation == "lstm_step_bwd")
    return {{0, {9, 10, 11, 12}}, {8, {13}}};
  if (operation == "gru_step")
    return keeps ? std::vector<CarriedTensors>{{0, {13}}, {8, {13}}}
                 : std::vector<CarriedTensors>{{0, {9}}, {8, {9}}};
  if (operation == "gru_step_bwd")
    return {{0, {12, 13, 14}}, {8, {15}}};
  return {};
}

/// The tensors are h, weights, the product with the input, the new h, and in
/// modes 2 and 3 the same to keep.
void tessera::reference::evaluateRnnStep(Row &row) {
  const Approx a = Approx(row.get(2)) + multiplyRows(row, 0, 1);
  const Approx h = getStepMode(row) & 1 ? getTanh(a) : max(a, 0);
  row.set(3, h);
  if (getStepMode(row) >= 2)
    row.set(4, h);
}

/// The tensors are da of the next step, weights, the new h, the gradient of it
/// that comes from the output, and da.
void tessera::reference::evaluateRnnStepBackward(Row &row) {
  const Approx h = row.get(2);
  const Approx dh = Approx(row.get(3)) + multiplyRows(row, 0, 1);
  row.set(4, getStepMode(row) == 1 ? dh * (Approx(1) - h * h)
                                   : selectPositive(h, dh, 0));
}

/// The inputs are h, the weights of i, f, o and g, their products with the
/// input, and c. The outputs are the gates in mode 1, the new c and the new h.
void tessera::reference::evaluateLstmStep(Row &row) {
  auto getSum = [&](int gate) {
    return multiplyRows(row, 0, 1 + gate) + row.get(5 + gate);
  };
  const Approx i = getLogistic(getSum(0)), f = getLogistic(getSum(1));
  const Approx o = getLogistic(getSum(2)), g = getTanh(getSum(3));
  const Approx c = f * row.getState(9) + i * g;
  const Approx h = o * getTanh(c);
  if (getStepMode(row) == 1)
    setRow(row, 10, {i, f, o, g, c, h});
  else
    setRow(row, 10, {c, h});
}

/// The inputs are the gradients of the next step's sums, weights, the gates,
/// the old c, the gradient of h from the output, and that of the new c. The
/// outputs are the gradients of the sums and of the old c.
void tessera::reference::evaluateLstmStepBackward(Row &row) {
  const Approx i = row.get(2), f = row.get(3), o = row.get(4), g = row.get(5);
  const Approx old = row.get(6), one = 1;
  const Approx dh = multiplyRows(row, 0, 1) + row.get(7);
  const Approx tanhC = getTanh(f * old + i * g);
  const Approx dc = row.getState(8) + dh * o * (one - tanhC * tanhC);
  setRow(row, 9,
         {dc * g * (i * (one - i)), dc * old * (f * (one - f)),
          dh * tanhC * (o * (one - o)), dc * i * (one - g * g), dc * f});
}

/// The inputs are h, the weights of z, r and n, their products with the input,
/// the bias of n, and the unit's own h. The outputs are z, r, n and the product
/// of n with h in mode 1, and the new h.
void tessera::reference::evaluateGruStep(Row &row) {
  const Approx product = multiplyRows(row, 0, 3) + row.get(7);
  const Approx z = getLogistic(multiplyRows(row, 0, 1) + row.get(4));
  const Approx r = getLogistic(multiplyRows(row, 0, 2) + row.get(5));
  const Approx n = getTanh(Approx(row.get(6)) + r * product);
  const Approx h = n + z * (Approx(row.get(8)) - n);
  if (getStepMode(row) == 1)
    setRow(row, 9, {z, r, n, product, h});
  else
    row.set(9, h);
}

/// The inputs are the gradients of the next step's products with h, weights, z,
/// r, n, the product of n, the old h, the gradient of the new h from the
/// output, and what z of the next step passes on. The outputs are those of
/// evaluateGruBackward().
void tessera::reference::evaluateGruStepBackward(Row &row) {
  const Approx z = row.get(2), r = row.get(3), n = row.get(4), one = 1;
  const Approx dh = multiplyRows(row, 0, 1) + row.get(7) + row.getState(8);
  const Approx dn = dh * (one - z) * (one - n * n);
  const Approx dz = dh * (Approx(row.get(6)) - n) * (z * (one - z));
  const Approx dr = dn * row.get(5) * (r * (one - r));
  setRow(row, 9, {dz, dr, dn, dz, dr, dn * r, dh * z});
}
