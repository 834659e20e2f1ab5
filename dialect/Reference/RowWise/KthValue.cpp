//===- KthValue.cpp - The k-th smallest element of a row ------------------===//

#include "dialect/Reference/RowWise/RowWiseEvaluators.h"

#include <cstring>

using namespace tessera::reference;

/// The key of an element: see docs/spec/row-wise.md.
static uint32_t getKey(double x) {
  if (std::isnan(x))
    return UINT32_MAX;
  const float number = x == 0 ? 0.0f : static_cast<float>(x);
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  return bits >> 31 ? ~bits : bits | 0x80000000;
}

static uint32_t getWord(const Row &row, int tensor) {
  return static_cast<uint32_t>(static_cast<int64_t>(row.get(tensor)));
}

static double toInteger(uint32_t word) { return static_cast<int32_t>(word); }

/// The tensors are x, the upper bits of the key and k, and both after the bit
/// that the scalar names.
void tessera::reference::evaluateKthStep(Row &row) {
  const auto bit = static_cast<uint32_t>(row.getScalar(0));
  const uint32_t key = getWord(row, 1), k = getWord(row, 2);
  uint32_t count = 0;
  for (int64_t i = 0; i < row.getLength(); ++i)
    count += getKey(row.get(0, i)) >> bit == key >> bit;
  row.set(3, toInteger(k <= count ? key : key | 1u << bit));
  row.set(4, toInteger(k <= count ? k : k - count));
}

/// The tensors are x, the key, its element and the index of the first one, or 0
/// if there is none.
void tessera::reference::evaluateKthFind(Row &row) {
  const uint32_t key = getWord(row, 1);
  const uint32_t bits = key >> 31 ? key ^ 0x80000000 : ~key;
  float number;
  std::memcpy(&number, &bits, sizeof number);
  int64_t index = 0;
  for (int64_t i = row.getLength() - 1; i >= 0; --i)
    if (getKey(row.get(0, i)) == key)
      index = i;
  row.set(2, number);
  row.set(3, static_cast<double>(index));
}
