//===- GemmViews.cpp - The tensors of a convolution as matrices -----------===//

#include "compiler/Algorithms/ImplicitGemm/GemmViews.h"
#include "compiler/Algorithms/Common/HaloPositions.h"

using namespace mlir;
using namespace tessera;

ViewBuilder::Exprs ViewBuilder::add(unsigned index,
                                    ArrayRef<int64_t> newSizes) {
  return addOpen(index, SmallVector<Size>(newSizes));
}

ViewBuilder::Exprs ViewBuilder::addOpen(unsigned index,
                                        ArrayRef<Size> newSizes) {
  assert(llvm::all_of(ArrayRef(ranks).drop_front(index + 1),
                      [](int64_t rank) { return rank == 0; }) &&
         "coordinates come in order");
  Exprs exprs;
  for (const Size &size : newSizes) {
    exprs.push_back(b.getAffineDimExpr(sizes.size()));
    sizes.push_back(size.number);
    if (!size.isKnown())
      openSizes.push_back(size.value);
    ++ranks[index];
  }
  return exprs;
}

dnn::ViewOp ViewBuilder::create(Location loc, Value source,
                                ArrayRef<AffineExpr> coordinates) const {
  AffineMap map = AffineMap::get(sizes.size(), 0, coordinates, b.getContext());
  auto coords = dnn::CoordsAttr::get(b.getContext(), sizes, ranks, map);
  int64_t shape[] = {coords.getExtent(0), coords.getExtent(1),
                     coords.getExtent(2)};
  auto type =
      dnn::ViewType::get(b.getContext(), shape,
                         cast<MemRefType>(source.getType()).getElementType());
  return dnn::ViewOp::create(b, loc, type, source, openSizes, coords);
}

GroupExprs tessera::addGroups(ViewBuilder &view, ArrayRef<int64_t> sizes,
                              const ReductionSplits &splits) {
  if (splits.count == 1)
    return {view.add(0, sizes), {}};
  SmallVector<int64_t> all(sizes);
  all.insert(splits.areSteps ? all.begin() : all.end(), splits.count);
  ViewBuilder::Exprs exprs = view.add(0, all);
  if (splits.areSteps)
    return {{exprs.begin() + 1, exprs.end()}, exprs.front()};
  return {{exprs.begin(), exprs.end() - 1}, exprs.back()};
}

dnn::ViewOp ViewBuilder::create(Location loc, Value source, dnn::Layout layout,
                                AffineExpr outer, AffineExpr channel,
                                ArrayRef<AffineExpr> spatial) const {
  return create(loc, source, orderCoordinates(layout, outer, channel, spatial));
}

ViewBuilder::Exprs tessera::orderCoordinates(dnn::Layout layout,
                                             AffineExpr outer,
                                             AffineExpr channel,
                                             ArrayRef<AffineExpr> spatial) {
  ViewBuilder::Exprs coordinates = {outer};
  llvm::append_range(coordinates, spatial);
  coordinates.insert(layout == dnn::Layout::NCHW ? coordinates.begin() + 1
                                                 : coordinates.end(),
                     channel);
  return coordinates;
}

SmallVector<Size> tessera::getImageSizes(OpBuilder &b, Value tensor,
                                         dnn::Layout layout) {
  PointBuilder p(b, tensor.getLoc());
  const int64_t rank = cast<MemRefType>(tensor.getType()).getRank();
  const int64_t channels = isChannelsLast(layout) ? rank - 1 : 1;
  SmallVector<Size> sizes;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != channels)
      sizes.push_back(p.getSize(tensor, dim));
  return sizes;
}

SmallVector<Size> tessera::alignSizes(OpBuilder &b, Value tensor,
                                      dnn::Layout layout, bool areAll,
                                      SmallVector<Size> pixels) {
  if (llvm::all_of(pixels, [](const Size &size) { return size.isKnown(); }))
    return pixels;
  SmallVector<Size> own = getImageSizes(b, tensor, layout);
  if (areAll)
    return own;
  pixels.front() = own.front();
  return pixels;
}

SmallVector<Size> tessera::getPositions(OpBuilder &b, dnn::ConvOp conv,
                                        const ConvGeometry &g, Value tensor) {
  const bool isX = tensor == conv.getX();
  SmallVector<Size> sizes =
      getImageSizes(b, tensor, isX ? conv.getXLayout() : conv.getYLayout());
  PointBuilder p(b, conv.getLoc());
  for (auto [i, dim] : llvm::enumerate(g.dims))
    if (hasPositions(g, i))
      sizes[1 + i] = p.add(sizes[1 + i], Size(isX ? countBeyondPixels(dim)
                                                  : countBeyondResults(dim)));
  return sizes;
}

SmallVector<int64_t> tessera::getNumbers(ArrayRef<Size> sizes) {
  return llvm::map_to_vector(sizes,
                             [](const Size &size) { return size.number; });
}

bool tessera::isChannelsLast(dnn::Layout layout) {
  return layout == dnn::Layout::NHWC;
}
