//===- TensorMemory.cpp - Properties of a memref's strides ----------------===//

#include "dialect/IR/TensorMemory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera;

bool dnn::hasStaticPositiveStrides(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(type.getStridesAndOffset(strides, offset)) && offset == 0 &&
         llvm::all_of(strides, [](int64_t stride) {
           return !ShapedType::isDynamic(stride) && stride >= 1;
         });
}

bool dnn::hasDistinctElements(MemRefType type) {
  auto [strides, offset] = type.getStridesAndOffset();
  SmallVector<std::pair<int64_t, int64_t>> dims; // Stride and size.
  for (auto [stride, size] : llvm::zip(strides, type.getShape()))
    if (size > 1)
      dims.emplace_back(stride, size);
  llvm::sort(dims);
  uint64_t reach = 0; // The largest offset within the dimensions so far.
  for (auto [stride, size] : dims) {
    if (static_cast<uint64_t>(stride) <= reach)
      return false;
    reach = llvm::SaturatingMultiplyAdd<uint64_t>(stride, size - 1, reach);
  }
  return true;
}
