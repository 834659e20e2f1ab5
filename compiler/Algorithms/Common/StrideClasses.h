//===- StrideClasses.h - Positions that the same taps reach ----*- C++ -*--===//
//
// With stride s, dilation d and g = gcd(s, d), each input position h is
// s i + d rho + e - pad for one i, one rho out of s/g neighbours and one e < g.
// The taps that reach h are r = rho + (s/g) t, from the output position
// i - (d/g) t. Positions where e is not 0 have no taps.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_COMMON_STRIDECLASSES_H
#define TESSERA_COMPILER_ALGORITHMS_COMMON_STRIDECLASSES_H

#include "compiler/Algorithms/Common/ConvGeometry.h"

namespace tessera {

/// How one dimension is divided into classes: h = stride * (firstRow + row) +
/// dilation * (firstRho + rho) + e - pad, and r = firstRho + rho + rhos * t for
/// t = firstTap + tap (or lastTap - tap).
struct StrideClasses {
  int64_t rhos;    ///< s / g.
  int64_t es;      ///< g.
  int64_t outStep; ///< d / g: output rows from one tap to the next.
  int64_t firstRho = 0;
  int64_t firstRow = 0;
  int64_t rows = 0; ///< (in + rowsPad) / stride; kDynamic as `in` is.
  int64_t rowsPad = 0;
  int64_t firstTap = 0;
  int64_t taps = 0;
  bool isDescending = false;
};

/// Chooses the first rho that gives the fewest rows and, among those, the
/// fewest taps.
StrideClasses chooseClasses(const ConvDim &dim);

/// The filter taps of each class of all dimensions together, the most first.
std::vector<int64_t> countClassTaps(llvm::ArrayRef<ConvDim> dims);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_COMMON_STRIDECLASSES_H
