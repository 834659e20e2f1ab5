//===- WindowBlock.h - What a block of results sees of a source -*- C++ -*-===//
//
// A thread that owns a few neighbouring results reads each element of the
// source that they share once, if it knows when it is compiled which tap of
// which result that element meets. For a block that begins at a multiple of its
// size it does, in both directions and with any stride.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_WINDOWBLOCK_H
#define TESSERA_COMPILER_ALGORITHMS_WINDOWBLOCK_H

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
  bool isForward; ///< The results are outputs; else gradients of inputs, and
                  ///< the stride divides their number.

  /// The block with index i begins at i * getSourceStep() in the source.
  int64_t getSourceStep() const {
    return isForward ? size * stride : size / stride;
  }

  /// Where, from there on, result `i` of the block meets `tap`; nowhere if the
  /// stride passes over it.
  std::optional<int64_t> getOffset(int64_t i, int64_t tap) const {
    if (isForward)
      return i * stride + tap * dilation - pad;
    int64_t reach = i + pad - tap * dilation;
    if (reach % stride != 0)
      return std::nullopt;
    return reach / stride;
  }

  /// Every such place once, in order.
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

#endif // TESSERA_COMPILER_ALGORITHMS_WINDOWBLOCK_H
