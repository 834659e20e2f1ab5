//===- PackedGeometry.cpp - The layout of tensors in the workspace --------===//

#include "compiler/Algorithms/Common/ConvProgram.h"
#include "compiler/Algorithms/Packed/Packed.h"
#include "compiler/Algorithms/Tma/TmaModel.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// One dimension
//===----------------------------------------------------------------------===//

/// With h = s p + r - pad and r = s t + a - lead, h = s (p + t - before) + a:
/// position p + t - before of the folded image, pixel a of it.
static PackedDim makeImageDim(const ConvDim &dim, const SizeExpr &out) {
  const int64_t before = llvm::divideCeilSigned(dim.pad, dim.stride);
  const int64_t lead = before * dim.stride - dim.pad;
  return {.fold = dim.stride,
          .step = 1,
          .first = -before,
          .taps = llvm::divideCeilSigned(dim.filter + lead, dim.stride),
          .count = out,
          .tapStep = dim.stride,
          .tapOffset = -lead};
}

/// Pixel h = fold i + a is reached by row p = step i + t + first of the
/// gradient under r = h + pad - s p = a + pad - s (t + first).
static PackedDim makeDataDim(const ConvDim &dim, const SizeExpr &in,
                             int64_t step) {
  const int64_t fold = dim.stride * step;
  const int64_t first =
      llvm::divideCeilSigned(dim.pad - (dim.filter - 1), dim.stride);
  const int64_t last = llvm::divideFloorSigned(fold - 1 + dim.pad, dim.stride);
  return {.fold = fold,
          .step = step,
          .first = first,
          .taps = last - first + 1,
          .count = ceilDiv(in, fold),
          .tapStep = -dim.stride,
          .tapOffset = dim.pad - dim.stride * first};
}

