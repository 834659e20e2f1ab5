//===- WindowTile.h - Overlapping windows in LDS, each pixel once -*- C++ -*-=//
//
// A convolution of few input channels (a stem) has a short reduction, of which
// neighbouring pixels share most: as rows of a matrix every input element would
// be loaded once for each tap that it is under, and a tap is too short for wide
// loads. So a workgroup's rows are a block of pixels, LDS holds the part of the
// tensor that they see, and a lane reads its fragments where its window lies:
// the last dimension of the reduction, the run, is contiguous in memory.
//
// Runs are filled up to whole chunks. What a window has there belongs to its
// neighbours; it is masked, so that an infinity of theirs multiplies no zero.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COOPERATIVE_WINDOWTILE_H
#define TESSERA_COMPILER_CONVERSION_COOPERATIVE_WINDOWTILE_H

#include "compiler/Conversion/Common/GlobalBuffer.h"
#include "compiler/Conversion/Cooperative/FragmentSource.h"
#include "compiler/Conversion/Cooperative/TileCopy.h"

namespace tessera {

/// What a tile of rows sees of its tensor. The tensor's last dimension is
/// that of elements, the one before of lines; a window may have several
/// planes. Plain data.
struct WindowTile {
  /// The rows of the tile: a block of pixels.
  int64_t height = 0, width = 0;
  /// Lines and elements from one pixel of the block to the next.
  int64_t lineStep = 0, elementStep = 0;
  /// Dimensions of the reduction, and what each adds to a place in LDS.
  llvm::SmallVector<int64_t> reduce, reduceSteps;
  int64_t total = 0; ///< Product of `reduce`.
  /// What LDS holds: planes of lines, `pitch` elements apart.
  int64_t planes = 1, lines = 0, pitch = 0;
  int64_t pieceElements = 1; ///< Of one load.
  /// Of a load where lines, whose length is unknown, are no whole pieces.
  int64_t leastElements = 1;
  int64_t elementBytes = 0;
  OpenNumber planeBytes = 0, lineBytes = 0, tensorBytes = 0;
  OpenNumber numLines = 0, numElements = 0; ///< Of the tensor.
  /// For groups and rows: offset in bytes, line and element.
  AccessSpace groupSpace, rowSpace;
  OpenNumber constants[3] = {0, 0, 0};
  /// The part of a run that belongs to the window.
  int64_t runBegin = 0, runEnd = 0;

  int64_t getChunkElements() const { return kChunkBytes / elementBytes; }
  int64_t getElements() const { return planes * lines * pitch; }
  int64_t getRun() const { return reduce.back(); }
  bool hasWholePieces() const { return leastElements == pieceElements; }
  /// Where the window's chunk `chunk` lies, relative to its first element.
  int64_t getPlace(int64_t chunk) const;
  /// Whether element `element` of chunk `chunk` belongs to the window.
  bool isInside(int64_t chunk, int64_t element) const;
};

/// Fills `window` for tiles of `rows` rows of `view`, with `filter` as the
/// other factor; emits an error at `op` and fails where `view` is no window.
mlir::LogicalResult matchWindow(mlir::Operation *op, dnn::ViewOp view,
                                dnn::ViewOp filter, int64_t rows,
                                WindowTile &window);

/// A thread's share of the way of a tile's windows to LDS, a piece a pass.
class WindowCopy : public TileCopy {
public:
  /// Where the tile begins, in the tensor at `pointer`.
  struct Place {
    mlir::Value pointer, group, row0;
  };
  WindowCopy(Emitter &e, const ViewAccess &access, const WindowTile &window,
             LdsTile lds, const ReductionWalk &walk, const Place &place,
             int64_t threads, mlir::Value thread);

  void load(unsigned pass, unsigned part, mlir::Value position,
            mlir::Value buffer,
            llvm::SmallVectorImpl<mlir::Value> &pieces) override;
  void write(unsigned pass, unsigned part, llvm::ArrayRef<mlir::Value> pieces,
             mlir::Value buffer) override;

private:
  int64_t countPieces() const {
    return window.getElements() / window.pieceElements;
  }
  /// Whether pass `pass` has fewer pieces than threads.
  bool isShort(int64_t pass) const {
    return (pass + 1) * threads > countPieces();
  }
  mlir::Value locatePiece(mlir::Value index, int64_t ahead, bool isLast);
  mlir::Value loadElements(mlir::Value index, int64_t ahead, int64_t count,
                           bool isLast);
  mlir::Value joinPiece(mlir::Value index, bool isLast);

  const WindowTile &window;
  int64_t threads;
  mlir::Value thread;
  CheckedMemory memory;
  llvm::SmallVector<mlir::Value> base;
  mlir::Value hasWholePieces; ///< Null if the window says so.
};

/// Reads fragments from there.
std::unique_ptr<FragmentSource> readWindow(Emitter &e, const WindowTile &window,
                                           const FragmentPlace &place);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_WINDOWTILE_H
