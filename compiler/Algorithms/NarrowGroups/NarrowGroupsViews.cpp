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

/// The dimensions of the pixels of an image of `size`: blocks, and the pixels
/// of a block. Without runs the blocks of a line vary fastest. With runs those
/// of a column do, and their number is rounded up to whole runs.
static SmallVector<int64_t> getPixels(ArrayRef<int64_t> size,
                                      const NarrowTile &tile) {
  const int64_t lines = llvm::divideCeilSigned(size[0], tile.height);
  const int64_t columns = llvm::divideCeilSigned(size[1], tile.width);
  if (tile.run > 1)
    return {columns, llvm::divideCeilSigned(lines, tile.run) * tile.run,
            tile.height, tile.width};
  return {lines, columns, tile.height, tile.width};
}

/// The position in the image of pixel `p` of getPixels().
static ViewBuilder::Exprs locatePixel(ArrayRef<AffineExpr> p,
                                      const NarrowTile &tile) {
  const bool hasRuns = tile.run > 1;
  return {p[hasRuns ? 1 : 0] * tile.height + p[2],
          p[hasRuns ? 0 : 1] * tile.width + p[3]};
}

GemmViews tessera::viewNarrowImages(OpBuilder &b, dnn::ConvOp conv,
                                    const ConvGeometry &g,
                                    const NarrowTile &tile) {
  const Blocks blocks(g);
  const bool isForward = conv.getDirection() == dnn::ConvDirection::Forward;
  SmallVector<int64_t> pixels =
      getPixels(g.get(isForward ? &ConvDim::out : &ConvDim::in), tile);
  SmallVector<int64_t> reduce = g.get(&ConvDim::filter);
  reduce.append({blocks.perBlock, blocks.channels});
  const SmallVector<int64_t> groups = {g.batch, blocks.count};
  const SmallVector<int64_t> rowGroups = {blocks.perBlock, blocks.channels};

  ViewBuilder imageView(b);
  ViewBuilder::Exprs group = imageView.add(0, groups);
  ViewBuilder::Exprs pixel = locatePixel(imageView.add(1, pixels), tile);
  ViewBuilder::Exprs k = imageView.add(2, reduce);
  ViewBuilder::Exprs spatial;
  // Backward data walks its taps from the last to the first, so that positions
  // in the image increase.
  for (auto [i, dim] : llvm::enumerate(g.dims))
    spatial.push_back(isForward ? pixel[i] * dim.stride + k[i] * dim.dilation -
                                      dim.pad
                                : pixel[i] + k[i] * dim.dilation + dim.pad -
                                      (dim.filter - 1) * dim.dilation);
  dnn::ViewOp image = imageView.create(
      conv.getLoc(), isForward ? conv.getX() : conv.getY(),
      isForward ? conv.getXLayout() : conv.getYLayout(), group[0],
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
  pixel = locatePixel(view.add(1, pixels), tile);
  AffineExpr channel = view.add(2, {NarrowTile::kBlock})[0];
  ResultCoordinates result{view, group[0],
                           group[1] * NarrowTile::kBlock + channel, pixel};
  return {image, filter, result, reduce, dnn::TileDim::N};
}

GemmViews tessera::viewNarrowWeights(OpBuilder &b, dnn::ConvOp conv,
                                     const ConvGeometry &g,
                                     const NarrowTile &tile) {
  const Blocks blocks(g);
  SmallVector<int64_t> reduce = {g.batch};
  reduce.append(getPixels(g.get(&ConvDim::out), tile));
  const SmallVector<int64_t> groups = {tile.splits, blocks.count};
  SmallVector<int64_t> columns = g.get(&ConvDim::filter);
  columns.append({blocks.perBlock, blocks.channels});

  ViewBuilder outputView(b);
  AffineExpr block = outputView.add(0, groups)[1];
  AffineExpr channel = outputView.add(1, {NarrowTile::kBlock})[0];
  ViewBuilder::Exprs k = outputView.add(2, reduce);
  dnn::ViewOp output =
      outputView.create(conv.getLoc(), conv.getY(), conv.getYLayout(), k[0],
                        block * NarrowTile::kBlock + channel,
                        locatePixel(ArrayRef(k).drop_front(), tile));

  ViewBuilder inputView(b);
  block = inputView.add(0, groups)[1];
  ViewBuilder::Exprs column = inputView.add(1, columns);
  k = inputView.add(2, reduce);
  ViewBuilder::Exprs pixel = locatePixel(ArrayRef(k).drop_front(), tile);
  ViewBuilder::Exprs spatial;
  for (auto [i, dim] : llvm::enumerate(g.dims))
    spatial.push_back(pixel[i] * dim.stride + column[i] * dim.dilation -
                      dim.pad);
  dnn::ViewOp input = inputView.create(
      conv.getLoc(), conv.getX(), conv.getXLayout(), k[0],
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
