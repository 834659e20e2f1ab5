//===- PackedViews.cpp - The product of packed tensors --------------------===//
//
// The rows of the product are windows. Its reduction is over the lines of a
// window and the run along a line.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Common/ConvProgram.h"
#include "compiler/Algorithms/Packed/Packed.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

/// The windows along spatial dimension `dim`: of blocks of x that backward data
/// computes, else of pixels of y.
static Size countWindows(PointBuilder &p, const ConvProgram &program,
                         const PackedDim &windows, bool isData, int64_t dim) {
  if (const std::optional<int64_t> number = windows.count.getNumber())
    return *number;
  const ConvTensor &tensor = isData ? program.x : program.y;
  return p.divideUp(p.getSize(tensor.memory, tensor.getSpatialDim(dim)),
                    isData ? windows.fold : 1);
}

/// The dimensions of the windows: images, and rows and columns of windows. They
/// are for a view of `tensor`, whose batch they have.
static SmallVector<Size> getWindows(OpBuilder &b, dnn::ConvOp conv,
                                    const PackedGeometry &g, Value tensor,
                                    bool hasHalo = false) {
  PointBuilder p(b, conv.getLoc());
  const ConvProgram program(conv);
  auto count = [&](const PackedDim &windows, int64_t dim) {
    return countWindows(p, program, windows, g.isData(), dim);
  };
  return {p.getSize(tensor, 0),
          hasHalo ? Size(g.countPositions()) : count(g.height, 0),
          count(g.width, 1)};
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
  auto addWindows = [&](ViewBuilder &view, Value tensor) {
    return view.addOpen(1, getWindows(b, conv, g, tensor, hasHalo));
  };
  dnn::ViewOp input, filter;
  {
    ViewBuilder view(b);
    view.add(0, {1});
    ViewBuilder::Exprs row =
        addWindows(view, g.images ? tensors.images : conv.getY());
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
  ViewBuilder::Exprs row = addWindows(view, conv.getResultOperand().get());
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
  Value y = tensors.gradient ? tensors.gradient : conv.getY();
  const SmallVector<int64_t> channels = {g.shape.outChannels},
                             taps = getTaps(g, tile.isTma);
  auto getPixels = [&](Value tensor) {
    return getWindows(b, conv, g, tensor, tile.halo > 0);
  };
  const SmallVector<int64_t> windows = getNumbers(getPixels(y));
  auto addGroups = [&](ViewBuilder &view) {
    return view.add(0, {tile.splits, 1})[0];
  };
  dnn::ViewOp gradient, input;
  {
    ViewBuilder view(b);
    addGroups(view);
    AffineExpr k = view.add(1, channels)[0];
    ViewBuilder::Exprs pixel = view.addOpen(2, getPixels(y));
    gradient = view.create(loc, y, {pixel[0], pixel[1], pixel[2], k});
  }
  {
    ViewBuilder view(b);
    addGroups(view);
    ViewBuilder::Exprs tap = view.add(1, taps);
    ViewBuilder::Exprs pixel = view.addOpen(2, getPixels(tensors.images));
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
