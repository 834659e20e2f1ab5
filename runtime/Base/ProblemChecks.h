//===- ProblemChecks.h - Rules that all problems share ---------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_BASE_PROBLEMCHECKS_H
#define TESSERA_RUNTIME_BASE_PROBLEMCHECKS_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/ProblemTypes.h"

#include <initializer_list>
#include <span>

namespace tessera {

/// A number of the problem with its name for messages.
struct NamedLength {
  const char *name;
  int64_t value;
};

/// `minimum` <= each length <= 2^31 - 1: MIOpen's descriptors hold lengths as
/// int, and so does the arithmetic of our kernels.
Status verifyLengths(int64_t minimum,
                     std::initializer_list<NamedLength> lengths);

/// Checks one tensor: its size in bytes must fit 64 bits. The strides of a
/// strided tensor must be positive; where `isWritten`, no two elements may
/// share memory.
Status verifyTensor(const char *name, int64_t elementBytes, Layout layout,
                    const Strides &strides, const TensorLengths &lengths,
                    bool isWritten);

/// A dimension of a tensor: its length and its stride in elements.
struct StridedDim {
  int64_t length;
  int64_t stride;
};

/// Whether two elements share memory: from the smallest stride to the largest,
/// each must step over everything that the smaller ones reach. Sorts `dims`,
/// whose strides must not be negative and whose reach must fit 64 bits.
bool hasOverlap(std::span<StridedDim> dims);

/// The number of positions of a window along one dimension, at least 1. `pads`
/// is the padding of both ends together.
int64_t getOutputLength(int64_t in, int64_t filter, int64_t pads,
                        int64_t stride, int64_t dilation);

/// One dimension of a window over a padded input.
struct WindowDim {
  int64_t in;
  int64_t filter;
  int64_t pad;      ///< Before the first element.
  int64_t extraPad; ///< What the padding after the last one is longer.
  int64_t stride;
  int64_t dilation = 1;

  int64_t getOutput() const {
    if (in == kUnknownSize)
      return kUnknownSize;
    return getOutputLength(in, filter, 2 * pad + extraPad, stride, dilation);
  }
};

/// The `extraPad` of the one form of problems that differ only in the padding
/// after the last element and have the same output: 0 if that gives it, else
/// the least.
int64_t canonicalizeExtraPad(const WindowDim &dim);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_PROBLEMCHECKS_H
