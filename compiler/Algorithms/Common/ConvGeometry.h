//===- ConvGeometry.h - A convolution as its GEMMs see it ------*- C++ -*-===//
//
// The builders of coordinate maps treat all spatial dimensions alike, two or
// three of them, and count channels by the group.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_CONVGEOMETRY_H
#define TESSERA_COMPILER_ALGORITHMS_CONVGEOMETRY_H

#include "dialect/IR/Dnn.h"

namespace tessera {

/// One spatial dimension.
struct ConvDim {
  int64_t in;
  int64_t filter;
  int64_t out;
  int64_t pad;
  int64_t stride;
  int64_t dilation;
};

/// Plain data.
struct ConvGeometry {
  int64_t batch;
  int64_t groups;
  int64_t inChannels;                 ///< Of one group.
  int64_t outChannels;                ///< Of one group.
  llvm::SmallVector<ConvDim, 3> dims; ///< Outermost first.

  explicit ConvGeometry(dnn::ConvOp conv);

  /// One member of every dimension.
  llvm::SmallVector<int64_t> get(int64_t ConvDim::*member) const;

  /// Whether every output pixel sees one input pixel, and they lie alike.
  bool isPointwise() const;
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_CONVGEOMETRY_H
