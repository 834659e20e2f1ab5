//===- BackwardDataViews.cpp - Backward data as one GEMM ------------------===//
//
// Rows are input pixels, columns input channels, and the reduction is over
// filter taps and output channels. The class of a pixel, which says which taps
// reach it (StrideClasses.h), belongs to the group coordinate, so all rows of a
// workgroup have the same taps: one launch, linear maps, each input pixel
// written once.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Common/HaloPositions.h"
#include "compiler/Algorithms/Common/StrideClasses.h"
#include "compiler/Algorithms/ImplicitGemm/GemmViews.h"

using namespace mlir;
using namespace tessera;

namespace {
/// The group coordinate: which group of the convolution, which class, and which
/// split.
struct ClassExprs {
  AffineExpr group;
  ViewBuilder::Exprs rho; ///< Relative to firstRho; one for each dimension.
  ViewBuilder::Exprs e;
  AffineExpr split;
};

/// Makes the views of one convolution.
class BackwardDataViewer {
public:
  BackwardDataViewer(OpBuilder &b, dnn::ConvOp conv, const ConvGeometry &g,
                     const DataReduction &reduction);

  dnn::ViewOp viewOutput();
  dnn::ViewOp viewFilter(Value transposed);
  ResultCoordinates placeInput();
  ArrayRef<int64_t> getReduce() const { return reduce; }

private:
  ClassExprs addClasses(ViewBuilder &view) const;
  Size countRows(const Size &in, const StrideClasses &c, int64_t stride) const;
  /// The output channel, within its group, of the reduction's last dimension.
  AffineExpr getChannel(const ClassExprs &at, AffineExpr reduced) const;

  OpBuilder &b;
  dnn::ConvOp conv;
  const ConvGeometry &g;
  const ReductionSplits splits;
  SmallVector<StrideClasses> classes; ///< One for each dimension.
  SmallVector<Size> pixels;           ///< Images, then each dimension's rows.
  SmallVector<int64_t> reduce;        ///< Each dimension's taps, then channels.
  bool hasOpenHalo; ///< Whether rows of unknown size are positions.
};
} // namespace

BackwardDataViewer::BackwardDataViewer(OpBuilder &b, dnn::ConvOp conv,
                                       const ConvGeometry &g,
                                       const DataReduction &reduction)
    : b(b), conv(conv), g(g), splits(reduction.splits),
      classes(llvm::map_to_vector(g.dims, chooseClasses)),
      pixels(getImageSizes(b, conv.getX(), conv.getXLayout())),
      hasOpenHalo(reduction.hasHalo && ShapedType::isDynamic(g.batch)) {
  for (auto [i, dim] : llvm::enumerate(g.dims)) {
    pixels[1 + i] = reduction.hasHalo && !hasOpenHalo && hasPositions(g, i)
                        ? Size(countPositions(dim))
                        : countRows(pixels[1 + i], classes[i], dim.stride);
    reduce.push_back(classes[i].taps);
  }
  if (hasOpenHalo)
    pixels.back() = getPositions(b, conv, g, conv.getX()).back();
  reduce.push_back(splits.getShare(g.outChannels));
}

/// The rows of a dimension of `in` elements.
Size BackwardDataViewer::countRows(const Size &in, const StrideClasses &c,
                                   int64_t stride) const {
  if (in.isKnown())
    return c.rows;
  PointBuilder p(b, in.value.getLoc());
  return Size(p.div(p.add(in.value, c.rowsPad), stride));
}

ClassExprs BackwardDataViewer::addClasses(ViewBuilder &view) const {
  SmallVector<int64_t> sizes = {g.groups};
  for (const StrideClasses &c : classes)
    sizes.append({c.rhos, c.es});
  auto [exprs, split] = addGroups(view, sizes, splits);
  ClassExprs result{exprs[0], {}, {}, split};
  // A coordinate with a single value is the constant 0.
  auto simplify = [&](AffineExpr expr, int64_t size) {
    return size > 1 ? expr : getAffineConstantExpr(0, expr.getContext());
  };
  for (auto [i, c] : llvm::enumerate(classes)) {
    result.rho.push_back(simplify(exprs[1 + 2 * i], c.rhos));
    result.e.push_back(simplify(exprs[2 + 2 * i], c.es));
  }
  return result;
}

