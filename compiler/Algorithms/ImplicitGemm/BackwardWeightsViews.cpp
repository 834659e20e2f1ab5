//===- BackwardWeightsViews.cpp - Backward weights as a GEMM --------------===//
//
// Rows are output channels, columns filter taps and input channels in the
// filter's order in memory, or, of unknown sizes, in that of the images, and
// the reduction is over output pixels. Padding changes from pixel to pixel but
// not from image to image: with the batch innermost the loop walks images
// without arithmetic. In NCHW on AMD's chips it walks planes, with channels as
// the innermost columns. TMA walks pixels in the order of memory, and its
// splits are runs of steps (dnn.pipeline).
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Common/HaloPositions.h"
#include "compiler/Algorithms/ImplicitGemm/GemmViews.h"

using namespace mlir;
using namespace tessera;

namespace {
/// Coordinates of an output pixel, whose image comes first or last.
struct Pixel {
  AffineExpr image;
  ViewBuilder::Exprs position;
};

/// Coordinates of a filter element, whose channel comes first or last.
struct FilterCoordinates {
  AffineExpr channel;
  ViewBuilder::Exprs taps;
};
} // namespace

/// Whether images are the innermost dimension of the reduction. They have to
/// fill whole steps of the loop. A pointwise convolution needs no padding
/// checks at all, so its pixels stay one dimension in memory.
static bool wantsBatchLast(const ConvGeometry &g,
                           const WeightsReduction &reduction) {
  return !reduction.isTma && !reduction.hasPlanes && !g.isPointwise() &&
         !ShapedType::isDynamic(g.batch) && g.batch % reduction.step == 0;
}

bool tessera::walksPlanes(ArrayRef<ConvDim> dims, int64_t step) {
  constexpr int64_t kLeastPixels = 32, kMostPixels = 1 << 14;
  int64_t pixels = 1;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (dim.stride != 1 || dim.out > dim.in || (i > 0 && dim.out < dim.in))
      return false;
    pixels *= dim.out;
  }
  return pixels >= std::max(kLeastPixels, step) && pixels <= kMostPixels;
}

bool tessera::splitsPlanes(ArrayRef<ConvDim> dims) {
  return dims.size() > 1 && walksPlanes(dims.drop_front(), /*step=*/1);
}

/// The dimension that is split: the outermost one, or, of planes whose images
/// are not divided, that of lines or slices.
static size_t getSplitDim(const ConvGeometry &g,
                          const WeightsReduction &reduction) {
  return reduction.hasPlanes && splitsPlanes(g.dims) &&
                 g.batch % reduction.splits != 0
             ? 1
             : 0;
}

/// Adds the pixels of a split, which has `reduce[splitDim]` elements of that
/// dimension; `split` is its number, or null if there is only one.
static Pixel addPixels(ViewBuilder &view, ArrayRef<Size> reduce, bool batchLast,
                       size_t splitDim, AffineExpr split) {
  ViewBuilder::Exprs exprs = view.addOpen(2, reduce);
  if (split)
    exprs[splitDim] = split * reduce[splitDim].number + exprs[splitDim];
  if (batchLast)
    return {exprs.back(), {exprs.begin(), exprs.end() - 1}};
  return {exprs.front(), {exprs.begin() + 1, exprs.end()}};
}

/// A TMA copy has 128 bytes of channels of one tap, as many elements as a step,
/// so the channels of a tap are rounded up to whole copies. The added ones are
/// outside of the filter.
static int64_t countChannels(const ConvGeometry &g,
                             const WeightsReduction &reduction) {
  const bool hasTaps =
      llvm::any_of(g.dims, [](const ConvDim &dim) { return dim.filter > 1; });
  return reduction.isTma && hasTaps
             ? llvm::alignTo(g.inChannels, reduction.step)
             : g.inChannels;
}

