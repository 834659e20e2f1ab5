//===- Packed.h - Tensors brought into the form that TMA reads -*- C++ -*-===//
//
// A tensor map has strides of whole 16 bytes, and a step of the reduction is
// 64 elements that lie together: a first layer of 3 channels and a layer of 75
// have neither. Their tensors are small beside the work, so launches before the
// product bring them into a workspace in the form that it wants:
//
// - pixels of a stride are folded into channels, and channels filled up with
//   zeros: a convolution of stride 1 and a smaller filter is left;
// - the taps of a line of the filter are neighbours then, and one run of the
//   reduction. Windows overlap in memory; a view says so with its strides;
// - backward data computes blocks of pixels as if they were channels: each
//   block is reached by one window of the gradient, whatever the stride.
//
// docs/design/0012-packed.md
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_PACKED_H
#define TESSERA_COMPILER_ALGORITHMS_PACKED_H

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Common/ConvGeometry.h"
#include "compiler/Algorithms/ImplicitGemm/GemmTile.h"
#include "compiler/Algorithms/ImplicitGemm/GemmViews.h"

#include <optional>

namespace tessera {

/// What tells two packed convolutions of one direction apart.
struct PackedShape {
  dnn::ConvDirection direction;
  int64_t batch, inChannels, outChannels;
  ConvDim height, width;
};

/// One spatial dimension. The factor that is read through a window has `taps`
/// of its positions in each window, from `first` + `step` * i on for window i.
/// `fold` pixels of x are one position (forward and backward weights) or one
/// window (backward data). Pixel a of them meets tap t of a window under the
/// filter's row `tapFactor` * t + a + `tapOffset`, if there is one.
struct PackedDim {
  int64_t fold = 1, step = 1, first = 0, taps = 1, count = 1;
  int64_t tapFactor = 1, tapOffset = 0;
};

/// A tensor of images in the workspace: blocks of foldH x foldW pixels with
/// their channels are positions of `elements`. Plain data.
struct PackedImages {
  int64_t batch, channels;
  int64_t foldH, foldW;
  int64_t channelStep; ///< Elements from one pixel of a block to the next.
  int64_t elements;    ///< A multiple of 8; what is not of a pixel is zero.
  int64_t rows, columns;
  int64_t firstColumn; ///< Of the source, in blocks.
  /// Windows along a line: `count` of `taps` positions, `step` apart.
  int64_t taps, step, count;

  /// Whether pixels of a block lie behind each other without filling.
  bool isSmall() const {
    constexpr int64_t kSmall = 32;
    return foldH * foldW * channels <= kSmall;
  }
  int64_t getElements() const { return batch * rows * columns * elements; }
  /// As it is written: [batch, rows, columns, elements].
  mlir::MemRefType getType(mlir::Type element, int64_t offset) const;
  /// As its windows see it: [batch, rows, count, taps * elements].
  mlir::MemRefType getWindowType(mlir::Type element, int64_t offset) const;
};

struct PackedGeometry {
  PackedShape shape;
  PackedDim height, width;
  /// The factor that is read through windows; none if it is read as it lies.
  std::optional<PackedImages> images;
  /// Of backward weights: y with its channels filled up, if need be.
  std::optional<PackedImages> gradient;

  /// Of backward weights: whether the taps are the rows of the product and the
  /// channels of y its columns, instead of the other way round. So they are
  /// where that multiplies less; for lines that share positions, always.
  bool hasTapRows = false;

  explicit PackedGeometry(const PackedShape &shape);
  static PackedGeometry get(dnn::ConvOp conv);

  bool isWeights() const {
    return shape.direction == dnn::ConvDirection::BackwardWeights;
  }
  bool isData() const {
    return shape.direction == dnn::ConvDirection::BackwardData;
  }
  /// Elements of a tap in the filter's rows.
  int64_t getTapElements() const {
    return images ? images->elements : shape.outChannels;
  }
  /// Elements of all taps in a line of a window.
  int64_t getRun() const { return width.taps * getTapElements(); }
  /// Whether lines of a window are rows of positions, which taps can share:
  /// each with one row of the result.
  bool hasPositions() const {
    return images && height.step == 1 && (height.fold == 1 || !isData());
  }
  /// Rows of an image of positions: its windows, and what of the padding keeps
  /// the last of them from the next image.
  int64_t countPositions() const;
  /// Rows of the filter, as the product sees it: columns of the result.
  int64_t getFilterRows() const {
    return isData() ? height.fold * width.fold * shape.inChannels
                    : shape.outChannels;
  }
  /// The filter as it is written, and as the product reads it.
  llvm::SmallVector<int64_t> getFilterShape() const;
  llvm::SmallVector<int64_t> getFilterViewShape() const;
  /// Rows of the product, if they are taps: 64 elements of each line's run, and
  /// so on.
  llvm::SmallVector<int64_t> getTapRows() const;
  static constexpr int64_t kTapBlock = 64;
  /// The sums of backward weights, one part of them.
  llvm::SmallVector<int64_t> getSumsShape() const;
};

/// The factors in the workspace; null where there is none.
struct PackedTensors {
  mlir::Value images, gradient, filter, sums;
};

/// The product of forward and backward data; with a halo its rows are
/// positions.
GemmViews viewPackedData(mlir::OpBuilder &b, dnn::ConvOp conv,
                         const PackedGeometry &g, const PackedTensors &tensors,
                         bool hasHalo);
/// The product of backward weights, and where its parts go; with a halo it
/// walks positions.
struct PackedWeightViews {
  GemmViews views;
  dnn::ViewOp sums;
};
PackedWeightViews viewPackedWeights(mlir::OpBuilder &b, dnn::ConvOp conv,
                                    const PackedGeometry &g,
                                    const PackedTensors &tensors,
                                    const GemmTile &tile);

/// Kernels before and behind that of `conv`: one fills the tensors, one adds
/// the parts of the sums and stores the result.
void buildPacking(dnn::ConvOp conv, const PackedGeometry &g,
                  const PackedTensors &tensors);
void buildPackedSum(dnn::ConvOp conv, mlir::Value sums,
                    const PackedGeometry &g);

/// PackRates.def says what each is.
struct PackRates {
#define PACK_RATE(NAME, VALUE, MEANING) double NAME = VALUE;
#include "compiler/Algorithms/Packed/PackRates.def"
};
inline constexpr PackRates kPackRates;

/// The candidates of a problem that "packed" takes, in an order that does not
/// depend on the rates.
std::vector<Candidate> getPackedCandidates(const ConvProblem &problem,
                                           const GpuTarget &target,
                                           const PackRates &rates = kPackRates);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_PACKED_H
