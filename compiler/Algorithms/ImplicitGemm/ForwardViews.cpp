//===- ForwardViews.cpp - Forward convolution as a GEMM -------------------===//
//
// Rows are output pixels, columns output channels, and the reduction is over
// filter taps and input channels: stride and dilation are factors, padding a
// negative constant, a group an offset of the channel.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Common/HaloPositions.h"
#include "compiler/Algorithms/ImplicitGemm/GemmViews.h"

using namespace mlir;
using namespace tessera;

/// Whether channels are the outermost dimension of the reduction. With channels
/// innermost the loop walks taps outside and channels inside. Where two steps
/// do not divide the channels, the reduction has the order of the filter in
/// memory instead, so that the filter is read in wide loads.
static bool wantsChannelsFirst(dnn::ConvOp conv, int64_t channels,
                               int64_t step) {
  return !isChannelsLast(conv.getXLayout()) &&
         !isChannelsLast(conv.getWLayout()) && channels % (2 * step) != 0;
}

namespace {
/// Coordinates of the reduction, in either order.
struct Reduction {
  ViewBuilder::Exprs taps;
  AffineExpr channel;
};
} // namespace

static Reduction addReduction(ViewBuilder &view, ArrayRef<int64_t> reduce,
                              bool channelsFirst) {
  ViewBuilder::Exprs exprs = view.add(2, reduce);
  if (channelsFirst)
    return {{exprs.begin() + 1, exprs.end()}, exprs.front()};
  return {{exprs.begin(), exprs.end() - 1}, exprs.back()};
}

GemmViews tessera::viewForward(OpBuilder &b, dnn::ConvOp conv,
                               const ConvGeometry &g,
                               const DataReduction &walk) {
  Location loc = conv.getLoc();
  const ReductionSplits &splits = walk.splits;
  const int64_t channels = splits.getShare(g.inChannels);
  bool channelsFirst = wantsChannelsFirst(conv, channels, walk.step);
  const bool isOpen = ShapedType::isDynamic(g.batch);
  SmallVector<Size> pixels =
      isOpen && walk.hasHalo ? getPositions(b, conv, g, conv.getY())
                             : getImageSizes(b, conv.getY(), conv.getYLayout());
  for (auto [i, dim] : llvm::enumerate(g.dims))
    if (!isOpen && walk.hasHalo && hasPositions(g, i))
      pixels[1 + i] = countPositions(dim);
  SmallVector<int64_t> reduce = g.get(&ConvDim::filter);
  reduce.insert(channelsFirst ? reduce.begin() : reduce.end(), channels);
  dnn::ViewOp input, filter;
  {
    ViewBuilder view(b);
    GroupExprs at = addGroups(view, {g.groups}, splits);
    SmallVector<Size> seen =
        alignSizes(b, conv.getX(), conv.getXLayout(), g.isPointwise(), pixels);
    if (isOpen && walk.hasHalo)
      seen.back() = getPositions(b, conv, g, conv.getX()).back();
    ViewBuilder::Exprs row = view.addOpen(1, seen);
    Reduction reduction = addReduction(view, reduce, channelsFirst);
    ViewBuilder::Exprs spatial;
    for (auto [i, dim] : llvm::enumerate(g.dims))
      spatial.push_back(row[1 + i] * dim.stride +
                        reduction.taps[i] * dim.dilation - dim.pad);
    input = view.create(loc, conv.getX(), conv.getXLayout(), row[0],
                        at.groups[0] * g.inChannels +
                            at.locate(reduction.channel, g.inChannels, splits),
                        spatial);
  }
  {
    ViewBuilder view(b);
    GroupExprs at = addGroups(view, {g.groups}, splits);
    AffineExpr k = view.add(1, {g.outChannels})[0];
    Reduction reduction = addReduction(view, reduce, channelsFirst);
    filter = view.create(
        loc, conv.getW(), conv.getWLayout(), at.groups[0] * g.outChannels + k,
        at.locate(reduction.channel, g.inChannels, splits), reduction.taps);
  }
  ViewBuilder view(b);
  GroupExprs at = addGroups(view, {g.groups}, splits);
  ViewBuilder::Exprs row = view.addOpen(1, pixels);
  AffineExpr k = view.add(2, {g.outChannels})[0];
  ResultCoordinates result{view,
                           row[0],
                           at.groups[0] * g.outChannels + k,
                           {row.begin() + 1, row.end()},
                           at.split};
  return {input,
          filter,
          result,
          reduce,
          isChannelsLast(conv.getYLayout()) ? dnn::TileDim::N : dnn::TileDim::M,
          !splits.areSteps};
}
