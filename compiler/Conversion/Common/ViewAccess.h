//===- ViewAccess.h - A coordinate map as linear forms ---------*- C++ -*--===//
//
// #dnn.coords is linear in the iteration dimensions, so everything that an
// address needs is a handful of linear forms: the byte offset, and each tensor
// coordinate that can leave its tensor. Here they are computed once, with the
// iteration dimensions merged wherever no form tells them apart (the pixels of
// a 1x1 convolution become one dimension, and no division is left).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COMMON_VIEWACCESS_H
#define TESSERA_COMPILER_CONVERSION_COMMON_VIEWACCESS_H

#include "compiler/Conversion/Common/Emitter.h"
#include "dialect/IR/Dnn.h"

namespace tessera {

/// Adds `scale` times the (division-free) `expr` to a linear form.
void addLinear(mlir::AffineExpr expr, int64_t scale,
               llvm::SmallVectorImpl<int64_t> &factors, int64_t &constant);

/// The sizes of a view's iteration dimensions and of its tensor, and the
/// strides of that.
struct ViewSizes {
  llvm::SmallVector<OpenNumber> iteration, shape, strides;
  int64_t offset = 0; ///< The tensor's first element.
  bool isOpen = false;

  explicit ViewSizes(dnn::ViewOp view);
};

/// Some consecutive iteration dimensions, merged; coefs[f][d] is the factor of
/// dimension d in form f.
struct AccessSpace {
  llvm::SmallVector<OpenNumber> sizes;
  llvm::SmallVector<llvm::SmallVector<OpenNumber>> coefs;

  OpenNumber getExtent() const;
  /// Bytes between neighbours along the space.
  OpenNumber getInnermostStep() const {
    return sizes.empty() ? OpenNumber() : coefs[0].back();
  }
  /// The contribution of the space at (flat) `position` to each form.
  llvm::SmallVector<mlir::Value> evaluate(Emitter &e,
                                          mlir::Value position) const;
  /// Form `form` at (flat) `position`.
  int64_t getForm(unsigned form, int64_t position) const;
  /// One dimension that only the offset (form 0) depends on: no check and no
  /// division is needed to walk it.
  bool isLinear() const;
  /// The same space with nothing but the offset to tell its dimensions apart.
  AccessSpace getOffsets() const;
};

/// A division-free expression: constant + sum of factors[d] * dimension d.
struct LinearExpr {
  llvm::SmallVector<int64_t> factors;
  int64_t constant = 0;
};
LinearExpr getLinearExpr(mlir::AffineExpr expr, unsigned numDims);

/// Largest power of two that divides `value`, at most `limit`, which it is for
/// zero.
int64_t getPowerOfTwoIn(int64_t value, int64_t limit);

/// Everything known about a view. Form 0 is the byte offset; the others are
/// the tensor coordinates that need a check, which must be in [0, bounds[i]).
class ViewAccess {
public:
  explicit ViewAccess(dnn::ViewOp view);

  mlir::Value getSource() const { return source; }
  mlir::Type getElementType() const { return elementType; }
  int64_t getElementBytes() const { return elementBytes; }
  /// From the argument's address to the tensor's last byte, gaps included.
  OpenNumber getTensorBytes() const { return tensorBytes; }
  /// From the argument's address to the tensor's first element.
  int64_t getFirstBytes() const { return firstBytes; }
  int64_t getNumForms() const { return 1 + bounds.size(); }
  OpenNumber getConstant(unsigned form) const { return constants[form]; }
  OpenNumber getBound(unsigned form) const { return bounds[form - 1]; }

  /// Whether the tensor, or a dimension that it is walked along, has an unknown
  /// size.
  bool isOpen() const { return hasOpenSizes; }

  /// Whether every checked coordinate, and so every check, fits 32 bits. Of
  /// unknown sizes it is checked when they are known (ProblemFamily.cpp).
  bool fitsInt32() const { return isSmall; }

  unsigned getNumColumnDims() const { return coords.getRanks()[2]; }

  /// Coordinate `index` (0 group, 1 row, 2 column).
  AccessSpace getSpace(unsigned index) const;
  /// The iteration dimensions [first, first + count) of coordinate `index`.
  AccessSpace getSpace(unsigned index, unsigned first, unsigned count) const;

  /// Elements that lie side by side in memory and are valid together, at a
  /// column (2) or row (1) position that is a multiple of the answer: the
  /// largest power of two, at most `limit`.
  int64_t getVectorWidth(unsigned index, int64_t limit) const;

  /// Whether an even row and the next one lie side by side in memory, at any
  /// place and valid apart, as pixels of NCHW under a tap: they are told apart
  /// by check `form` alone, of whose coordinates theirs are neighbours, or by
  /// none if it is 0.
  bool hasRowPairs(unsigned &form) const;

private:
  mlir::Value source;
  mlir::Type elementType;
  int64_t elementBytes;
  OpenNumber tensorBytes;
  int64_t firstBytes;
  bool isSmall = true;
  bool hasOpenSizes = false;
  dnn::CoordsAttr coords;
  llvm::SmallVector<OpenNumber> sizes; ///< Of every iteration dimension.
  llvm::SmallVector<OpenNumber> constants;
  llvm::SmallVector<OpenNumber> bounds;
  /// factors[f][d] for every iteration dimension d, before merging.
  llvm::SmallVector<llvm::SmallVector<OpenNumber>> factors;

  void addForm(mlir::AffineExpr expr, const OpenNumber &size,
               const OpenNumber &stride);
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COMMON_VIEWACCESS_H
