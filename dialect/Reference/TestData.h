//===- TestData.h - Numbers to feed a kernel with --------------*- C++ -*--===//
//
// The data decide which errors a test can detect. The same seed gives the same
// numbers on every machine, so a failure can be repeated.
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
  /// stay small enough for f16, and all bits of every operand matter. Integers
  /// are uniform from -128 to 127.
  Uniform,
  /// Integers from -3 to 3. Up to 1.8 million products add up exactly in f32,
  /// so one wrong product among them is detected: compare with Rule::Exact.
  Integer,
};

/// Makes `count` elements of `type`, ready to be copied to a device.
std::vector<char> makeData(ElementType type, int64_t count, DataKind kind,
                           uint64_t seed);

/// Makes `count` elements that are all NaN, or a large integer. An output
/// buffer should hold them before a kernel runs, so that elements that it does
/// not write are detected.
std::vector<char> makePoison(ElementType type, int64_t count);

} // namespace tessera::reference

#endif // TESSERA_DIALECT_REFERENCE_TESTDATA_H
