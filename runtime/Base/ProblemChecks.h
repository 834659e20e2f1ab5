//===- ProblemChecks.h - Rules that all problems share ---------*- C++ -*-===//

#ifndef TESSERA_RUNTIME_BASE_PROBLEMCHECKS_H
#define TESSERA_RUNTIME_BASE_PROBLEMCHECKS_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/ProblemTypes.h"

#include <initializer_list>
#include <span>

namespace tessera {

/// A number of the problem, as messages call it.
struct NamedLength {
  const char *name;
  int64_t value;
};

/// `minimum` <= each length <= 2^31 - 1: MIOpen's descriptors hold lengths as
/// int, and so does the arithmetic of our kernels.
Status verifyLengths(int64_t minimum,
                     std::initializer_list<NamedLength> lengths);

/// One tensor: its bytes must be a number of 64 bits. A strided one has
/// positive distances; where `isWritten`, no two elements may share memory.
Status verifyTensor(const char *name, int64_t elementBytes, Layout layout,
                    const Strides &strides, const TensorLengths &lengths,
                    bool isWritten);

/// A dimension of a tensor: how long it is, and elements from one to the next.
struct StridedDim {
  int64_t length;
  int64_t stride;
};

/// Whether two elements share memory: from the smallest stride to the largest,
/// each must step over everything that the smaller ones reach. Sorts `dims`,
/// whose strides are not negative and whose reach 64 bits can count.
bool hasOverlap(std::span<StridedDim> dims);

/// Positions of a window along one dimension, at least 1.
int64_t getOutputLength(int64_t in, int64_t filter, int64_t pad, int64_t stride,
                        int64_t dilation);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_PROBLEMCHECKS_H
