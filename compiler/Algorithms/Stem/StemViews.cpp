//===- StemViews.cpp - A convolution of few channels as a GEMM ------------===//
//
// The rows are output pixels of one image, in blocks. The reduction is over the
// lines of the filter and the run along a line, and over channels if these are
// planes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Common/ConvProgram.h"
#include "compiler/Algorithms/Stem/Stem.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

StemRun StemRun::make(int64_t taps, int64_t pad, int64_t line, int64_t chunk) {
  StemRun run{static_cast<int64_t>(llvm::alignTo(taps, chunk)), 0};
  // Padding and lead together are a multiple of the widest load for which the
  // run gets no longer. Lines of unknown length may be any multiple.
  for (int64_t width = chunk; width > 1; width /= 2) {
    int64_t lead = static_cast<int64_t>(llvm::alignTo(pad, width)) - pad;
    const bool isWhole = ShapedType::isDynamic(line) || line % width == 0;
    if (isWhole && taps + lead <= run.length) {
      run.lead = lead;
      break;
    }
  }
  return run;
}

/// Merges the last two dimensions of `tensor`, a packed argument of the kernel
/// function, into one.
static Value mergeLastDims(Value tensor) {
  SmallVector<SizeExpr> shape = getArgumentSizes(tensor);
  const SizeExpr last = shape.pop_back_val();
  shape.back() = shape.back() * last;
  return reshapeOpen(tensor, shape);
}

namespace {
/// Makes the views of one stem.
class StemViewer {
public:
  StemViewer(OpBuilder &b, dnn::ConvOp conv, const ConvGeometry &g,
             const StemTile &tile);

  dnn::ViewOp viewInput();
  dnn::ViewOp viewFilter();
  ResultCoordinates placeOutput();
  ArrayRef<int64_t> getReduce() const { return reduce; }

private:
  /// The distance from one column of a line to the next, in elements.
  int64_t getColumnStep() const { return isLast ? g.inChannels : 1; }
  /// Adds what all views have: images are groups, or, if their number is
  /// unknown, rows, which workgroups number alone.
  void addImages(ViewBuilder &view) const {
    view.add(0, {isOpen ? 1 : g.batch});
  }
  struct Pixel {
    AffineExpr image, line, column;
  };
  Pixel addPixels(ViewBuilder &view, Value tensor);
  dnn::ViewOp create(const ViewBuilder &view, Value tensor, AffineExpr outer,
                     ArrayRef<AffineExpr> reduction, AffineExpr line,
                     AffineExpr element);

  OpBuilder &b;
  dnn::ConvOp conv;
  const ConvGeometry &g;
  const StemTile &tile;
  const bool isLast; ///< Channels are innermost, and so part of the line.
  const bool isOpen; ///< The sizes of images and their number are unknown.
  StemRun run;
  SmallVector<Size> pixels;    ///< Blocks of pixels, and the pixels of a block.
  SmallVector<int64_t> reduce; ///< Channels that are planes, lines, the run.
};
} // namespace

StemViewer::StemViewer(OpBuilder &b, dnn::ConvOp conv, const ConvGeometry &g,
                       const StemTile &tile)
    : b(b), conv(conv), g(g), tile(tile),
      isLast(isChannelsLast(conv.getXLayout())),
      isOpen(ShapedType::isDynamic(g.batch)) {
  const ConvDim &rows = g.dims[0], &columns = g.dims[1];
  const int64_t bytes = conv.getElementType().getIntOrFloatBitWidth() / 8;
  run = StemRun::make(
      columns.filter * getColumnStep(), columns.pad * getColumnStep(),
      ShapedType::isDynamic(columns.in) ? columns.in
                                        : columns.in * getColumnStep(),
      16 / bytes);
  PointBuilder p(b, conv.getLoc());
  SmallVector<Size> out = getImageSizes(b, conv.getY(), conv.getYLayout());
  pixels = {p.divideUp(out[1], tile.height), p.divideUp(out[2], tile.width),
            tile.height, tile.width};
  if (!isLast)
    reduce.push_back(g.inChannels);
  reduce.append({rows.filter, run.length});
}

/// Adds the rows of a view of `tensor`, x or y.
StemViewer::Pixel StemViewer::addPixels(ViewBuilder &view, Value tensor) {
  SmallVector<Size> sizes = pixels;
  if (isOpen)
    sizes.insert(sizes.begin(),
                 PointBuilder(b, conv.getLoc()).getSize(tensor, 0));
  ViewBuilder::Exprs row = view.addOpen(1, sizes);
  AffineExpr *at = row.end() - pixels.size();
  return {isOpen ? row.front() : b.getAffineDimExpr(0),
          at[0] * tile.height + at[2], at[1] * tile.width + at[3]};
}

/// Creates the view of x or w. `outer` is its first coordinate.
dnn::ViewOp StemViewer::create(const ViewBuilder &view, Value tensor,
                               AffineExpr outer, ArrayRef<AffineExpr> reduction,
                               AffineExpr line, AffineExpr element) {
  ViewBuilder::Exprs coordinates = {outer};
  if (!isLast)
    coordinates.push_back(reduction.front());
  coordinates.append({line, element});
  return view.create(conv.getLoc(), isLast ? mergeLastDims(tensor) : tensor,
                     coordinates);
}

dnn::ViewOp StemViewer::viewInput() {
  const ConvDim &rows = g.dims[0], &columns = g.dims[1];
  ViewBuilder view(b);
  addImages(view);
  const Pixel pixel = addPixels(view, conv.getX());
  ViewBuilder::Exprs reduction = view.add(2, reduce);
  AffineExpr tap = reduction[reduction.size() - 2];
  return create(view, conv.getX(), pixel.image, reduction,
                pixel.line * rows.stride + tap * rows.dilation - rows.pad,
                pixel.column * (columns.stride * getColumnStep()) +
                    reduction.back() -
                    (columns.pad * getColumnStep() + run.lead));
}

dnn::ViewOp StemViewer::viewFilter() {
  ViewBuilder view(b);
  addImages(view);
  AffineExpr k = view.add(1, {g.outChannels})[0];
  ViewBuilder::Exprs reduction = view.add(2, reduce);
  return create(view, conv.getW(), k, reduction,
                reduction[reduction.size() - 2], reduction.back() - run.lead);
}

ResultCoordinates StemViewer::placeOutput() {
  ViewBuilder view(b);
  addImages(view);
  const Pixel pixel = addPixels(view, conv.getY());
  AffineExpr k = view.add(2, {g.outChannels})[0];
  return {view, pixel.image, k, {pixel.line, pixel.column}};
}

GemmViews tessera::viewStem(OpBuilder &b, dnn::ConvOp conv,
                            const ConvGeometry &g, const StemTile &tile) {
  StemViewer viewer(b, conv, g, tile);
  dnn::ViewOp input = viewer.viewInput();
  dnn::ViewOp filter = viewer.viewFilter();
  return {input, filter, viewer.placeOutput(),
          SmallVector<int64_t>(viewer.getReduce()),
          isChannelsLast(conv.getYLayout()) ? dnn::TileDim::N
                                            : dnn::TileDim::M};
}
