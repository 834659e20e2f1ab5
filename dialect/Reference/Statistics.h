//===- Statistics.h - Means and variances of channels ----------*- C++ -*--===//

#ifndef TESSERA_DIALECT_REFERENCE_STATISTICS_H
#define TESSERA_DIALECT_REFERENCE_STATISTICS_H

#include "dialect/Reference/Compare.h"

namespace tessera::reference {

/// Of each channel of a tensor: tensors of f32 with one element for each.
struct Statistics {
  Expected mean, variance;
};

/// The statistics of what `tensor` holds, in double and in two passes. The
/// variance is that of the population: the mean of squared differences from the
/// mean.
///
/// With u = 2^-24 and the deviation d, a mean may be wrong by 64 u (|mean| +
/// d), and a variance by u (512 d^2 + 16 |mean| d): a kernel sums up
/// differences from a value near the mean, and combines means that are rounded.
/// A difference of two sums of squares would be wrong by u mean^2 and more.
Statistics getStatistics(const Sizes &sizes, const TensorView &tensor);

} // namespace tessera::reference

#endif // TESSERA_DIALECT_REFERENCE_STATISTICS_H
