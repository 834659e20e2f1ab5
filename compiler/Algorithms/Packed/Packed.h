//===- Packed.h - Tensors copied into a form that TMA reads ----*- C++ -*--===//
//
// A tensor map needs strides that are multiples of 16 bytes, and a step of the
// reduction is 128 contiguous bytes: a first layer of 3 channels and a layer
// of 75 have neither. Their tensors are small beside the work, so a launch
// before the product copies them into a workspace in a form that TMA reads:
//
// - The pixels of a stride are folded into channels, and channels are padded
//   with zeros. What remains is a convolution of stride 1 with a smaller
//   filter.
// - The taps of a line of the filter are then neighbours and form one
// contiguous
//   run of the reduction. Windows overlap in memory, which a view expresses by
//   its strides.
// - Backward data computes blocks of pixels as if they were channels: one
// window
//   of the gradient reaches each block, whatever the stride is.
//
// docs/design/0012-packed.md
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_PACKED_PACKED_H
#define TESSERA_COMPILER_ALGORITHMS_PACKED_PACKED_H

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Common/ConvGeometry.h"
#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"
#include "compiler/Algorithms/ImplicitGemm/GemmViews.h"
#include "runtime/Base/SizeExpr.h"

#include "llvm/Support/MathExtras.h"

#include <optional>

namespace tessera {

/// The sizes of a batch of images: numbers, or expressions of those that are
/// unknown.
struct ImageSizes {
  SizeExpr batch, height, width;
};

/// The parameters of a convolution that its packed form depends on. The lengths
/// of images in `height` and `width` are not used; `x` and `y` have them.
struct PackedShape {
  dnn::ConvDirection direction;
  ImageSizes x, y;
  int64_t inChannels, outChannels;
  ConvDim height, width;
  int64_t elementBytes;

  /// The elements of 16 bytes, which all strides must be multiples of.
  int64_t getUnit() const { return 16 / elementBytes; }
};

/// One spatial dimension. Window i of the operand that is read through windows
/// has `taps` positions, beginning at position `first` + `step` * i. `fold`
/// pixels of x are one position (forward and backward weights) or one window
/// (backward data). Pixel a of these meets tap t of a window under row
/// `tapStep` * t + a + `tapOffset` of the filter, if the filter has that row.
struct PackedDim {
  int64_t fold = 1, step = 1, first = 0, taps = 1;
  SizeExpr count = 1; ///< Of windows.
  int64_t tapStep = 1, tapOffset = 0;
};

/// A tensor of images in the workspace. A block of foldH x foldW pixels with
/// their channels is one position, which has `elements` elements. Plain data.
struct PackedImages {
  SizeExpr batch;
  int64_t channels;
  int64_t foldH, foldW;
  int64_t channelStep; ///< Elements from one pixel of a block to the next.
  int64_t elements;    ///< Whole 16 bytes, padded with zeros.
  SizeExpr rows, columns;
  int64_t firstColumn; ///< The source's column of position 0, in blocks.
  /// Windows along a line: `count` windows of `taps` positions, every `step`.
  int64_t taps, step;
  SizeExpr count;

  /// Whether the pixels of a block are contiguous, without padding between
  /// them.
  bool isSmall() const {
    constexpr int64_t kSmall = 32;
    return foldH * foldW * channels <= kSmall;
  }
  SizeExpr getElements() const { return batch * rows * columns * elements; }
  bool isOpen() const { return !getElements().getNumber(); }
  /// The sizes as the packing kernel writes it: [batch, rows, columns,
  /// elements].
  llvm::SmallVector<SizeExpr> getSizes() const {
    return {batch, rows, columns, elements};
  }
  /// The sizes and the type as the product reads it, in overlapping windows:
  /// [batch, rows, count, taps * elements].
  llvm::SmallVector<SizeExpr> getWindowSizes() const {
    return {batch, rows, count, taps * elements};
  }
  mlir::MemRefType getWindowType(mlir::Type element, int64_t offset) const;
};

struct PackedGeometry {
  PackedShape shape;
  PackedDim height, width;
  /// The packed operand that is read through windows; none if the product reads
  /// the original tensor.
  std::optional<PackedImages> images;
  /// Backward weights: y with padded channels, if they are not whole 16 bytes.
  std::optional<PackedImages> gradient;

