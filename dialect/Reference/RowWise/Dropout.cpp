//===- Dropout.cpp - Elements left out at random --------------------------===//
//
// The generator of docs/spec/row-wise.md, implemented a second time.
//
//===----------------------------------------------------------------------===//

#include "dialect/Reference/RowWise/RowWiseEvaluators.h"

#include <cstring>

using namespace tessera::reference;

/// Returns the only element of an i64 tensor. A double could not hold every
/// value.
static uint64_t getWord(const Row &row, int tensor) {
  uint64_t word;
  std::memcpy(&word, row.getTensor(tensor).data, sizeof word);
  return word;
}

/// Every bit of the result depends on every bit of `h`.
static uint32_t mix(uint32_t h) {
  h = (h ^ h >> 16) * 0x85ebca6b;
  h = (h ^ h >> 13) * 0xc2b2ae35;
  return h ^ h >> 16;
}

/// Returns number `index` of the sequence of `seed`, in [0, 1).
static double getUniform(uint64_t seed, uint64_t index) {
  const auto low = static_cast<uint32_t>(index);
  const auto high = static_cast<uint32_t>(index >> 32);
  uint32_t h = mix(low ^ static_cast<uint32_t>(seed));
  h = mix(h + high * 0x9e3779b1 + static_cast<uint32_t>(seed >> 32));
  return (h >> 8) * 0x1p-24;
}

/// The tensors are x, seed, counter, y and, in mode 1, the mask; the scalars
/// are rate and scale. Both are f32 where a kernel computes with f32.
void tessera::reference::evaluateDropout(Row &row) {
  const uint64_t seed = getWord(row, 1), counter = getWord(row, 2);
  const bool isDouble = row.getTensor(0).type == ElementType::F64;
  const double rate =
      isDouble ? row.getScalar(0) : static_cast<float>(row.getScalar(0));
  for (int64_t i = 0; i < row.getLength(); ++i) {
    const bool isKept =
        getUniform(seed, counter + row.getElementNumber(i)) >= rate;
    row.set(3, i, isKept ? Approx(row.getScalar(1)) * row.get(0, i) : 0);
    if (row.getMode() == 1)
      row.set(4, i, isKept ? 1 : 0);
  }
}

/// The tensors are x, mask, y; the scalar is scale.
void tessera::reference::evaluateDropoutMask(Row &row) {
  for (int64_t i = 0; i < row.getLength(); ++i)
    row.set(2, i,
            row.get(1, i) != 0 ? Approx(row.getScalar(0)) * row.get(0, i) : 0);
}

/// Computes the counter after a call. The tensors are the old and the new
/// counter; the scalars are the number of elements in three pieces of 22 bits.
void tessera::reference::evaluateDropoutAdvance(Row &row) {
  constexpr double kPiece = 0x1p22;
  row.set(1, 0,
          row.get(0) + (row.getScalar(0) * kPiece + row.getScalar(1)) * kPiece +
              row.getScalar(2));
}
