//===- StrideClasses.cpp - Input positions that the same taps reach -------===//

#include "compiler/Algorithms/Common/StrideClasses.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

using namespace tessera;

static int64_t divideDown(int64_t value, int64_t by) {
  return value >= 0 ? value / by : -((by - 1 - value) / by);
}

/// The rows and taps that cover every class if the first rho is `first`.
static StrideClasses makeClasses(const ConvDim &dim, int64_t first) {
  constexpr int64_t kSample = 61;
  const bool isOpen = mlir::ShapedType::isDynamic(dim.in);
  const int64_t in = isOpen ? kSample : dim.in;
  int64_t g = std::gcd(dim.stride, dim.dilation);
  StrideClasses c{dim.stride / g, g, dim.dilation / g, first};
  int64_t low = std::numeric_limits<int64_t>::max();
  int64_t high = std::numeric_limits<int64_t>::min();
  for (int64_t rho = first; rho < first + c.rhos; ++rho)
    for (int64_t e = 0; e < g; ++e) {
      int64_t offset = dim.dilation * rho + e - dim.pad;
      low = std::min(low, -divideDown(offset, dim.stride));
      high = std::max(high, divideDown(in - 1 - offset, dim.stride));
    }
  c.firstRow = low;
  c.rows = high - low + 1;
  // The least offset is that of the first class.
  c.rowsPad =
      dim.stride - 1 - (dim.dilation * first - dim.pad) - low * dim.stride;
  c.firstTap = -divideDown(first + c.rhos - 1, c.rhos);
  c.taps = divideDown(dim.filter - 1 - first, c.rhos) - c.firstTap + 1;
  return c;
}

StrideClasses tessera::chooseClasses(const ConvDim &dim) {
  StrideClasses best = makeClasses(dim, 0);
  for (int64_t first = 1; first < best.rhos; ++first) {
    StrideClasses other = makeClasses(dim, first);
    if (std::pair(other.rows, other.taps) < std::pair(best.rows, best.taps))
      best = other;
  }
  if (mlir::ShapedType::isDynamic(dim.in))
    best.rows = dim.in;
  // The main loop loads its first two steps before it can skip a tap, so the
  // walk begins at the end where more classes have a tap.
  int64_t atStart = 0, atEnd = 0;
  int64_t last = best.firstTap + best.taps - 1;
  for (int64_t rho = best.firstRho; rho < best.firstRho + best.rhos; ++rho) {
    atStart += rho + best.rhos * best.firstTap >= 0;
    atEnd += rho + best.rhos * last < dim.filter;
  }
  best.isDescending = atEnd > atStart;
  return best;
}

std::vector<int64_t> tessera::countClassTaps(llvm::ArrayRef<ConvDim> dims) {
  std::vector<int64_t> all = {1};
  for (const ConvDim &dim : dims) {
    const int64_t rhos = dim.stride / std::gcd(dim.stride, dim.dilation);
    std::vector<int64_t> more;
    // Positions whose e is not 0 have none.
    for (int64_t taps : all)
      for (int64_t rho = 0; rho != dim.stride; ++rho)
        more.push_back(rho < std::min(rhos, dim.filter)
                           ? taps *
                                 llvm::divideCeilSigned(dim.filter - rho, rhos)
                           : 0);
    all = std::move(more);
  }
  std::ranges::sort(all, std::greater<>());
  return all;
}
