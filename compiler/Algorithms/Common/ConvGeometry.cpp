//===- ConvGeometry.cpp - A convolution as its GEMMs see it ---------------===//

#include "compiler/Algorithms/Common/ConvGeometry.h"

using namespace mlir;
using namespace tessera;

ConvGeometry::ConvGeometry(dnn::ConvOp conv) {
  dnn::ConvDims d = conv.getDims();
  batch = d.n;
  groups = d.groups;
  inChannels = d.c / d.groups;
  outChannels = d.k / d.groups;
  if (conv.getNumSpatialDims() == 3)
    dims.push_back(
        {d.d, d.z, d.dOut, d.padD, d.strideD, d.dilationD, d.padAfterD});
  dims.push_back({d.h, d.y, d.ho, d.padH, d.strideH, d.dilationH, d.padAfterH});
  dims.push_back({d.w, d.x, d.wo, d.padW, d.strideW, d.dilationW, d.padAfterW});
}

SmallVector<int64_t> ConvGeometry::get(int64_t ConvDim::*member) const {
  return llvm::map_to_vector(
      dims, [&](const ConvDim &dim) -> int64_t { return dim.*member; });
}

bool ConvGeometry::isPointwise() const {
  return llvm::all_of(dims, [](const ConvDim &dim) {
    return dim.filter == 1 && dim.pad == 0 && dim.stride == 1 &&
           dim.in == dim.out &&
           (!ShapedType::isDynamic(dim.in) || dim.padAfter == 0);
  });
}
