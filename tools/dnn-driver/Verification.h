//===- Verification.h - MIOpenDriver's judgement of a result ---*- C++ -*-===//

#ifndef TESSERA_TOOLS_DNN_DRIVER_VERIFICATION_H
#define TESSERA_TOOLS_DNN_DRIVER_VERIFICATION_H

#include "runtime/Reference/ConvCase.h"

namespace tessera::driver {

struct Verification {
  double error;
  double tolerance;
  /// What is wrong with a single element, or with what lies between them;
  /// empty if nothing is.
  std::string wrong;

  /// A NaN is an error, too.
  bool passed() const { return error < tolerance && wrong.empty(); }
};

/// Compares the result of `problem` in `data` with `expected`. The error is
/// MIOpenDriver's: the root mean square of the differences over the largest
/// magnitude. So is the tolerance, without the factor of 10 that it grants to
/// implicit GEMM. One wrong element among many does not show in it, so each is
/// judged by our own rule as well (dialect/Reference/Compare.h).
Verification judge(const ConvProblem &problem, const ConvCase &data,
                   const reference::Expected &expected);

} // namespace tessera::driver

#endif // TESSERA_TOOLS_DNN_DRIVER_VERIFICATION_H
