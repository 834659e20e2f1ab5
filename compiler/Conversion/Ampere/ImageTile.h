//===- ImageTile.h - A block of an image in shared memory ------*- C++ -*--===//
//
// 64 channels of the pixels that a block of results sees, each pixel once. A
// pixel has 16 bytes more than its channels, so that the 16-byte chunks of
// eight neighbouring pixels lie in different banks, and a tap is a constant.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_AMPERE_IMAGETILE_H
#define TESSERA_COMPILER_CONVERSION_AMPERE_IMAGETILE_H

#include "compiler/Conversion/Common/ViewAccess.h"

namespace tessera {

/// Channels that a workgroup works on.
inline constexpr int64_t kBlockChannels = 64;

/// Plain data; made by matchImageTile().
struct ImageTile {
  static constexpr int64_t kChunkBytes = 16; ///< Of a copy.
  static constexpr int64_t kPieceChannels = 8;

  int64_t elementBytes = 2;
  int64_t height = 0, width = 0; ///< Of the block, in results.
  /// Lines and columns of the image from one result to the next, and from one
  /// tap to the next.
  int64_t lineStep = 1, columnStep = 1;
  int64_t tapLines = 1, tapColumns = 1; ///< Taps.
  int64_t tapLineStep = 1, tapColumnStep = 1;
  OpenNumber numLines, numColumns; ///< Of the image.
  OpenNumber lineBytes, tensorBytes;
  int64_t columnBytes = 0;
  /// Of groups and of blocks: offset in bytes, line and column.
  AccessSpace groupSpace, blockSpace;
  OpenNumber constants[3];

  int64_t countLines() const {
    return (height - 1) * lineStep + (tapLines - 1) * tapLineStep + 1;
  }
  int64_t countColumns() const {
    return (width - 1) * columnStep + (tapColumns - 1) * tapColumnStep + 1;
  }
  int64_t countTaps() const { return tapLines * tapColumns; }
  int64_t countResults() const { return height * width; }
  int64_t getPixelBytes() const {
    return kBlockChannels * elementBytes + kChunkBytes;
  }
  int64_t countPixelChunks() const {
    return kBlockChannels * elementBytes / kChunkBytes;
  }
  int64_t getPieceBytes() const { return kPieceChannels * elementBytes; }
  int64_t getBytes() const {
    return countLines() * countColumns() * getPixelBytes();
  }
  /// Of tap `tap` from the pixel of a result, in shared memory.
  int64_t getTapBytes(int64_t tap) const {
    return (tap / tapColumns * tapLineStep * countColumns() +
            tap % tapColumns * tapColumnStep) *
           getPixelBytes();
  }
  /// Where the first tap of result `result`, an i32, lies in shared memory.
  mlir::Value emitResultBytes(Emitter &e, mlir::Value result) const;
};

/// Reads `view` as one of blocks of pixels: the last two dimensions of rows
/// (`pixels` 1) or of columns (2) are a block, the other side has two
/// dimensions of taps if `hasTaps`, then channels. Fails after an error at
/// `op` where it is no such view.
mlir::FailureOr<ImageTile> matchImageTile(mlir::Operation *op, dnn::ViewOp view,
                                          unsigned pixels, bool hasTaps);

/// A workgroup's threads on their way to shared memory.
struct ImageCopy {
  mlir::Value thread;
  int64_t threads;
  mlir::Value pointer; ///< Of the tensor.
  mlir::Value shared;  ///< Where to.
};

/// 16 bytes of each pixel and thread that a workgroup's threads carry.
using ImageChunks = llvm::SmallVector<mlir::Value>;

/// How many a thread of so many carries of a tile.
int64_t countThreadChunks(const ImageTile &tile, int64_t threads);
/// Loads the pixels of block `block` of `group`, or zeros unless `exists`, as
/// what is read once; and stores them to shared memory. For kernels that read
/// much more than they write: cp.async cannot say so, since its cache hint is
/// an illegal instruction in some kernels (ptxas 13.0 and driver 580, seen on
/// an H100).
ImageChunks fetchImageTile(Emitter &e, const ImageTile &tile,
                           const ImageCopy &copy, mlir::Value group,
                           mlir::Value block, mlir::Value exists);
void putImageTile(Emitter &e, const ImageTile &tile, const ImageCopy &copy,
                  llvm::ArrayRef<mlir::Value> chunks);

/// Begins to copy the pixels of block `block` of `group`; what is outside of
/// the image is filled with zeros.
void copyImageTile(Emitter &e, const ImageTile &tile, const ImageCopy &copy,
                   mlir::Value group, mlir::Value block);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_AMPERE_IMAGETILE_H
