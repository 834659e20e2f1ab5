//===- TestData.cpp - Numbers to feed a kernel with -----------------------===//

#include "dialect/Reference/TestData.h"
#include "dialect/Reference/Parallel.h"
#include "dialect/Reference/Random.h"

#include <algorithm>

using namespace tessera::reference;

static double getValue(ElementType type, DataKind kind, uint64_t bits) {
  constexpr int kLargestInteger = 3;
  switch (kind) {
  case DataKind::Uniform:
    if (isInteger(type))
      return static_cast<int8_t>(bits >> 32);
    return static_cast<double>(bits >> 11) * 0x1p-52 - 1;
  case DataKind::Integer:
    return static_cast<int>((bits >> 32) % (2 * kLargestInteger + 1)) -
           kLargestInteger;
  }
  __builtin_unreachable();
}

std::vector<char> tessera::reference::makeData(ElementType type, int64_t count,
                                               DataKind kind, uint64_t seed) {
  constexpr int64_t kChunk = 1 << 16;
  std::vector<char> data(count * getByteSize(type));
  parallelFor((count + kChunk - 1) / kChunk, [&](int64_t chunk) {
    const int64_t end = std::min(count, (chunk + 1) * kChunk);
    for (int64_t i = chunk * kChunk; i < end; ++i)
      storeElement(type, data.data(), i,
                   getValue(type, kind, getRandomBits(seed, i)));
  });
  return data;
}

std::vector<char> tessera::reference::makePoison(ElementType type,
                                                 int64_t count) {
  // A number with all bits set is NaN in most of the floating-point types, but
  // -1 as an integer. Integers therefore get a number far beyond what small
  // tests reach.
  const bool isFnuz =
      type == ElementType::E4M3FNUZ || type == ElementType::E5M2FNUZ;
  return std::vector<char>(count * getByteSize(type), isInteger(type) ? '\x81'
                                                      : isFnuz        ? '\x80'
                                                                      : '\xff');
}