/// Adds the columns of a convolution whose taps share pixels, where a tile is
/// all of those taps of `block` channels.
static FilterCoordinates addBlocks(ViewBuilder &view, unsigned index,
                                   const ConvGeometry &g, int64_t block) {
  const int64_t blocks = llvm::divideCeilSigned(g.inChannels, block);
  SmallVector<int64_t> sizes = {blocks};
  for (auto [i, dim] : llvm::enumerate(g.dims))
    if (hasPositions(g, i))
      sizes.push_back(dim.filter);
  sizes.push_back(block);
  ViewBuilder::Exprs exprs = view.add(index, sizes);
  AffineExpr channel = exprs.back();
  if (blocks > 1)
    channel = exprs.front() * block + channel;
  return {channel, {exprs.begin() + 1, exprs.end() - 1}};
}

static FilterCoordinates addFilter(ViewBuilder &view, unsigned index,
                                   const ConvGeometry &g, bool channelsLast,
                                   const WeightsReduction &reduction) {
  if (reduction.haloChannels > 0)
    return addBlocks(view, index, g, reduction.haloChannels);
  SmallVector<int64_t> sizes = g.get(&ConvDim::filter);
  sizes.insert(channelsLast ? sizes.end() : sizes.begin(),
               countChannels(g, reduction));
  ViewBuilder::Exprs exprs = view.add(index, sizes);
  if (channelsLast)
    return {exprs.back(), {exprs.begin(), exprs.end() - 1}};
  return {exprs.front(), {exprs.begin() + 1, exprs.end()}};
}

/// Adds the rows: output channels, and those of each tap that shares no pixels
/// where the others do.
static FilterCoordinates addRows(ViewBuilder &view, const ConvGeometry &g,
                                 bool hasHalo) {
  SmallVector<int64_t> sizes;
  for (auto [i, dim] : llvm::enumerate(g.dims))
    if (hasHalo && !hasPositions(g, i))
      sizes.push_back(dim.filter);
  sizes.push_back(g.outChannels);
  ViewBuilder::Exprs exprs = view.add(1, sizes);
  return {exprs.back(), {exprs.begin(), exprs.end() - 1}};
}

/// The pixels in the order of the loop: those of the output, but of the depth,
/// where other taps share pixels, those of the input.
static SmallVector<int64_t> getReduction(const ConvGeometry &g, bool batchLast,
                                         const WeightsReduction &reduction) {
  SmallVector<int64_t> reduce;
  const bool hasHalo =
      reduction.haloChannels > 0 && !ShapedType::isDynamic(g.batch);
  for (auto [i, dim] : llvm::enumerate(g.dims))
    reduce.push_back(hasHalo && hasPositions(g, i) ? countPositions(dim)
                     : hasHalo                     ? dim.in
                                                   : dim.out);
  reduce.insert(batchLast ? reduce.end() : reduce.begin(), g.batch);
  return reduce;
}

int64_t tessera::getSplitSize(const ConvGeometry &g,
                              const WeightsReduction &reduction) {
  return getReduction(g, wantsBatchLast(g, reduction),
                      reduction)[getSplitDim(g, reduction)];
}

/// Whether a dimension of y is as long as that of x, whatever that is.
static bool keepsSize(const ConvDim &dim) {
  return dim.stride == 1 &&
         dim.pad + dim.padAfter == (dim.filter - 1) * dim.dilation;
}

/// `pixels` of y as those of x, by the names of its sizes where these are
/// the same: so its pixels follow each other in memory as those of y do.
static SmallVector<Size> alignPixels(OpBuilder &b, dnn::ConvOp conv,
                                     const ConvGeometry &g,
                                     const WeightsReduction &reduction,
                                     SmallVector<Size> pixels) {
  pixels = alignSizes(b, conv.getX(), conv.getXLayout(), g.isPointwise(),
                      std::move(pixels));
  if (!ShapedType::isDynamic(g.batch) || reduction.isTma)
    return pixels;
  const SmallVector<Size> own =
      getImageSizes(b, conv.getX(), conv.getXLayout());
  for (auto [i, dim] : llvm::enumerate(g.dims))
    if (!pixels[1 + i].isKnown() && keepsSize(dim))
      pixels[1 + i] = own[1 + i];
  return pixels;
}