/// Chooses as many pixels as fit the columns of a small tile: the more pixels
/// share a window, the less often the gradient is read.
static int64_t chooseDataStep(const PackedShape &s) {
  constexpr int64_t kColumns = 64, kMaxStep = 8; // im2col mode's.
  int64_t step = 1;
  while (2 * step <= kMaxStep &&
         4 * step * step * s.height.stride * s.width.stride * s.inChannels <=
             kColumns)
    step *= 2;
  return step;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// The pixels of small blocks are contiguous. In other blocks each pixel is
/// padded to whole 16 bytes, so that the elements that a thread writes belong
/// to one pixel.
static PackedImages makeImages(const PackedShape &shape, int64_t channels,
                               int64_t foldH, int64_t foldW,
                               const ImageSizes &sizes) {
  const int64_t unit = shape.getUnit();
  PackedImages images{};
  images.batch = sizes.batch;
  images.channels = channels;
  images.foldH = foldH;
  images.foldW = foldW;
  images.channelStep =
      images.isSmall() ? channels
                       : static_cast<int64_t>(llvm::alignTo(channels, unit));
  images.elements = llvm::alignTo(foldH * foldW * images.channelStep, unit);
  images.rows = ceilDiv(sizes.height, foldH);
  return images;
}

static void setWindows(PackedImages &images, const PackedDim &width) {
  // There are as many taps as windows are apart, or more.
  images.columns = width.step * width.count + (width.taps - width.step);
  images.firstColumn = width.first;
  images.taps = width.taps;
  images.step = width.step;
  images.count = width.count;
}

/// Whether the channels of y should be the columns of the product. A wgmma has
/// 64 rows, but a tile has from 64 columns on any multiple of fewer: 93
/// channels are 96 columns, but would be 128 rows. The runs of lines are padded
/// to whole copies either way (PackedViews.cpp). Of f32 each column costs more
/// than a row (getTf32Clocks()), so the fewer should be the columns.
static bool wantsTapRows(const PackedGeometry &g) {
  constexpr int64_t kRows = 64, kLeast = 64;
  const PackedShape &s = g.shape;
  const int64_t unit = getPixelColumns(s.elementBytes);
  const auto columns = static_cast<int64_t>(
      std::max<uint64_t>(llvm::alignTo(s.outChannels, unit), kLeast));
  const auto rows = static_cast<int64_t>(llvm::alignTo(s.outChannels, kRows));
  constexpr int64_t kOf = 10, kWorthIt = 9, kShortBytes = 2;
  if (s.elementBytes > kShortBytes)
    return columns <= g.countTapRows();
  return columns * kOf <= rows * kWorthIt;
}

PackedGeometry::PackedGeometry(const PackedShape &s) : shape(s) {
  const bool hasUnits = s.outChannels % s.getUnit() == 0;
  if (isData()) {
    const int64_t step = chooseDataStep(s);
    height = makeDataDim(s.height, s.x.height, step);
    width = makeDataDim(s.width, s.x.width, step);
    if (!hasUnits) {
      images = makeImages(s, s.outChannels, 1, 1, s.y);
      setWindows(*images, width);
    }
    return;
  }
  height = makeImageDim(s.height, s.y.height);
  width = makeImageDim(s.width, s.y.width);
  images = makeImages(s, s.inChannels, height.fold, width.fold, s.x);
  setWindows(*images, width);
  hasTapRows = isWeights() && wantsTapRows(*this);
  if (isWeights() && !hasUnits) {
    gradient = makeImages(s, s.outChannels, 1, 1, s.y);
    PackedDim columns;
    columns.count = s.y.width;
    setWindows(*gradient, columns);
  }
}

static ImageSizes getImageSizes(const ConvTensor &images) {
  const SmallVector<SizeExpr> sizes = getArgumentSizes(images.memory);
  return {sizes[images.getOuterDim()], sizes[images.getSpatialDim(0)],
          sizes[images.getSpatialDim(1)]};
}

PackedGeometry PackedGeometry::get(dnn::ConvOp conv) {
  ConvGeometry g(conv);
  const ConvProgram program(conv);
  const unsigned bits = conv.getElementType().getIntOrFloatBitWidth();
  return PackedGeometry({conv.getDirection(), ::getImageSizes(program.x),
                         ::getImageSizes(program.y), g.inChannels,
                         g.outChannels, g.dims[0], g.dims[1], bits / 8});
}

int64_t PackedGeometry::countPositions() const {
  return std::max(*images->rows.getNumber() - height.first,
                  height.first + *height.count.getNumber() + height.taps - 1);
}

SmallVector<int64_t> PackedGeometry::getFilterShape() const {
  if (isData())
    return {height.fold, width.fold, shape.inChannels,
            height.taps, width.taps, getTapElements()};
  return {shape.outChannels, height.taps, width.taps, getTapElements()};
}

SmallVector<int64_t> PackedGeometry::getFilterViewShape() const {
  if (!images)
    return {getFilterRows(), height.taps, width.taps, getTapElements()};
  return {getFilterRows(), height.taps, getRun()};
}

SmallVector<int64_t> PackedGeometry::getTapRows() const {
  const int64_t block = getTapBlock();
  return {llvm::divideCeilSigned(getRun(), block), height.taps, block};
}

/// Channels that are columns are padded, so that the stride between rows is a
/// multiple of 16 bytes.
SmallVector<int64_t> PackedGeometry::getPartialShape() const {
  if (!hasTapRows)
    return {shape.outChannels, height.taps, getRun()};
  SmallVector<int64_t> sizes = getTapRows();
  sizes.push_back(
      static_cast<int64_t>(llvm::alignTo(shape.outChannels, shape.getUnit())));
  return sizes;
}

MemRefType PackedImages::getWindowType(Type element, int64_t offset) const {
  const SizeExpr line = columns * elements;
  auto toNumbers = [](ArrayRef<SizeExpr> sizes) {
    return llvm::map_to_vector(sizes, [](const SizeExpr &size) {
      return size.getNumber().value_or(ShapedType::kDynamic);
    });
  };
  return MemRefType::get(
      toNumbers(getWindowSizes()), element,
      StridedLayoutAttr::get(
          element.getContext(), offset,
          toNumbers({rows * line, line, step * elements, 1})));
}