AffineExpr BackwardDataViewer::getChannel(const ClassExprs &at,
                                          AffineExpr reduced) const {
  return GroupExprs{{}, at.split}.locate(reduced, g.outChannels, splits);
}

/// The tap t (StrideClasses.h) of an index of the loop.
static AffineExpr makeTap(const StrideClasses &c, AffineExpr index) {
  return c.isDescending ? -index + (c.firstTap + c.taps - 1)
                        : index + c.firstTap;
}

dnn::ViewOp BackwardDataViewer::viewOutput() {
  ViewBuilder view(b);
  ClassExprs group = addClasses(view);
  SmallVector<Size> seen =
      alignSizes(b, conv.getY(), conv.getYLayout(), g.isPointwise(), pixels);
  if (hasOpenHalo)
    seen.back() = getPositions(b, conv, g, conv.getY()).back();
  ViewBuilder::Exprs row = view.addOpen(1, seen);
  ViewBuilder::Exprs reduction = view.add(2, reduce);
  ViewBuilder::Exprs spatial;
  for (auto [i, c] : llvm::enumerate(classes))
    spatial.push_back(row[1 + i] + c.firstRow -
                      makeTap(c, reduction[i]) * c.outStep);
  return view.create(conv.getLoc(), conv.getY(), conv.getYLayout(), row[0],
                     group.group * g.outChannels +
                         getChannel(group, reduction.back()),
                     spatial);
}

/// `transposed` is the filter with its input channels first, or null.
dnn::ViewOp BackwardDataViewer::viewFilter(Value transposed) {
  ViewBuilder view(b);
  ClassExprs group = addClasses(view);
  AffineExpr channel = view.add(1, {g.inChannels})[0];
  ViewBuilder::Exprs reduction = view.add(2, reduce);
  ViewBuilder::Exprs taps;
  for (auto [i, c] : llvm::enumerate(classes)) {
    // Pixels whose e is not 0 have no taps: theirs are past the filter's end.
    int64_t lowest = c.firstRho + c.rhos * c.firstTap;
    int64_t pastEnd = g.dims[i].filter - std::min<int64_t>(lowest, 0);
    taps.push_back(group.rho[i] + makeTap(c, reduction[i]) * c.rhos +
                   group.e[i] * pastEnd + c.firstRho);
  }
  if (!transposed)
    return view.create(conv.getLoc(), conv.getW(), conv.getWLayout(),
                       group.group * g.outChannels +
                           getChannel(group, reduction.back()),
                       channel, taps);
  ViewBuilder::Exprs coordinates = {group.group * g.inChannels + channel};
  coordinates.append(taps);
  coordinates.push_back(getChannel(group, reduction.back()));
  return view.create(conv.getLoc(), transposed, coordinates);
}

ResultCoordinates BackwardDataViewer::placeInput() {
  ViewBuilder view(b);
  ClassExprs group = addClasses(view);
  ViewBuilder::Exprs row = view.addOpen(1, pixels);
  AffineExpr channel = view.add(2, {g.inChannels})[0];
  ViewBuilder::Exprs spatial;
  for (auto [i, dim] : llvm::enumerate(g.dims)) {
    const StrideClasses &c = classes[i];
    int64_t first =
        c.firstRow * dim.stride + c.firstRho * dim.dilation - dim.pad;
    spatial.push_back(row[1 + i] * dim.stride + group.rho[i] * dim.dilation +
                      group.e[i] + first);
  }
  return {view, row[0], group.group * g.inChannels + channel, spatial,
          group.split};
}

GemmViews tessera::viewBackwardData(OpBuilder &b, dnn::ConvOp conv,
                                    const ConvGeometry &g,
                                    const DataReduction &reduction,
                                    Value transposed) {
  BackwardDataViewer viewer(b, conv, g, reduction);
  dnn::ViewOp output = viewer.viewOutput();
  dnn::ViewOp filter = viewer.viewFilter(transposed);
  return {output,
          filter,
          viewer.placeInput(),
          SmallVector<int64_t>(viewer.getReduce()),
          isChannelsLast(conv.getXLayout()) ? dnn::TileDim::N : dnn::TileDim::M,
          !reduction.splits.areSteps};
}
