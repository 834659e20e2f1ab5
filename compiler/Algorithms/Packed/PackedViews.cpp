//===- PackedViews.cpp - The product of packed tensors --------------------===//
//
// The rows of the product are windows. Its reduction is over the lines of a
// window and the run along a line.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Packed/Packed.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

/// The dimensions of the windows: images, and rows and columns of windows.
static SmallVector<int64_t> getWindows(const PackedGeometry &g,
                                       bool hasHalo = false) {
  return {g.shape.batch, hasHalo ? g.countPositions() : g.height.count,
          g.width.count};
}

/// The dimensions of the reduction: the lines of a window and their runs, or
/// taps and channels if the operand is not packed.
static SmallVector<int64_t> getReduction(const PackedGeometry &g) {
  if (g.images)
    return {g.height.taps, g.getRun()};
  return {g.height.taps, g.width.taps, g.getTapElements()};
}

GemmViews tessera::viewPackedData(OpBuilder &b, dnn::ConvOp conv,
                                  const PackedGeometry &g,
                                  const PackedTensors &tensors, bool hasHalo) {
  Location loc = conv.getLoc();
  SmallVector<int64_t> reduce = getReduction(g);
  dnn::ViewOp input, filter;
  {
    ViewBuilder view(b);
    view.add(0, {1});
    ViewBuilder::Exprs row = view.add(1, getWindows(g, hasHalo));
    ViewBuilder::Exprs k = view.add(2, reduce);
    AffineExpr line = row[1] * g.height.step + k[0] + g.height.first;
    input =
        g.images
            ? view.create(loc, tensors.images, {row[0], line, row[2], k[1]})
            : view.create(loc, conv.getY(),
                          {row[0], line,
                           row[2] * g.width.step + k[1] + g.width.first, k[2]});
  }
  {
    ViewBuilder view(b);
    view.add(0, {1});
    ViewBuilder::Exprs coordinates = view.add(1, {g.getFilterRows()});
    llvm::append_range(coordinates, view.add(2, reduce));
    filter = view.create(loc, tensors.filter, coordinates);
  }
  ViewBuilder view(b);
  view.add(0, {1});
  ViewBuilder::Exprs row = view.add(1, getWindows(g, hasHalo));
  if (!g.isData()) {
    AffineExpr k = view.add(2, {g.shape.outChannels})[0];
    return {input, filter, ResultCoordinates{view, row[0], k, {row[1], row[2]}},
            reduce, dnn::TileDim::N};
  }
  ViewBuilder::Exprs pixel =
      view.add(2, {g.height.fold, g.width.fold, g.shape.inChannels});
  ViewBuilder::Exprs position = {row[1] * g.height.fold + pixel[0],
                                 row[2] * g.width.fold + pixel[1]};
  return {input, filter, ResultCoordinates{view, row[0], pixel[2], position},
          reduce, dnn::TileDim::N};
}

/// The dimensions of the product's side that reads the images, in the order of
/// the product: blocks of a run, lines and the elements of a block if taps are
/// the rows, else lines and their runs. A TMA copy moves a block of one line.
/// The padding of a line is zero, and nothing reads its results.
static SmallVector<int64_t> getTaps(const PackedGeometry &g, bool isTma) {
  if (g.hasTapRows)
    return g.getTapRows();
  const bool isPadded = isTma && g.height.taps > 1;
  return {g.height.taps,
          isPadded
              ? static_cast<int64_t>(llvm::alignTo(g.getRun(), g.getTapBlock()))
              : g.getRun()};
}

PackedWeightViews tessera::viewPackedWeights(OpBuilder &b, dnn::ConvOp conv,
                                             const PackedGeometry &g,
                                             const PackedTensors &tensors,
                                             const GemmTile &tile) {
  Location loc = conv.getLoc();
  SmallVector<int64_t> windows = getWindows(g, tile.halo > 0),
                       channels = {g.shape.outChannels},
                       taps = getTaps(g, tile.isTma);
  auto addGroups = [&](ViewBuilder &view) {
    return view.add(0, {tile.splits, 1})[0];
  };
  dnn::ViewOp gradient, input;
  {
    ViewBuilder view(b);
    addGroups(view);
    AffineExpr k = view.add(1, channels)[0];
    ViewBuilder::Exprs pixel = view.add(2, windows);
    Value y = tensors.gradient ? tensors.gradient : conv.getY();
    gradient = view.create(loc, y, {pixel[0], pixel[1], pixel[2], k});
  }
  {
    ViewBuilder view(b);
    addGroups(view);
    ViewBuilder::Exprs tap = view.add(1, taps);
    ViewBuilder::Exprs pixel = view.add(2, windows);
    AffineExpr line = g.hasTapRows ? tap[1] : tap[0];
    AffineExpr inRun =
        g.hasTapRows ? tap[0] * g.getTapBlock() + tap[2] : tap[1];
    input = view.create(
        loc, tensors.images,
        {pixel[0], pixel[1] + line + g.height.first, pixel[2], inRun});
  }
  ViewBuilder view(b);
  AffineExpr split = addGroups(view);
  if (g.hasTapRows) {
    ViewBuilder::Exprs tap = view.add(1, taps);
    AffineExpr k = view.add(2, channels)[0];
    dnn::ViewOp partials =
        view.create(loc, tensors.partials, {split, tap[0], tap[1], tap[2], k});
    ResultCoordinates result{view, k, tap[2], {tap[0], tap[1]}, split};
    return {{input, gradient, result, windows, dnn::TileDim::N}, partials};
  }
  AffineExpr k = view.add(1, channels)[0];
  ViewBuilder::Exprs tap = view.add(2, taps);
  dnn::ViewOp partials =
      view.create(loc, tensors.partials, {split, k, tap[0], tap[1]});
  ResultCoordinates result{view, k, tap[1], {tap[0]}, split};
  return {{gradient, input, result, windows, dnn::TileDim::N}, partials};
}