/// The positions of unknown number that taps share, as the view of `tensor`
/// walks them. Of dimensions whose taps share none the pixels of x are walked.
static SmallVector<Size> getSharedPositions(OpBuilder &b, dnn::ConvOp conv,
                                            const ConvGeometry &g,
                                            Value tensor) {
  SmallVector<Size> sizes = getPositions(b, conv, g, tensor);
  const SmallVector<Size> ofX =
      getImageSizes(b, conv.getX(), conv.getXLayout());
  for (auto [i, dim] : llvm::enumerate(g.dims))
    if (!hasPositions(g, i) && !keepsSize(dim))
      sizes[1 + i] = ofX[1 + i];
  return sizes;
}

GemmViews tessera::viewBackwardWeights(OpBuilder &b, dnn::ConvOp conv,
                                       const ConvGeometry &g,
                                       const WeightsReduction &reduction) {
  Location loc = conv.getLoc();
  const bool isOpen = ShapedType::isDynamic(g.batch);
  const bool areSteps = reduction.isTma || isOpen;
  const ReductionSplits splits{reduction.splits, areSteps};
  const bool hasHalo = reduction.haloChannels > 0;
  bool batchLast = wantsBatchLast(g, reduction);
  bool channelsLast = reduction.hasPlanes ||
                      isChannelsLast(conv.getWLayout()) ||
                      (isOpen && isChannelsLast(conv.getXLayout()));
  SmallVector<int64_t> reduce = getReduction(g, batchLast, reduction);
  const size_t splitDim = getSplitDim(g, reduction);
  if (!areSteps)
    reduce[splitDim] /= reduction.splits;
  const SmallVector<Size> pixels =
      isOpen && hasHalo ? getSharedPositions(b, conv, g, conv.getY())
      : isOpen          ? getImageSizes(b, conv.getY(), conv.getYLayout())
                        : SmallVector<Size>(ArrayRef(reduce));
  auto addSplit = [&](ViewBuilder &view, ArrayRef<Size> sizes,
                      AffineExpr split) {
    return addPixels(view, sizes, batchLast, splitDim,
                     areSteps ? AffineExpr() : split);
  };
  dnn::ViewOp output, input;
  {
    ViewBuilder view(b);
    auto [groups, split] = addGroups(view, {g.groups}, splits);
    FilterCoordinates rows = addRows(view, g, hasHalo);
    Pixel pixel = addSplit(view, pixels, split);
    for (auto [i, tap] : llvm::enumerate(rows.taps))
      pixel.position[i] =
          pixel.position[i] + g.dims[i].pad - tap * g.dims[i].dilation;
    output =
        view.create(loc, conv.getY(), conv.getYLayout(), pixel.image,
                    groups[0] * g.outChannels + rows.channel, pixel.position);
  }
  {
    ViewBuilder view(b);
    auto [groups, split] = addGroups(view, {g.groups}, splits);
    FilterCoordinates filter = addFilter(view, 1, g, channelsLast, reduction);
    Pixel pixel =
        addSplit(view,
                 isOpen && hasHalo ? getSharedPositions(b, conv, g, conv.getX())
                                   : alignPixels(b, conv, g, reduction, pixels),
                 split);
    const size_t ofRows = g.dims.size() - filter.taps.size();
    ViewBuilder::Exprs spatial(pixel.position.begin(),
                               pixel.position.begin() + ofRows);
    for (size_t i = ofRows; i < g.dims.size(); ++i)
      spatial.push_back(pixel.position[i] * g.dims[i].stride +
                        filter.taps[i - ofRows] * g.dims[i].dilation -
                        g.dims[i].pad);
    input = view.create(loc, conv.getX(), conv.getXLayout(), pixel.image,
                        groups[0] * g.inChannels + filter.channel, spatial);
  }
  ViewBuilder view(b);
  auto [groups, split] = addGroups(view, {g.groups}, splits);
  FilterCoordinates rows = addRows(view, g, hasHalo);
  FilterCoordinates filter = addFilter(view, 2, g, channelsLast, reduction);
  ViewBuilder::Exprs taps = rows.taps;
  llvm::append_range(taps, filter.taps);
  ResultCoordinates result{view, groups[0] * g.outChannels + rows.channel,
                           filter.channel, taps, split};
  return {output, input, result, reduce, dnn::TileDim::N};
}
