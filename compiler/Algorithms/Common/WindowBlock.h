//===- WindowBlock.h - Source elements of a block of results ----*- C++ -*-===//
//
// A thread that owns a block of neighbouring results reads each source element
// that they share only once, if it is known at compile time which tap of which
// result uses that element. It is known, in both directions and with any
// stride, for a block that begins at a multiple of its size.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_COMMON_WINDOWBLOCK_H
#define TESSERA_COMPILER_ALGORITHMS_COMMON_WINDOWBLOCK_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace tessera {

/// One spatial dimension of a window over a block. Plain data.
struct WindowBlock {
  int64_t taps;
  int64_t stride;
  int64_t pad;
  int64_t dilation;
  int64_t size;   ///< Results in the block.
  bool isForward; ///< Whether results are outputs. Else they are gradients of
                  ///< inputs, and the stride divides `size`.

  /// The block with index i begins at i * getSourceStep() in the source.
  int64_t getSourceStep() const {
    return isForward ? size * stride : size / stride;
  }

  /// The offset of the source element, from that beginning, that result `i`
  /// reads for `tap`; none if the stride skips it.
  std::optional<int64_t> getOffset(int64_t i, int64_t tap) const {
    if (isForward)
      return i * stride + tap * dilation - pad;
    int64_t reach = i + pad - tap * dilation;
    if (reach % stride != 0)
      return std::nullopt;
    return reach / stride;
  }

  /// All such offsets, each once, in ascending order.
  llvm::SmallVector<int64_t> getOffsets() const {
    llvm::SmallVector<int64_t> offsets;
    for (int64_t i = 0; i < size; ++i)
      for (int64_t tap = 0; tap < taps; ++tap)
        if (auto offset = getOffset(i, tap))
          offsets.push_back(*offset);
    llvm::sort(offsets);
    offsets.erase(llvm::unique(offsets), offsets.end());
    return offsets;
  }
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_COMMON_WINDOWBLOCK_H
