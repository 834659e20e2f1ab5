//===- DepthwiseWeightBoxes.h - Boxes of pixels ----------------*- C++ -*--===//

#ifndef TESSERA_COMPILER_ALGORITHMS_DEPTHWISE_DEPTHWISEWEIGHTBOXES_H
#define TESSERA_COMPILER_ALGORITHMS_DEPTHWISE_DEPTHWISEWEIGHTBOXES_H

#include "compiler/Algorithms/Depthwise/Depthwise.h"
#include "runtime/Base/GpuTarget.h"

#include <optional>

namespace tessera {

/// The box of a tensor that a workgroup of backward weights reads for one
/// strip, relative to the beginning of the strip's block of rows and columns.
/// Plain data.
struct DepthwiseBox {
  DepthwiseBox(llvm::ArrayRef<int64_t> rowOffsets,
               llvm::ArrayRef<int64_t> columnOffsets, int64_t columnSteps);

  /// The number of pixels of a slot in LDS, rounded up such that the next slot
  /// is aligned. A pixel has `bytes` bytes.
  int64_t countSlotPixels(int64_t bytes) const;

  int64_t firstRow, rows;
  int64_t firstColumn, columns;
};

/// The boxes of both activations. Plain data.
struct DepthwiseBoxes {
  DepthwiseBoxes(const WindowBlock &rows, const WindowBlock &columns,
                 const DepthwiseTile &tile);

  /// The bytes of LDS that the boxes of a strip take.
  int64_t countStageBytes(int64_t elementBytes) const;
  /// Whether TMA can copy such boxes, and LDS has space for those of all
  /// stages.
  bool fit(int64_t elementBytes, const GpuTarget &target) const;

  int64_t channels; ///< The channels of a workgroup.
  int64_t stages;
  DepthwiseBox x, y;
};

/// The tile with boxes that should be fastest, if chip and tensors allow boxes
/// and the problem is large enough to gain by them.
std::optional<DepthwiseTile> chooseDepthwiseBoxTile(const ConvProblem &conv,
                                                    const GpuTarget &target);

/// Copies the boxes of strips to LDS, and loads what a thread needs of them to
/// registers.
class DepthwiseBoxLoader {
public:
  DepthwiseBoxLoader(PointBuilder &p, const ConvProgram &program,
                     const DepthwiseTile &tile, const WindowBlock &rows,
                     const WindowBlock &columns);

  /// Makes the buffers. `firstStrip` and `channelBlock` are the workgroup's
  /// first strip and its block of channels; `strip` is the thread's block of
  /// columns in a strip, `channel` its first channel in the block.
  void begin(mlir::Value firstStrip, mlir::Value channelBlock,
             mlir::Value strip, mlir::Value channel);
  /// Starts to copy the strip of an iteration. All threads get here.
  void copyIn(mlir::Value iteration);
  /// Waits for the strip of an iteration, which later loads read.
  void wait(mlir::Value iteration);

  // Load the elements of the thread's groups of one pixel, whose position is
  // relative to the thread's block.
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

#endif // TESSERA_COMPILER_ALGORITHMS_DEPTHWISE_DEPTHWISEWEIGHTBOXES_H
