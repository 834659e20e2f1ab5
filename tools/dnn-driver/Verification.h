//===- Verification.h - MIOpenDriver's judgement of a result ---*- C++ -*-===//

#ifndef TESSERA_TOOLS_DNN_DRIVER_VERIFICATION_H
#define TESSERA_TOOLS_DNN_DRIVER_VERIFICATION_H

#include "runtime/Base/Problem.h"

#include <vector>

namespace tessera::driver {

/// Data of the three tensors on the host, in the problem's layouts.
struct HostTensors {
  std::vector<char> x;
  std::vector<char> w;
  std::vector<char> y;
};

/// Uniform x and w from `seed`; y full of NaN, so that an element which no
/// kernel writes is found.
HostTensors makeHostTensors(const ConvProblem &problem, uint64_t seed);

struct Verification {
  double error;
  double tolerance;

  /// A NaN is an error, too.
  bool passed() const { return error < tolerance; }
};

/// Compares `tensors.y` with a convolution of `x` and `w` on the host, summed
/// in double. The error is MIOpenDriver's: the root mean square of the
/// differences over the largest magnitude. So is the tolerance, without the
/// factor of 10 that it grants to implicit GEMM.
Verification verifyForward(const ConvProblem &problem,
                           const HostTensors &tensors);

} // namespace tessera::driver

#endif // TESSERA_TOOLS_DNN_DRIVER_VERIFICATION_H
