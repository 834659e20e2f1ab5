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
