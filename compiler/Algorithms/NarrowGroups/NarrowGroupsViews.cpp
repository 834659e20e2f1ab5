//===- NarrowGroupsViews.cpp - Blocks of groups as matrices ---------------===//
//
// Rows or columns that are 64 channels consist of groups and the channels of a
// group. They read the filter at channel (group of the column - group of the
// row) * channels + channel, which is inside of the tensor only where both
// groups are the same.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/NarrowGroups/NarrowGroups.h"

using namespace mlir;
using namespace tessera;

namespace {
/// The counts that all views share.
struct Blocks {
  int64_t channels; ///< The channels of a group.
  int64_t perBlock; ///< The groups of a block.
  int64_t count;    ///< The blocks of channels.

  explicit Blocks(const ConvGeometry &g)
      : channels(g.inChannels), perBlock(NarrowTile::kBlock / channels),
        count(g.groups / perBlock) {}
};
} // namespace

namespace {
/// A pixel of an image of the result, or of the reduction.
struct Pixel {
  AffineExpr image; ///< Null if images are groups.
  ViewBuilder::Exprs position;
};

/// The dimensions of pixels: blocks, and the pixels of a block. Without runs
/// the blocks of a line vary fastest. With runs those of a column do, and their
/// number is rounded up to whole runs, which are a dimension of their own if
/// sizes are unknown. Images are in front where they are no groups.
class Pixels {
public:
  Pixels(OpBuilder &b, Value tensor, dnn::Layout layout, const NarrowTile &tile)
      : b(b), tile(tile), images(getImageSizes(b, tensor, layout)),
        isOpen(!images[0].isKnown()) {
    PointBuilder p(b, tensor.getLoc());
    const Size columns = p.divideUp(images[2], tile.width);
    if (tile.run == 1) {
      sizes = {p.divideUp(images[1], tile.height), columns};
    } else {
      const Size runs = p.divideUp(images[1], tile.height * tile.run);
      sizes = {columns};
      if (isOpen)
        sizes.append({runs, tile.run});
      else
        sizes.push_back(runs.number * tile.run);
    }
    sizes.append({tile.height, tile.width});
  }

  /// Whether images are rows, which workgroups number alone, and no groups.
  bool areOpen() const { return isOpen; }

  /// With images in front if `hasImages`, named by `tensor`.
  SmallVector<Size> get(Value tensor, dnn::Layout layout,
                        bool hasImages) const {
    SmallVector<Size> all = sizes;
    if (hasImages)
      all.insert(all.begin(), getImageSizes(b, tensor, layout)[0]);
    return all;
  }

  /// Adds them to coordinate `index` of the view of `tensor`.
  Pixel add(ViewBuilder &view, unsigned index, Value tensor, dnn::Layout layout,
            bool hasImages) const {
    ViewBuilder::Exprs p = view.addOpen(index, get(tensor, layout, hasImages));
    const AffineExpr image = hasImages ? p.front() : AffineExpr();
    const bool hasRuns = tile.run > 1;
    const AffineExpr *at = p.begin() + (hasImages ? 1 : 0);
    AffineExpr line = at[hasRuns ? 1 : 0], column = at[hasRuns ? 0 : 1];
    if (hasRuns && isOpen)
      line = line * tile.run + at[2];
    const AffineExpr *in = p.end() - 2;
    return {image, {line * tile.height + in[0], column * tile.width + in[1]}};
  }

private:
  OpBuilder &b;
  const NarrowTile &tile;
  SmallVector<Size> images, sizes;
  const bool isOpen;
};
} // namespace

