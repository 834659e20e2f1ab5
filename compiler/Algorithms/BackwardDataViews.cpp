//===- BackwardDataViews.cpp - Backward data as one GEMM ------------------===//
//
// Rows are input pixels, columns input channels, and the reduction is over
// filter taps and output channels. With stride s, dilation d and g = gcd(s, d),
// each input position h is s i + d rho + e - pad for one i, one rho out of s/g
// neighbours and one e < g. The taps that reach h are r = rho + (s/g) t, from
// the output position i - (d/g) t; where e is not 0 there are none. rho and e
// belong to the group, so that a workgroup's rows all have the same taps:
// one launch, linear maps, each input pixel written once.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/GemmViews.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace tessera;

namespace {
/// How one dimension is cut up: h = stride * (firstRow + row) +
/// dilation * (firstRho + rho) + e - pad, and r = firstRho + rho + taps * t for
/// t = firstTap + tap (or lastTap - tap).
struct Classes {
  int64_t rhos;    ///< s / g.
  int64_t es;      ///< g.
  int64_t outStep; ///< d / g: output rows from one tap to the next.
  int64_t firstRho = 0;
  int64_t firstRow = 0;
  int64_t rows = 0;
  int64_t firstTap = 0;
  int64_t taps = 0;
  bool isDescending = false;
};
} // namespace

static int64_t divideDown(int64_t value, int64_t by) {
  return value >= 0 ? value / by : -((by - 1 - value) / by);
}

/// Rows and taps that cover every class, if the first rho is `first`.
static Classes makeClasses(const ConvDim &dim, int64_t first) {
  int64_t g = std::gcd(dim.stride, dim.dilation);
  Classes c{dim.stride / g, g, dim.dilation / g, first};
  int64_t low = std::numeric_limits<int64_t>::max();
  int64_t high = std::numeric_limits<int64_t>::min();
  for (int64_t rho = first; rho < first + c.rhos; ++rho)
    for (int64_t e = 0; e < g; ++e) {
      int64_t offset = dim.dilation * rho + e - dim.pad;
      low = std::min(low, -divideDown(offset, dim.stride));
      high = std::max(high, divideDown(dim.in - 1 - offset, dim.stride));
    }
  c.firstRow = low;
  c.rows = high - low + 1;
  c.firstTap = -divideDown(first + c.rhos - 1, c.rhos);
  c.taps = divideDown(dim.filter - 1 - first, c.rhos) - c.firstTap + 1;
  return c;
}

/// The first rho with the fewest rows, then the fewest taps.
static Classes chooseClasses(const ConvDim &dim) {
  Classes best = makeClasses(dim, 0);
  for (int64_t first = 1; first < best.rhos; ++first) {
    Classes other = makeClasses(dim, first);
    if (std::pair(other.rows, other.taps) < std::pair(best.rows, best.taps))
      best = other;
  }
  // The main loop loads its first two steps before it can skip a tap: begin at
  // the end where more classes have one.
  int64_t atStart = 0, atEnd = 0;
  int64_t last = best.firstTap + best.taps - 1;
  for (int64_t rho = best.firstRho; rho < best.firstRho + best.rhos; ++rho) {
    atStart += rho + best.rhos * best.firstTap >= 0;
    atEnd += rho + best.rhos * last < dim.filter;
  }
  best.isDescending = atEnd > atStart;
  return best;
}

namespace {
/// The group's part of a position: which group, and which class.
struct GroupExprs {
  AffineExpr group;
  ViewBuilder::Exprs rho; ///< From the first on, for each dimension.
  ViewBuilder::Exprs e;
};
} // namespace

static GroupExprs addGroups(ViewBuilder &view, const ConvGeometry &g,
                            ArrayRef<Classes> classes) {
  SmallVector<int64_t> sizes = {g.groups};
  for (const Classes &c : classes)
    sizes.append({c.rhos, c.es});
  ViewBuilder::Exprs exprs = view.add(0, sizes);
  GroupExprs result{exprs[0], {}, {}};
  // Of one value, they are no more than it.
  auto simplify = [&](AffineExpr expr, int64_t size) {
    return size > 1 ? expr : getAffineConstantExpr(0, expr.getContext());
  };
  for (auto [i, c] : llvm::enumerate(classes)) {
    result.rho.push_back(simplify(exprs[1 + 2 * i], c.rhos));
    result.e.push_back(simplify(exprs[2 + 2 * i], c.es));
  }
  return result;
}

/// The tap's number t from its place in the loop.
static AffineExpr makeTap(const Classes &c, AffineExpr place) {
  return c.isDescending ? -place + (c.firstTap + c.taps - 1)
                        : place + c.firstTap;
}

GemmViews tessera::viewBackwardData(OpBuilder &b, dnn::ConvOp conv,
                                    const ConvGeometry &g) {
  Location loc = conv.getLoc();
  SmallVector<Classes> classes = llvm::map_to_vector(g.dims, chooseClasses);
  SmallVector<int64_t> pixels = {g.batch};
  SmallVector<int64_t> reduce;
  for (const Classes &c : classes) {
    pixels.push_back(c.rows);
    reduce.push_back(c.taps);
  }
  reduce.push_back(g.outChannels);
  dnn::ViewOp output, filter;
  {
    ViewBuilder view(b);
    GroupExprs group = addGroups(view, g, classes);
    ViewBuilder::Exprs row = view.add(1, pixels);
    ViewBuilder::Exprs reduction = view.add(2, reduce);
    ViewBuilder::Exprs spatial;
    for (auto [i, c] : llvm::enumerate(classes))
      spatial.push_back(row[1 + i] + c.firstRow -
                        makeTap(c, reduction[i]) * c.outStep);
    output =
        view.create(loc, conv.getY(), conv.getYLayout(), row[0],
                    group.group * g.outChannels + reduction.back(), spatial);
  }
  {
    ViewBuilder view(b);
    GroupExprs group = addGroups(view, g, classes);
    AffineExpr channel = view.add(1, {g.inChannels})[0];
    ViewBuilder::Exprs reduction = view.add(2, reduce);
    ViewBuilder::Exprs taps;
    for (auto [i, c] : llvm::enumerate(classes)) {
      // Where e is not 0, behind the filter's end.
      int64_t lowest = c.firstRho + c.rhos * c.firstTap;
      int64_t behind = g.dims[i].filter - std::min<int64_t>(lowest, 0);
      taps.push_back(group.rho[i] + makeTap(c, reduction[i]) * c.rhos +
                     group.e[i] * behind + c.firstRho);
    }
    filter = view.create(loc, conv.getW(), conv.getWLayout(),
                         group.group * g.outChannels + reduction.back(),
                         channel, taps);
  }
  ViewBuilder view(b);
  GroupExprs group = addGroups(view, g, classes);
  ViewBuilder::Exprs row = view.add(1, pixels);
  AffineExpr channel = view.add(2, {g.inChannels})[0];
  ViewBuilder::Exprs spatial;
  for (auto [i, dim] : llvm::enumerate(g.dims)) {
    const Classes &c = classes[i];
    int64_t first =
        c.firstRow * dim.stride + c.firstRho * dim.dilation - dim.pad;
    spatial.push_back(row[1 + i] * dim.stride + group.rho[i] * dim.dilation +
                      group.e[i] + first);
  }
  ResultPlace result{view, row[0], group.group * g.inChannels + channel,
                     spatial};
  return {output, filter, result, reduce,
          isChannelsLast(conv.getXLayout()) ? dnn::TileDim::N
                                            : dnn::TileDim::M};
}
