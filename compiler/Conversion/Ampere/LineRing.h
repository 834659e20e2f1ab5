//===- LineRing.h - Lines of an image that stay ----------------*- C++ -*--===//
//
// A workgroup goes down the image, block by block. Of the lines that a block
// sees the next sees some, too: they stay where they are in shared memory, and
// new lines take the place of the oldest.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_AMPERE_LINERING_H
#define TESSERA_COMPILER_CONVERSION_AMPERE_LINERING_H

#include "compiler/Conversion/Ampere/ImageTile.h"

namespace tessera {

/// Plain data.
struct LineRing {
  ImageTile image; ///< What one block sees.
  int64_t slots;   ///< Lines that there is memory for.

  int64_t getLineBytes() const {
    return image.countColumns() * image.getPixelBytes();
  }
  int64_t getBytes() const { return slots * getLineBytes(); }
  /// The place of what would be at `bytes`, which are less than two rings, if
  /// there were no end.
  mlir::Value wrap(Emitter &e, mlir::Value bytes) const;
};

/// A line of results that sees a line of the image, and by which line of taps.
struct LineUser {
  int64_t result, tap;
};
/// Those of line `line` of the block.
llvm::SmallVector<LineUser> listUsers(const ImageTile &image, int64_t line);

/// Brings lines to a ring: a line at a time, a column and a chunk of it a
/// thread.
class LineCopy {
public:
  /// Of the run that begins with block `block` of `group`.
  LineCopy(Emitter &e, const LineRing &ring, const ImageCopy &copy,
           mlir::Value group, mlir::Value block);

  /// Begins to copy `count` lines from line `line` of the run on, to the slots
  /// from `slot`, in bytes, on; what is outside of the image is filled with
  /// zeros.
  void emit(mlir::Value line, mlir::Value slot, int64_t count) const;

private:
  Emitter &e;
  const LineRing &ring;
  ImageCopy copy;
  llvm::SmallVector<mlir::Value> base; ///< Offset, line, column of the run.
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_AMPERE_LINERING_H