  /// Backward weights: whether the taps are the rows of the product and the
  /// channels of y its columns, instead of the other way round. They are where
  /// that multiplies less, and always where lines share positions.
  bool hasTapRows = false;

  explicit PackedGeometry(const PackedShape &shape);
  static PackedGeometry get(dnn::ConvOp conv);

  /// Whether sizes of images are unknown.
  bool isOpen() const {
    return !(shape.x.batch * shape.x.height * shape.x.width).getNumber();
  }
  bool isWeights() const {
    return shape.direction == dnn::ConvDirection::BackwardWeights;
  }
  bool isData() const {
    return shape.direction == dnn::ConvDirection::BackwardData;
  }
  /// The number of elements of a tap in a row of the filter.
  int64_t getTapElements() const {
    return images ? images->elements : shape.outChannels;
  }
  /// The number of elements of all taps in a line of a window.
  int64_t getRun() const { return width.taps * getTapElements(); }
  /// Whether the lines of a window are rows of positions that taps can share,
  /// so that each position belongs to one row of the result.
  bool hasPositions() const {
    return images && height.step == 1 && (height.fold == 1 || !isData());
  }
  /// The number of rows of an image of positions: its windows, and as much of
  /// the padding as separates the last window from the next image. For known
  /// sizes.
  int64_t countPositions() const;
  /// The number of rows of the filter as the product reads it, which are the
  /// columns of the result.
  int64_t getFilterRows() const {
    return isData() ? height.fold * width.fold * shape.inChannels
                    : shape.outChannels;
  }
  /// The shape of the filter as the packing kernel writes it, and as the
  /// product reads it.
  llvm::SmallVector<int64_t> getFilterShape() const;
  llvm::SmallVector<int64_t> getFilterViewShape() const;
  /// The rows of the product if they are taps: blocks of a run, the lines, and
  /// the elements of a block.
  llvm::SmallVector<int64_t> getTapRows() const;
  int64_t countTapRows() const {
    return height.taps * llvm::divideCeilSigned(getRun(), getTapBlock()) *
           getTapBlock();
  }
  /// The elements of a run that a TMA copy moves.
  int64_t getTapBlock() const { return 128 / shape.elementBytes; }
  /// The shape of one split's partial result of backward weights.
  llvm::SmallVector<int64_t> getPartialShape() const;
};

/// The tensors in the workspace; null where a tensor is not packed.
struct PackedTensors {
  mlir::Value images, gradient, filter, partials;
};

/// The views of forward and backward data. With a halo, the rows of the product
/// are positions.
GemmViews viewPackedData(mlir::OpBuilder &b, dnn::ConvOp conv,
                         const PackedGeometry &g, const PackedTensors &tensors,
                         bool hasHalo);
/// The views of backward weights, and that of its partial results. With a halo,
/// the reduction walks positions.
struct PackedWeightViews {
  GemmViews views;
  dnn::ViewOp partials;
};
PackedWeightViews viewPackedWeights(mlir::OpBuilder &b, dnn::ConvOp conv,
                                    const PackedGeometry &g,
                                    const PackedTensors &tensors,
                                    const GemmTile &tile);

/// Build the kernels that run before and after that of `conv`: the first packs
/// the tensors, the second adds the partial results and stores their sum.
/// `hasWarps` says that the chip is NVIDIA's.
void buildPacking(dnn::ConvOp conv, const PackedGeometry &g,
                  const PackedTensors &tensors, bool hasWarps);
void buildPackedReduction(dnn::ConvOp conv, mlir::Value partials,
                          const PackedGeometry &g);

/// The constants of the cost model; PackRates.def describes them.
struct PackRates {
#define PACK_RATE(NAME, VALUE, MEANING) double NAME = VALUE;
#include "compiler/Algorithms/Packed/PackRates.def"
};
inline constexpr PackRates kPackRates;

/// The candidates for a problem that "packed" supports, in an order that does
/// not depend on the rates.
std::vector<Candidate> getPackedCandidates(const ConvProblem &problem,
                                           const GpuTarget &target,
                                           const PackRates &rates = kPackRates);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_PACKED_PACKED_H
