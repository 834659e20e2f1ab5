//===- TensorMemory.cpp - Properties of a memref's strides ----------------===//

#include "dialect/IR/TensorMemory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

bool dnn::hasStaticPositiveStrides(MemRefType type) {
  if (type.getLayout().isIdentity())
    return true;
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(type.getStridesAndOffset(strides, offset)) && offset == 0 &&
         llvm::all_of(strides, [](int64_t stride) {
           return !ShapedType::isDynamic(stride) && stride >= 1;
         });
}

SmallVector<int64_t> dnn::getKnownStrides(MemRefType type) {
  auto [strides, offset] = type.getStridesAndOffset();
  if (!ShapedType::isDynamicShape(strides) || !type.getLayout().isIdentity())
    return strides;
  int64_t known = 1;
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    strides[dim] = known;
    known *= type.isDynamicDim(dim) ? 1 : type.getDimSize(dim);
  }
  return strides;
}

bool dnn::hasDistinctElements(MemRefType type) {
  if (type.getLayout().isIdentity())
    return true;
  auto [strides, offset] = type.getStridesAndOffset();
  constexpr int64_t kMostElements = int64_t(1) << 31;
  SmallVector<std::pair<int64_t, int64_t>> dims; // Stride and size.
  for (auto [stride, size] : llvm::zip(strides, type.getShape()))
    if (size != 1)
      dims.emplace_back(stride,
                        ShapedType::isDynamic(size) ? kMostElements : size);
  llvm::sort(dims);
  uint64_t reach = 0; // The largest offset within the dimensions so far.
  for (auto [stride, size] : dims) {
    if (static_cast<uint64_t>(stride) <= reach)
      return false;
    reach = llvm::SaturatingMultiplyAdd<uint64_t>(stride, size - 1, reach);
  }
  return true;
}
