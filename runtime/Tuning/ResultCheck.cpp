//===- ResultCheck.cpp - One expectation, many results --------------------===//

#include "runtime/Tuning/ResultCheck.h"

#include "dialect/Reference/Parallel.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

using namespace tessera;
using namespace tessera::reference;

/// Elements that one thread processes at a time.
static constexpr int64_t kChunk = 1 << 16;

/// Calls `body(from, to)` for chunks of [0, count), on all processors.
template <typename Body>
static void forChunks(int64_t count, Body body) {
  parallelFor((count + kChunk - 1) / kChunk, [&](int64_t chunk) {
    body(chunk * kChunk, std::min(count, (chunk + 1) * kChunk));
  });
}

/// The bits of a number as an integer with the order of the numbers. Both zeros
/// are 0, and a NaN is beyond both infinities.
template <typename Key>
static Key toKey(Key bits, ElementType type) {
  // The code of -0 is NaN in a FNUZ format: less than every number.
  const bool isFnuz =
      type == ElementType::E4M3FNUZ || type == ElementType::E5M2FNUZ;
  if (isInteger(type) || bits >= 0 ||
      (isFnuz && bits == std::numeric_limits<Key>::min()))
    return bits;
  return static_cast<Key>(-(bits & std::numeric_limits<Key>::max()));
}

template <typename Key>
static Key loadKey(const void *data, int64_t index, ElementType type) {
  Key bits;
  std::memcpy(&bits, static_cast<const char *>(data) + index * sizeof(Key),
              sizeof(Key));
  return toKey(bits, type);
}

/// `value` rounded to `type`, as a key.
template <typename Key>
static Key getKeyOf(ElementType type, double value) {
  char element[sizeof(double)];
  storeElement(type, element, 0, value);
  return loadKey<Key>(element, 0, type);
}

/// The key `by` steps from `key`, clamped at the infinities.
template <typename Key>
static Key widen(ElementType type, Key key, int by) {
  if (isInteger(type) || by == 0)
    return key;
  const Key end = getKeyOf<Key>(type, std::numeric_limits<double>::infinity());
  const int64_t moved = static_cast<int64_t>(key) + by;
  return static_cast<Key>(std::clamp<int64_t>(moved, -end, end));
}

template <typename Key>
void ResultCheck::fill(Intervals<Key> &intervals, const Expected &expected,
                       const TensorView &before, size_t bytes, int slack) {
  const auto count = static_cast<int64_t>(bytes / sizeof(Key));
  intervals.least.resize(count);
  intervals.most.resize(count);
  forChunks(count, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i)
      intervals.least[i] = intervals.most[i] =
          loadKey<Key>(before.data, i, type);
  });
  const double relative = expected.getRelativeTolerance();
  forChunks(static_cast<int64_t>(expected.values.size()),
            [&](int64_t from, int64_t to) {
              Coord at = expected.sizes.getCoord(from);
              for (int64_t i = from; i < to; ++i, expected.sizes.advance(at)) {
                const double value = expected.values[i];
                const double tolerance = relative * expected.magnitudes[i];
                const int64_t offset = before.strides.getOffset(at);
                intervals.least[offset] =
                    widen(type, getKeyOf<Key>(type, value - tolerance), -slack);
                intervals.most[offset] =
                    widen(type, getKeyOf<Key>(type, value + tolerance), slack);
              }
            });
}

ResultCheck::ResultCheck(const Expected &expected, const TensorView &before,
                         size_t bytes, int slack)
    : type(before.type) {
  switch (getByteSize(type)) {
  case 1:
    intervals.emplace<Intervals<int8_t>>();
    break;
  case 2:
    intervals.emplace<Intervals<int16_t>>();
    break;
  case 4:
    intervals.emplace<Intervals<int32_t>>();
    break;
  default:
    intervals.emplace<Intervals<int64_t>>();
    break;
  }
  std::visit([&](auto &keys) { fill(keys, expected, before, bytes, slack); },
             intervals);
}

/// The number that a key stands for.
template <typename Key>
static double getValueOf(ElementType type, Key key) {
  Key bits = key;
  if (!isInteger(type) && key < 0)
    bits = static_cast<Key>(static_cast<Key>(-key) |
                            std::numeric_limits<Key>::min());
  return loadElement(type, &bits, 0);
}

template <typename Key>
std::string ResultCheck::check(const Intervals<Key> &intervals,
                               const std::vector<char> &result) const {
  const auto count = static_cast<int64_t>(intervals.least.size());
  if (result.size() != count * sizeof(Key))
    return "the result has another size";
  std::atomic<int64_t> wrong = 0, first = count;
  forChunks(count, [&](int64_t from, int64_t to) {
    int64_t found = 0, firstFound = count;
    for (int64_t i = from; i < to; ++i) {
      const Key key = loadKey<Key>(result.data(), i, type);
      const bool isWrong = key < intervals.least[i] || key > intervals.most[i];
      if (isWrong && found++ == 0)
        firstFound = i;
    }
    wrong += found;
    for (int64_t known = first; firstFound < known;)
      if (first.compare_exchange_weak(known, firstFound))
        break;
  });
  if (wrong == 0)
    return "";
  const int64_t at = first;
  return std::to_string(wrong) + " of " + std::to_string(count) +
         " elements are wrong; element " + std::to_string(at) +
         " of the memory is " +
         std::to_string(loadElement(type, result.data(), at)) +
         ", allowed from " +
         std::to_string(getValueOf(type, intervals.least[at])) + " to " +
         std::to_string(getValueOf(type, intervals.most[at]));
}

std::string ResultCheck::check(const std::vector<char> &result) const {
  return std::visit([&](const auto &keys) { return check(keys, result); },
                    intervals);
}
