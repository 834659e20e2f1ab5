//===- TestData.h - Numbers to feed a kernel with --------------*- C++ -*-===//
//
// Data decide what a test can see. The same seed gives the same numbers on
// every machine, so a failure can be repeated.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_REFERENCE_TESTDATA_H
#define TESSERA_DIALECT_REFERENCE_TESTDATA_H

#include "dialect/Reference/Tensor.h"

#include <cstdint>
#include <vector>

namespace tessera::reference {

enum class DataKind {
  /// Uniform in [-1, 1], rounded to the type. Sums of some thousand products
  /// stay small enough for f16, and use all bits of every operand. Integers are
  /// uniform from -128 to 127.
  Uniform,
  /// Integers from -3 to 3. Up to 1.8 million products add up exactly in f32,
  /// so one wrong product among them shows: compare with Rule::Exact.
  Integer,
};

/// `count` elements of `type`, ready to be copied to a device.
std::vector<char> makeData(ElementType type, int64_t count, DataKind kind,
                           uint64_t seed);

/// `count` elements that are all NaN, or an absurd integer: what an output
/// buffer should hold before a kernel runs, so that what it does not write is
/// found.
std::vector<char> makePoison(ElementType type, int64_t count);

} // namespace tessera::reference

#endif // TESSERA_DIALECT_REFERENCE_TESTDATA_H
