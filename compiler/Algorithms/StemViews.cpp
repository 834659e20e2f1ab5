//===- StemViews.cpp - A convolution of few channels as a GEMM ------------===//
//
// Rows are output pixels of one image, in blocks; the reduction is over lines
// of the filter (and channels that lie apart) and a run along a line.
//
//===----------------------------------------------------------------------===//

#include "compiler/Algorithms/Stem.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

StemRun StemRun::make(int64_t taps, int64_t pad, int64_t line, int64_t chunk) {
  StemRun run{static_cast<int64_t>(llvm::alignTo(taps, chunk)), 0};
  // Padding and lead together make whole loads, as far as they take no room.
  for (int64_t width = chunk; width > 1; width /= 2) {
    int64_t lead = static_cast<int64_t>(llvm::alignTo(pad, width)) - pad;
    if (line % width == 0 && taps + lead <= run.length) {
      run.lead = lead;
      break;
    }
  }
  return run;
}

/// `tensor`, an argument of the kernel function, with its last two dimensions
/// as one.
static Value mergeLastDims(Value tensor) {
  auto type = cast<MemRefType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  int64_t last = shape.pop_back_val();
  shape.back() *= last;
  tensor.setType(MemRefType::get(shape, type.getElementType()));
  auto function = cast<func::FuncOp>(tensor.getParentBlock()->getParentOp());
  function.setFunctionType(FunctionType::get(
      tensor.getContext(), function.getBody().front().getArgumentTypes(), {}));
  return tensor;
}

GemmViews tessera::viewStem(OpBuilder &b, dnn::ConvOp conv,
                            const ConvGeometry &g, const StemTile &tile) {
  Location loc = conv.getLoc();
  const ConvDim &rows = g.dims[0], &columns = g.dims[1];
  bool isLast = isChannelsLast(conv.getXLayout());
  int64_t bytes = conv.getElementType().getIntOrFloatBitWidth() / 8;
  // Elements of a line from one column to the next.
  int64_t perColumn = isLast ? g.inChannels : 1;
  StemRun run =
      StemRun::make(columns.filter * perColumn, columns.pad * perColumn,
                    columns.in * perColumn, 16 / bytes);
  SmallVector<int64_t> pixels = {
      llvm::divideCeilSigned(rows.out, tile.height),
      llvm::divideCeilSigned(columns.out, tile.width), tile.height, tile.width};
  SmallVector<int64_t> reduce = {rows.filter, run.length};
  if (!isLast)
    reduce.insert(reduce.begin(), g.inChannels);
  auto getPixel = [&](ArrayRef<AffineExpr> row) {
    return ViewBuilder::Exprs{row[0] * tile.height + row[2],
                              row[1] * tile.width + row[3]};
  };
  // The coordinates of a tensor whose first is `outer`.
  auto order = [&](AffineExpr outer, ArrayRef<AffineExpr> reduction,
                   AffineExpr line, AffineExpr element) {
    ViewBuilder::Exprs coordinates = {outer, line, element};
    if (!isLast)
      coordinates.insert(coordinates.begin() + 1, reduction.front());
    return coordinates;
  };
  Value x = isLast ? mergeLastDims(conv.getX()) : conv.getX();
  Value w = isLast ? mergeLastDims(conv.getW()) : conv.getW();

  ViewBuilder imageView(b);
  AffineExpr image = imageView.add(0, {g.batch})[0];
  ViewBuilder::Exprs pixel = getPixel(imageView.add(1, pixels));
  ViewBuilder::Exprs reduction = imageView.add(2, reduce);
  AffineExpr tap = reduction[reduction.size() - 2];
  auto input = imageView.create(
      loc, x,
      order(image, reduction,
            pixel[0] * rows.stride + tap * rows.dilation - rows.pad,
            pixel[1] * (columns.stride * perColumn) + reduction.back() -
                (columns.pad * perColumn + run.lead)));

  ViewBuilder filterView(b);
  filterView.add(0, {g.batch});
  AffineExpr k = filterView.add(1, {g.outChannels})[0];
  reduction = filterView.add(2, reduce);
  auto filter =
      filterView.create(loc, w,
                        order(k, reduction, reduction[reduction.size() - 2],
                              reduction.back() - run.lead));

  ViewBuilder view(b);
  image = view.add(0, {g.batch})[0];
  pixel = getPixel(view.add(1, pixels));
  k = view.add(2, {g.outChannels})[0];
  return {input, filter, ResultPlace{view, image, k, pixel}, reduce,
          isChannelsLast(conv.getYLayout()) ? dnn::TileDim::N
                                            : dnn::TileDim::M};
}
