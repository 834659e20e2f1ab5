//===- GradientSums.h - The sums of a norm's gradient ----------*- C++ -*--===//
//
// A warp's staged rows are a gradient g. Each lane loads of the normalisation's
// input, and of a mask, the two columns of each row that it reads of the
// buffer: 128 bytes of a row at once. It puts zeros into the buffer where the
// activation had none, and sums up g and g (z - mean).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_GRADIENTSUMS_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_GRADIENTSUMS_H

#include "compiler/Conversion/Hopper/StagedPartials.h"

#include <deque>
#include <vector>

namespace tessera {

/// What a store reads of a normalisation (dnn.tile_store).
struct NormMemory {
  struct Tensor {
    ViewAccess access;
    mlir::Value pointer;
  };
  std::vector<Tensor> tensors;            ///< z and, if there is one, a mask.
  llvm::SmallVector<mlir::Value> numbers; ///< Pointers: the mean, or four.
};

class GradientSums final : public StagedPartials {
public:
  GradientSums(Emitter &e, const HopperShape &shape, dnn::ViewOp result,
               const PartialsMemory &memory, const Thread &thread,
               NormMemory norm);

  void begin(const ResultTile &tile) override;
  int64_t countFetched() const override;
  void fetch(int64_t rowPiece, int64_t columnPiece) override;
  void beginRows(int64_t rowPiece) override;
  void change(mlir::Value buffer, int64_t columnPiece) override;

private:
  using Pair = llvm::SmallVector<mlir::Value, 2>;
  using Numbers = llvm::SmallVector<Pair>;
  /// Of each tensor two elements of each row of a piece, as they were loaded.
  using Fetched = llvm::SmallVector<llvm::SmallVector<mlir::Value>>;

  mlir::Value loadPairOf(const ViewAccess &access, mlir::Value first,
                         int64_t row, int64_t column);
  mlir::Value loadPairAt(mlir::Value isInside, mlir::Value address);
  llvm::SmallVector<mlir::Value>
  fetchScattered(const NormMemory::Tensor &tensor, int64_t row, int64_t column);
  Numbers loadNumbers(int64_t columnPiece);
  mlir::Value isPositive(const Fetched &fetched, const Numbers &numbers,
                         int64_t row, int64_t i, mlir::Value centred);
  void changeRow(const Fetched &fetched, const Numbers &numbers,
                 mlir::Value buffer, int64_t row, Pair gradients,
                 llvm::MutableArrayRef<mlir::Value> totals);

  NormMemory norm;
  /// Of each tensor the address of the lane's first elements in a tile; null if
  /// it is no matrix. The rows and columns from there on; null if all are.
  llvm::SmallVector<mlir::Value> firsts;
  mlir::Value rowsLeft, columnsLeft;
  std::deque<Fetched> pending;
  mlir::Value mask; ///< A bit for each row that is a result; null if all are.
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_GRADIENTSUMS_H
