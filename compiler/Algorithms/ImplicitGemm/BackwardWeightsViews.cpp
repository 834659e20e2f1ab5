//===- BackwardWeightsViews.cpp - Backward weights as a GEMM --------------===//
//
// Rows are output channels, columns filter taps and input channels in the
// filter's order in memory, and the reduction is over output pixels. Padding
// changes from pixel to pixel but not from image to image: with the batch
// innermost the loop walks images without arithmetic. TMA walks pixels in the
// order of memory, and takes its part of them by steps (dnn.pipeline).
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/ImplicitGemm/GemmViews.h"
#include "compiler/Algorithms/Common/HaloPositions.h"

using namespace mlir;
using namespace tessera;

namespace {
/// Output pixels, with the image first or last.
struct Pixel {
  AffineExpr image;
  ViewBuilder::Exprs position;
};

/// Taps and channels of the filter, with the channel first or last.
struct FilterPlace {
  AffineExpr channel;
  ViewBuilder::Exprs taps;
};
} // namespace

/// Images fill a step of the loop. A pointwise convolution needs
/// no padding checks at all, so that its pixels are one dimension in memory.
static bool wantsBatchLast(const ConvGeometry &g,
                           const WeightsReduction &reduction) {
  return !reduction.isTma && !g.isPointwise() && g.batch % reduction.step == 0;
}

/// `part` of the outermost dimension of `reduce` come before its first place.
static Pixel addPixels(ViewBuilder &view, ArrayRef<int64_t> reduce,
                       bool batchLast, AffineExpr part) {
  ViewBuilder::Exprs exprs = view.add(2, reduce);
  if (part)
    exprs.front() = part * reduce.front() + exprs.front();
  if (batchLast)
    return {exprs.back(), {exprs.begin(), exprs.end() - 1}};
  return {exprs.front(), {exprs.begin() + 1, exprs.end()}};
}

/// TMA copies 128 bytes of channels of one tap, as many elements as a step, so
/// the channels of a tap are filled up to whole copies. What is added is
/// outside of the filter.
static int64_t countChannels(const ConvGeometry &g,
                             const WeightsReduction &reduction) {
  const bool hasTaps =
      llvm::any_of(g.dims, [](const ConvDim &dim) { return dim.filter > 1; });
  return reduction.isTma && hasTaps
             ? llvm::alignTo(g.inChannels, reduction.step)
             : g.inChannels;
}

/// Where taps share pixels, a tile is all taps of 64 channels.
static FilterPlace addBlocks(ViewBuilder &view, unsigned index,
                             const ConvGeometry &g) {
  constexpr int64_t kBlock = 64;
  const int64_t blocks = llvm::divideCeilSigned(g.inChannels, kBlock);
  SmallVector<int64_t> sizes = {blocks};
  llvm::append_range(sizes, g.get(&ConvDim::filter));
  sizes.push_back(kBlock);
  ViewBuilder::Exprs exprs = view.add(index, sizes);
  AffineExpr channel = exprs.back();
  if (blocks > 1)
    channel = exprs.front() * kBlock + channel;
  return {channel, {exprs.begin() + 1, exprs.end() - 1}};
}

static FilterPlace addFilter(ViewBuilder &view, unsigned index,
                             const ConvGeometry &g, bool channelsLast,
                             const WeightsReduction &reduction) {
  if (reduction.hasHalo)
    return addBlocks(view, index, g);
  SmallVector<int64_t> sizes = g.get(&ConvDim::filter);
  sizes.insert(channelsLast ? sizes.end() : sizes.begin(),
               countChannels(g, reduction));
  ViewBuilder::Exprs exprs = view.add(index, sizes);
  if (channelsLast)
    return {exprs.back(), {exprs.begin(), exprs.end() - 1}};
  return {exprs.front(), {exprs.begin() + 1, exprs.end()}};
}

/// Output pixels in the order of the loop.
static SmallVector<int64_t> getReduction(const ConvGeometry &g, bool batchLast,
                                         bool hasHalo) {
  SmallVector<int64_t> reduce;
  for (const ConvDim &dim : g.dims)
    reduce.push_back(hasHalo ? countInputPositions(dim) : dim.out);
  reduce.insert(batchLast ? reduce.end() : reduce.begin(), g.batch);
  return reduce;
}

int64_t tessera::getSplitSize(const ConvGeometry &g,
                              const WeightsReduction &reduction) {
  return getReduction(g, wantsBatchLast(g, reduction), reduction.hasHalo)
      .front();
}

namespace {
/// The group's part of a position.
struct GroupExprs {
  AffineExpr group;
  AffineExpr part; ///< Null if the reduction is not split.
};
} // namespace

/// Parts that the pipeline counts by steps are outermost, as it asks; so tiles
/// that run together read the same pixels.
static GroupExprs addGroups(ViewBuilder &view, const ConvGeometry &g,
                            const WeightsReduction &reduction) {
  const int64_t parts = reduction.parts;
  if (parts == 1)
    return {view.add(0, {g.groups})[0], {}};
  if (reduction.isTma) {
    ViewBuilder::Exprs exprs = view.add(0, {parts, g.groups});
    return {exprs[1], exprs[0]};
  }
  ViewBuilder::Exprs exprs = view.add(0, {g.groups, parts});
  return {exprs[0], exprs[1]};
}

GemmViews tessera::viewBackwardWeights(OpBuilder &b, dnn::ConvOp conv,
                                       const ConvGeometry &g,
                                       const WeightsReduction &reduction) {
  Location loc = conv.getLoc();
  bool batchLast = wantsBatchLast(g, reduction);
  bool channelsLast = isChannelsLast(conv.getWLayout());
  SmallVector<int64_t> reduce = getReduction(g, batchLast, reduction.hasHalo);
  if (!reduction.isTma)
    reduce.front() /= reduction.parts;
  auto addPart = [&](ViewBuilder &view, AffineExpr part) {
    return addPixels(view, reduce, batchLast,
                     reduction.isTma ? AffineExpr() : part);
  };
  dnn::ViewOp output, input;
  {
    ViewBuilder view(b);
    auto [group, part] = addGroups(view, g, reduction);
    AffineExpr k = view.add(1, {g.outChannels})[0];
    Pixel pixel = addPart(view, part);
    output = view.create(loc, conv.getY(), conv.getYLayout(), pixel.image,
                         group * g.outChannels + k, pixel.position);
  }
  {
    ViewBuilder view(b);
    auto [group, part] = addGroups(view, g, reduction);
    FilterPlace place = addFilter(view, 1, g, channelsLast, reduction);
    Pixel pixel = addPart(view, part);
    ViewBuilder::Exprs spatial;
    for (auto [i, dim] : llvm::enumerate(g.dims))
      spatial.push_back(pixel.position[i] * dim.stride +
                        place.taps[i] * dim.dilation - dim.pad);
    input = view.create(loc, conv.getX(), conv.getXLayout(), pixel.image,
                        group * g.inChannels + place.channel, spatial);
  }
  ViewBuilder view(b);
  auto [group, part] = addGroups(view, g, reduction);
  AffineExpr k = view.add(1, {g.outChannels})[0];
  FilterPlace place = addFilter(view, 2, g, channelsLast, reduction);
  ResultPlace result{view, group * g.outChannels + k, place.channel, place.taps,
                     part};
  return {output, input, result, reduce, dnn::TileDim::N};
}
