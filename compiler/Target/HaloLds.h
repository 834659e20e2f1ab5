//===- HaloLds.h - LDS of the pixels that taps share -----------*- C++ -*--===//
//
// The layout of LDS if all taps of a tile share its pixels: a line for each
// pixel of the tile and its halo. The lowering uses it
// (compiler/Conversion/Cooperative/HaloLines.h), and so does the cost model.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_TARGET_HALOLDS_H
#define TESSERA_COMPILER_TARGET_HALOLDS_H

#include "runtime/Base/GpuTarget.h"

#include <cstdint>
#include <span>

namespace tessera {

/// Buffers with a line for each pixel, and a line of zeros. Plain data.
struct HaloLds {
  /// Lines of a buffer, rounded up to whole passes of all threads.
  int64_t lines = 0;
  int64_t lineBytes = 0; ///< Bytes of the channels of one iteration.

  /// Double buffering: one block of channels is loaded while another one is
  /// multiplied.
  static constexpr int64_t kBuffers = 2;
  static constexpr int64_t kChunkBytes = 16;

  /// The layout for tiles of `pixels` pixels, halo included, which `threads`
  /// threads load.
  static HaloLds make(int64_t pixels, int64_t lineBytes, int64_t threads);

  /// The same for planes of pixels (PlaneHalo.h), of which a lane brings
  /// kPlanePixels neighbours of a chunk's channels. The first ones begin where
  /// a load may, and the last kZeroLines are zeros, one for each bank.
  static constexpr int64_t kPlanePixels = 4, kZeroLines = 8;
  static HaloLds makeOfPlanes(int64_t pixels, int64_t lineBytes,
                              int64_t threads);

  /// Lines of an image of `pixels` pixels.
  static int64_t countPlaneLines(int64_t pixels) {
    return (pixels + kPlanePixels - 1) / kPlanePixels * kPlanePixels;
  }

  int64_t getChunks() const { return lineBytes / kChunkBytes; }
  /// The stride of lines. The padding puts eight neighbours into different
  /// banks.
  int64_t getPitch() const { return lineBytes + kChunkBytes; }
  int64_t getBufferBytes() const { return lines * getPitch(); }
  /// The offset of the line of zeros, which follows the buffers.
  int64_t getZeroOffset() const { return kBuffers * getBufferBytes(); }
  int64_t getBytes() const { return getZeroOffset() + lineBytes; }
};

/// The largest distance between the offsets of a tile's first and last row, for
/// tiles of `rows` rows. The offset of a row is the sum of its coordinates,
/// those of a tensor of `sizes` with the last dimension fastest, times `steps`.
/// The last tile may extend beyond the last row.
int64_t getMaxSpan(std::span<const int64_t> sizes,
                   std::span<const int64_t> steps, int64_t rows);

/// Whether the 64 by 64 accumulators of a warp stay in registers if the loop
/// over taps is unrolled and the filter is transposed from LDS or has bytes.
/// For chips from sm_100 on, ptxas of CUDA 13 spills a kilobyte in these loops,
/// but not in those of forward convolutions in f16 or bf16.
bool holdsWideProducts(const GpuTarget &target);

} // namespace tessera

#endif // TESSERA_COMPILER_TARGET_HALOLDS_H
