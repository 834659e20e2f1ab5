//===- DepthwiseWeightBoxes.h - Boxes of pixels ----------------*- C++ -*-===//

#ifndef TESSERA_COMPILER_ALGORITHMS_DEPTHWISEWEIGHTBOXES_H
#define TESSERA_COMPILER_ALGORITHMS_DEPTHWISEWEIGHTBOXES_H

#include "compiler/Algorithms/Depthwise/Depthwise.h"
#include "runtime/Base/GpuTarget.h"

#include <optional>

namespace tessera {

/// What a workgroup of backward weights has of a tensor for one strip, relative
/// to where the strip's block of rows and of columns begins. Plain data.
struct DepthwiseBox {
  DepthwiseBox(llvm::ArrayRef<int64_t> rowOffsets,
               llvm::ArrayRef<int64_t> columnOffsets, int64_t columnSteps);

  /// Pixels in LDS, each of so many bytes, so that the next slot is aligned.
  int64_t countSlotPixels(int64_t bytes) const;

  int64_t firstRow, rows;
  int64_t firstColumn, columns;
};

/// The boxes of both activations. Plain data.
struct DepthwiseBoxes {
  DepthwiseBoxes(const WindowBlock &rows, const WindowBlock &columns,
                 const DepthwiseTile &tile);

  /// Bytes of LDS that a strip takes.
  int64_t countStageBytes(int64_t elementBytes) const;
  /// Whether the chip copies such boxes and has LDS for those of the tile.
  bool fit(int64_t elementBytes, const GpuTarget &target) const;

  int64_t channels; ///< Of a workgroup.
  int64_t stages;
  DepthwiseBox x, y;
};

/// The tile with boxes that should be fastest, if the chip and the tensors have
/// any and the problem is large enough for them.
std::optional<DepthwiseTile> chooseDepthwiseBoxTile(const ConvProblem &conv,
                                                    const GpuTarget &target);

/// Brings strips to LDS, and what a thread needs of them to registers.
class DepthwiseBoxLoader {
public:
  DepthwiseBoxLoader(PointBuilder &p, const ConvProgram &program,
                     const DepthwiseTile &tile, const WindowBlock &rows,
                     const WindowBlock &columns);

  /// Makes the buffers. The workgroup's first strip and block of channels, the
  /// thread's block of columns in a strip and its first channel in the block.
  void begin(mlir::Value firstStrip, mlir::Value channelBlock,
             mlir::Value strip, mlir::Value channel);
  /// Begins to copy the strip of a turn; all threads do.
  void copyIn(mlir::Value turn);
  /// Behind it, loads are of the strip of that turn.
  void wait(mlir::Value turn);

  // A block of the thread's groups, at an offset from its block.
  mlir::Value loadGradient(int64_t row, int64_t column);
  mlir::Value loadPixel(int64_t row, int64_t column);

private:
  mlir::Value makeBuffer(const ConvTensor &tensor, const DepthwiseBox &box);
  mlir::Value load(mlir::Value buffer, const DepthwiseBox &box, int64_t row,
                   int64_t columnStep, int64_t column);

  PointBuilder &p;
  const ConvProgram &program;
  const DepthwiseTile &tile;
  const WindowBlock &rows, &columns;
  const DepthwiseBoxes boxes;
  mlir::Value xBuffer, yBuffer;
  mlir::Value firstStrip, firstChannel;
  mlir::Value ownColumn, ownChannel;
  mlir::Value slot;
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_DEPTHWISEWEIGHTBOXES_H
