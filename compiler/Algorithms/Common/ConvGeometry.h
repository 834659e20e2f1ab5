//===- ConvGeometry.h - A convolution as its GEMMs see it ------*- C++ -*--===//
//
// The builders of coordinate maps treat the two or three spatial dimensions
// alike and count channels per group.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_COMMON_CONVGEOMETRY_H
#define TESSERA_COMPILER_ALGORITHMS_COMMON_CONVGEOMETRY_H

#include "dialect/IR/Dnn.h"

namespace tessera {

/// One spatial dimension.
struct ConvDim {
  int64_t in;
  int64_t filter;
  int64_t out;
  int64_t pad; ///< Before the first element; `out` says the rest.
  int64_t stride;
  int64_t dilation;
  int64_t padAfter = 0; ///< Matters where sizes are unknown (kDynamic).
};

/// Plain data.
struct ConvGeometry {
  int64_t batch;
  int64_t groups;
  int64_t inChannels;                 ///< Per group.
  int64_t outChannels;                ///< Per group.
  llvm::SmallVector<ConvDim, 3> dims; ///< Outermost first.

  explicit ConvGeometry(dnn::ConvOp conv);

  /// The values of one member, in the order of `dims`.
  llvm::SmallVector<int64_t> get(int64_t ConvDim::*member) const;

  /// Whether each output pixel depends only on the input pixel at the same
  /// position.
  bool isPointwise() const;
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_COMMON_CONVGEOMETRY_H
