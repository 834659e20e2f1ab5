//===- ImageViews.cpp - Images as matrices, channels by pixels ------------===//

#include "compiler/Algorithms/ImplicitGemm/ImageViews.h"
#include "compiler/Algorithms/Common/ConvProgram.h"

using namespace mlir;
using namespace tessera;

bool tessera::hasImageMatrices(dnn::ConvOp conv, const ConvGeometry &g) {
  auto isPacked = [](Value tensor) {
    return isa<BlockArgument>(tensor) &&
           cast<MemRefType>(tensor.getType()).getLayout().isIdentity();
  };
  return conv.getXLayout() == dnn::Layout::NCHW &&
         conv.getYLayout() == dnn::Layout::NCHW && g.groups == 1 &&
         conv.getExtras().empty() && g.isPointwise() && isPacked(conv.getX()) &&
         isPacked(conv.getW()) && isPacked(conv.getY());
}

/// Gives a packed argument another shape with as many elements.
static void reshape(Value tensor, ArrayRef<int64_t> shape) {
  auto type = cast<MemRefType>(tensor.getType());
  setArgumentType(tensor, MemRefType::get(shape, type.getElementType()));
}

namespace {
/// Builds views whose coordinates are an image, a row and a column of a
/// product.
class ImageProducts {
public:
  ImageProducts(OpBuilder &b, dnn::ConvOp conv, int64_t images)
      : b(b), conv(conv), images(images) {}

  /// What a coordinate of a matrix follows.
  enum Along { Row, Column };

  /// The view of an image's matrix, or, without `hasImage`, of the filter.
  dnn::ViewOp view(Value tensor, bool hasImage, int64_t rows, int64_t columns,
                   Along outer) {
    ViewBuilder view(b);
    AffineExpr image = view.add(0, {images})[0];
    AffineExpr row = view.add(1, {rows})[0];
    AffineExpr column = view.add(2, {columns})[0];
    ViewBuilder::Exprs coordinates;
    if (hasImage)
      coordinates.push_back(image);
    coordinates.append(outer == Row ? ViewBuilder::Exprs{row, column}
                                    : ViewBuilder::Exprs{column, row});
    return view.create(conv.getLoc(), tensor, coordinates);
  }

  ResultCoordinates getResult(int64_t rows, int64_t columns) const {
    ViewBuilder view(b);
    AffineExpr image = view.add(0, {images})[0];
    AffineExpr row = view.add(1, {rows})[0];
    AffineExpr column = view.add(2, {columns})[0];
    return {view, image, row, {column}};
  }

private:
  OpBuilder &b;
  dnn::ConvOp conv;
  int64_t images;
};
} // namespace

/// The reduction walks all images, and the pixels of each.
static GemmViews viewWeights(OpBuilder &b, dnn::ConvOp conv,
                             const ConvGeometry &g, int64_t pixels,
                             int64_t splits) {
  const SmallVector<int64_t> reduce = {g.batch, pixels};
  auto viewImages = [&](Value tensor, int64_t channels) {
    ViewBuilder view(b);
    (void)view.add(0, {splits});
    AffineExpr channel = view.add(1, {channels})[0];
    ViewBuilder::Exprs pixel = view.add(2, reduce);
    return view.create(conv.getLoc(), tensor, {pixel[0], channel, pixel[1]});
  };
  dnn::ViewOp gradient = viewImages(conv.getY(), g.outChannels);
  dnn::ViewOp input = viewImages(conv.getX(), g.inChannels);
  ViewBuilder view(b);
  AffineExpr split = view.add(0, {splits})[0];
  AffineExpr output = view.add(1, {g.outChannels})[0];
  AffineExpr channel = view.add(2, {g.inChannels})[0];
  ResultCoordinates result{view, output, channel, {}};
  if (splits > 1)
    result.split = split;
  return {gradient, input, result, reduce, dnn::TileDim::N};
}

GemmViews tessera::viewImages(OpBuilder &b, dnn::ConvOp conv,
                              const ConvGeometry &g, int64_t splits) {
  int64_t pixels = 1;
  for (const ConvDim &dim : g.dims)
    pixels *= dim.in;
  Value x = conv.getX(), w = conv.getW(), y = conv.getY();
  reshape(x, {g.batch, g.inChannels, pixels});
  reshape(w, {g.outChannels, g.inChannels});
  reshape(y, {g.batch, g.outChannels, pixels});
  if (conv.getDirection() == dnn::ConvDirection::BackwardWeights)
    return viewWeights(b, conv, g, pixels, splits);
  const bool isForward = conv.getDirection() == dnn::ConvDirection::Forward;
  const int64_t rows = isForward ? g.outChannels : g.inChannels;
  const int64_t reduced = isForward ? g.inChannels : g.outChannels;
  ImageProducts product(b, conv, g.batch);
  return {product.view(w, /*hasImage=*/false, rows, reduced,
                       isForward ? ImageProducts::Row : ImageProducts::Column),
          product.view(isForward ? x : y, /*hasImage=*/true, pixels, reduced,
                       ImageProducts::Column),
          product.getResult(rows, pixels),
          {reduced},
          dnn::TileDim::N};
}
