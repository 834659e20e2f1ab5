//===- HaloLds.h - LDS of pixels that taps share ---------------*- C++ -*-===//
//
// What the lowering lays out (compiler/Conversion/Cooperative/HaloLines.h) and
// the model has to know before: a line of LDS for each pixel that a tile sees.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_TARGET_HALOLDS_H
#define TESSERA_COMPILER_TARGET_HALOLDS_H

#include "runtime/Base/GpuTarget.h"

#include <cstdint>
#include <span>

namespace tessera {

/// A line for each pixel, and one of zeros. Plain data.
struct HaloLds {
  int64_t lines = 0;     ///< Of a buffer; whole passes of all threads.
  int64_t lineBytes = 0; ///< Channels of a step.

  /// While one block of channels is multiplied, the next one comes.
  static constexpr int64_t kBuffers = 2;
  static constexpr int64_t kChunkBytes = 16;

  /// For tiles that see so many `pixels`, brought by `threads` threads.
  static HaloLds make(int64_t pixels, int64_t lineBytes, int64_t threads);

  int64_t getChunks() const { return lineBytes / kChunkBytes; }
  /// From a line to the next: eight neighbours are in different banks.
  int64_t getPitch() const { return lineBytes + kChunkBytes; }
  int64_t getBufferBytes() const { return lines * getPitch(); }
  /// The line of zeros, behind the buffers.
  int64_t getZeroPlace() const { return kBuffers * getBufferBytes(); }
  int64_t getBytes() const { return getZeroPlace() + lineBytes; }
};

/// The most by which the places of a tile's first and last row differ, for
/// tiles of `rows` rows: places are sums over dimensions of `sizes`, the last
/// fastest, times `steps`. The rows of the last tile go on past the last.
int64_t getMaxSpan(std::span<const int64_t> sizes,
                   std::span<const int64_t> steps, int64_t rows);

/// Whether 64 by 64 results of a warp stay in registers in a loop that is
/// written out over taps and transposes its filter from LDS, or multiplies
/// bytes. For chips from sm_100 on, ptxas of CUDA 13 spills a kilobyte of them
/// there; forward products of halves stay.
bool holdsWideProducts(const GpuTarget &target);

} // namespace tessera

#endif // TESSERA_COMPILER_TARGET_HALOLDS_H
