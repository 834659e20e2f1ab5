//===- ProblemChecks.cpp - Rules that all problems share ------------------===//

#include "runtime/Base/ProblemChecks.h"

#include <algorithm>
#include <array>

using namespace tessera;

static constexpr int64_t kMaxLength = INT32_MAX;

Status tessera::verifyLengths(int64_t minimum,
                              std::initializer_list<NamedLength> lengths) {
  for (const NamedLength &length : lengths)
    if (length.value < minimum || length.value > kMaxLength)
      return invalidArgument(
          std::string(length.name) + " is " + std::to_string(length.value) +
          ", but must be between " + std::to_string(minimum) + " and " +
          std::to_string(kMaxLength));
  return Status::ok();
}

static Status tooLarge(const char *name) {
  return invalidArgument(std::string("the ") + name +
                         " has more bytes than 64 bits can count");
}

bool tessera::hasOverlap(std::span<StridedDim> dims) {
  std::ranges::sort(dims, {}, &StridedDim::stride);
  int64_t reach = 0;
  for (auto [length, stride] : dims) {
    if (length > 1 && stride <= reach)
      return true;
    reach += (length - 1) * stride;
  }
  return false;
}

Status tessera::verifyTensor(const char *name, int64_t elementBytes,
                             Layout layout, const Strides &strides,
                             const TensorLengths &t, bool isWritten) {
  int64_t bytes = elementBytes;
  for (int64_t length : {t.n, t.c, t.d, t.h, t.w})
    if (__builtin_mul_overflow(bytes, length, &bytes))
      return tooLarge(name);
  if (layout != Layout::Strided)
    return Status::ok();
  std::array<StridedDim, 5> dims = {{{t.n, strides.n},
                                     {t.c, strides.c},
                                     {t.d, strides.d},
                                     {t.h, strides.h},
                                     {t.w, strides.w}}};
  int64_t span = 1;
  for (auto [length, stride] : dims) {
    if (length > 1 && stride < 1)
      return invalidArgument(std::string("a stride of the ") + name + " is " +
                             std::to_string(stride) +
                             ", but must be at least 1");
    int64_t reach;
    if (__builtin_mul_overflow(length - 1, stride, &reach) ||
        __builtin_add_overflow(span, reach, &span))
      return tooLarge(name);
  }
  if (__builtin_mul_overflow(span, elementBytes, &span))
    return tooLarge(name);
  if (isWritten && hasOverlap(dims))
    return invalidArgument(std::string("the strides of the ") + name +
                           " put two of its elements at one address, but it is "
                           "written");
  return Status::ok();
}

int64_t tessera::getOutputLength(int64_t in, int64_t filter, int64_t pads,
                                 int64_t stride, int64_t dilation) {
  int64_t range = in + pads - (1 + dilation * (filter - 1));
  return std::max<int64_t>(1, range / stride + 1);
}

int64_t tessera::canonicalizeExtraPad(const WindowDim &dim) {
  const int64_t out = dim.getOutput();
  WindowDim equal = dim;
  equal.extraPad = 0;
  if (equal.getOutput() == out)
    return 0;
  // A window that is larger than the padded input has one position anyway.
  const int64_t needed = out == 1 ? 0
                                  : (out - 1) * dim.stride + 1 +
                                        dim.dilation * (dim.filter - 1) -
                                        dim.in - dim.pad;
  return std::max<int64_t>(needed, 0) - dim.pad;
}
