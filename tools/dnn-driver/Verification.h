//===- Verification.h - MIOpenDriver's judgement of a result ---*- C++ -*--===//

#ifndef TESSERA_TOOLS_DNN_DRIVER_VERIFICATION_H
#define TESSERA_TOOLS_DNN_DRIVER_VERIFICATION_H

#include "runtime/Reference/ConvCase.h"

namespace tessera::driver {

struct Verification {
  double error;
  double tolerance;
  /// What is wrong with a single element, or with a gap between elements; empty
  /// if nothing is.
  std::string wrong;

  /// The comparison is false for a NaN, so it counts as an error.
  bool passed() const { return error < tolerance && wrong.empty(); }
};

/// Compares the result of `problem` in `data` with `expected`. The error is
/// MIOpenDriver's: the root mean square of the differences over the largest
/// magnitude. So is the tolerance, without the factor of 10 that it allows for
/// implicit GEMM. One wrong element among many hardly changes that error, so
/// each element is also judged by our own rule (dialect/Reference/Compare.h).
Verification judge(const ConvProblem &problem, const ConvCase &data,
                   const reference::Expected &expected);

} // namespace tessera::driver

#endif // TESSERA_TOOLS_DNN_DRIVER_VERIFICATION_H
