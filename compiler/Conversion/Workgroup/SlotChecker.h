//===- SlotChecker.h - What waves do to slots, op by op --------*- C++ -*--===//

#ifndef TESSERA_COMPILER_CONVERSION_WORKGROUP_SLOTCHECKER_H
#define TESSERA_COMPILER_CONVERSION_WORKGROUP_SLOTCHECKER_H

#include "compiler/Conversion/Workgroup/SlotPlaces.h"
#include "compiler/Conversion/Workgroup/SlotState.h"

namespace tessera {

/// Follows the ops of a program of waves (CheckSlots.cpp).
class SlotChecker {
public:
  explicit SlotChecker(wg::ProgramOp program)
      : bufferA(*program.getBody().getOps<wg::AllocOp>().begin()),
        places(program, bufferA),
        buffers(program.getBody().getOps<wg::AllocOp>()) {}
  llvm::LogicalResult visit(mlir::Block &block);

private:
  /// What a fragment is of, or pieces of a tile: A or B, the first column, and
  /// where taps share A's rows the tap, if that is a constant; of pieces, how
  /// many parts there are.
  struct Part {
    bool isOfA = false;
    int64_t column = 0;
    std::optional<int64_t> tap;
    NextPart next = {1, 1};
    KnownNumber block = {}; ///< Of pixels of a reduction, if that is known.

    bool operator==(const Part &) const = default;
  };

  llvm::LogicalResult visit(mlir::Operation *op);
  llvm::LogicalResult visitLoop(mlir::scf::ForOp loop);
  llvm::LogicalResult visitBody(mlir::scf::ForOp loop,
                                llvm::ArrayRef<int64_t> places);
  // Of narrow groups (CheckCells.cpp).
  llvm::LogicalResult visitShared(mlir::scf::ForOp loop);
  llvm::LogicalResult visitBranch(mlir::scf::IfOp branch);
  void rotate(wg::RotateOp op);
  llvm::LogicalResult reduce(wg::ReduceOp op);
  llvm::SmallVector<Slot> findOverlaps(Slot slot);

  llvm::LogicalResult write(mlir::Operation *op, Slot slot,
                            std::optional<llvm::ArrayRef<int64_t>> part = {});
  llvm::LogicalResult put(wg::PutOp op);
  llvm::LogicalResult fill(wg::FillOp op);
  llvm::LogicalResult load(wg::LoadOp op);
  llvm::LogicalResult multiply(wg::MmaOp op);
  llvm::LogicalResult flush(wg::FlushOp op);
  void fetch(wg::FetchOp op);
  void meet(wg::BarrierOp barrier);
  llvm::LogicalResult take(mlir::Operation *op, mlir::ValueRange into,
                           mlir::ValueRange from);
  llvm::LogicalResult follow(mlir::Operation *op, Slot slot,
                             llvm::ArrayRef<int64_t> part);

  bool isCellProgram() {
    return mlir::cast<wg::BufferType>(bufferA.getType()).isOfCells();
  }
  bool isShared() {
    return mlir::cast<wg::BufferType>(bufferA.getType()).isShared();
  }
  std::optional<int64_t> findTap(mlir::Value box);
  llvm::FailureOr<Slot> locate(mlir::Operation *op, mlir::Value buffer,
                               int64_t number, mlir::Value behind);

  mlir::Value bufferA;
  SlotPlaces places;
  llvm::SmallVector<wg::AllocOp> buffers;
  SlotState state;
  std::optional<WhenComes> condition; ///< Of the branch that is visited.
  llvm::DenseMap<mlir::Value, Part> parts;
};

/// How many lines on those are that an iteration of the loop copies, of those
/// of the one before; 0 if it copies none.
int64_t findLineScale(mlir::scf::ForOp loop);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_WORKGROUP_SLOTCHECKER_H