GemmViews tessera::viewNarrowImages(OpBuilder &b, dnn::ConvOp conv,
                                    const ConvGeometry &g,
                                    const NarrowTile &tile) {
  const Blocks blocks(g);
  const bool isForward = conv.getDirection() == dnn::ConvDirection::Forward;
  const Value resultImage = isForward ? conv.getY() : conv.getX();
  const dnn::Layout layout = isForward ? conv.getYLayout() : conv.getXLayout();
  const Value sourceImage = isForward ? conv.getX() : conv.getY();
  const dnn::Layout sourceLayout =
      isForward ? conv.getXLayout() : conv.getYLayout();
  const Pixels pixels(b, resultImage, layout, tile);
  const bool areRows = pixels.areOpen();
  SmallVector<int64_t> reduce = g.get(&ConvDim::filter);
  reduce.append({blocks.perBlock, blocks.channels});
  const SmallVector<int64_t> groups = {areRows ? 1 : g.batch, blocks.count};
  const SmallVector<int64_t> rowGroups = {blocks.perBlock, blocks.channels};

  ViewBuilder imageView(b);
  ViewBuilder::Exprs group = imageView.add(0, groups);
  Pixel pixel = pixels.add(imageView, 1, sourceImage, sourceLayout, areRows);
  ViewBuilder::Exprs k = imageView.add(2, reduce);
  ViewBuilder::Exprs spatial;
  // Backward data walks its taps from the last to the first, so that positions
  // in the image increase.
  for (auto [i, dim] : llvm::enumerate(g.dims))
    spatial.push_back(isForward
                          ? pixel.position[i] * dim.stride +
                                k[i] * dim.dilation - dim.pad
                          : pixel.position[i] + k[i] * dim.dilation + dim.pad -
                                (dim.filter - 1) * dim.dilation);
  dnn::ViewOp image = imageView.create(
      conv.getLoc(), sourceImage, sourceLayout,
      areRows ? pixel.image : group[0],
      group[1] * NarrowTile::kBlock + k[2] * blocks.channels + k[3], spatial);

  ViewBuilder filterView(b);
  group = filterView.add(0, groups);
  ViewBuilder::Exprs row = filterView.add(1, rowGroups);
  k = filterView.add(2, reduce);
  ViewBuilder::Exprs output = isForward ? row : ViewBuilder::Exprs{k[2], k[3]};
  ViewBuilder::Exprs input = isForward ? ViewBuilder::Exprs{k[2], k[3]} : row;
  ViewBuilder::Exprs taps;
  for (auto [i, dim] : llvm::enumerate(g.dims))
    taps.push_back(isForward ? k[i] : -k[i] + (dim.filter - 1));
  dnn::ViewOp filter = filterView.create(
      conv.getLoc(), conv.getW(), conv.getWLayout(),
      group[1] * NarrowTile::kBlock + output[0] * blocks.channels + output[1],
      (input[0] - output[0]) * blocks.channels + input[1], taps);

  ViewBuilder view(b);
  group = view.add(0, groups);
  pixel = pixels.add(view, 1, resultImage, layout, areRows);
  AffineExpr channel = view.add(2, {NarrowTile::kBlock})[0];
  ResultCoordinates result{view, areRows ? pixel.image : group[0],
                           group[1] * NarrowTile::kBlock + channel,
                           pixel.position};
  return {image, filter, result, reduce, dnn::TileDim::N};
}

GemmViews tessera::viewNarrowWeights(OpBuilder &b, dnn::ConvOp conv,
                                     const ConvGeometry &g,
                                     const NarrowTile &tile) {
  const Blocks blocks(g);
  const Pixels pixels(b, conv.getY(), conv.getYLayout(), tile);
  SmallVector<int64_t> reduce = getNumbers(
      pixels.get(conv.getY(), conv.getYLayout(), /*hasImages=*/true));
  const SmallVector<int64_t> groups = {tile.splits, blocks.count};
  SmallVector<int64_t> columns = g.get(&ConvDim::filter);
  columns.append({blocks.perBlock, blocks.channels});

  ViewBuilder outputView(b);
  AffineExpr block = outputView.add(0, groups)[1];
  AffineExpr channel = outputView.add(1, {NarrowTile::kBlock})[0];
  Pixel pixel = pixels.add(outputView, 2, conv.getY(), conv.getYLayout(),
                           /*hasImages=*/true);
  dnn::ViewOp output = outputView.create(
      conv.getLoc(), conv.getY(), conv.getYLayout(), pixel.image,
      block * NarrowTile::kBlock + channel, pixel.position);

  ViewBuilder inputView(b);
  block = inputView.add(0, groups)[1];
  ViewBuilder::Exprs column = inputView.add(1, columns);
  pixel = pixels.add(inputView, 2, conv.getX(), conv.getXLayout(),
                     /*hasImages=*/true);
  ViewBuilder::Exprs spatial;
  for (auto [i, dim] : llvm::enumerate(g.dims))
    spatial.push_back(pixel.position[i] * dim.stride +
                      column[i] * dim.dilation - dim.pad);
  dnn::ViewOp input = inputView.create(
      conv.getLoc(), conv.getX(), conv.getXLayout(), pixel.image,
      block * NarrowTile::kBlock + column[2] * blocks.channels + column[3],
      spatial);

  ViewBuilder view(b);
  ViewBuilder::Exprs group = view.add(0, groups);
  ViewBuilder::Exprs row = view.add(1, {blocks.perBlock, blocks.channels});
  column = view.add(2, columns);
  ResultCoordinates result{view,
                           group[1] * NarrowTile::kBlock +
                               row[0] * blocks.channels + row[1],
                           (column[2] - row[0]) * blocks.channels + column[3],
                           {column[0], column[1]},
                           group[0]};
  return {output, input, result, reduce, dnn::TileDim::N};
}
