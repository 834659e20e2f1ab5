//===- CellWriter.h - Writes programs of narrow groups ---------*- C++ -*--===//
//
// Blocks of pixels (CellProgram.cpp), runs of blocks (CellRuns.cpp), and
// backward weights (CellWeights.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_WORKGROUP_CELLWRITER_H
#define TESSERA_COMPILER_CONVERSION_WORKGROUP_CELLWRITER_H

#include "compiler/Conversion/Ampere/CellGradient.h"
#include "compiler/Conversion/Ampere/CellOperands.h"
#include "compiler/Conversion/Workgroup/ProgramSizes.h"
#include "dialect/Workgroup/Workgroup.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tessera {

/// A workgroup's run of blocks down the image.
struct CellRuns {
  int64_t run;     ///< Blocks.
  int64_t ahead;   ///< Of them, on their way while one is multiplied.
  int64_t advance; ///< Lines from one to the next.

  /// The runs of a group of tiles.
  OpenNumber count(TileProgram &program) const;
};

class CellWriter {
public:
  CellWriter(TileProgram &program, mlir::OpBuilder &b, wg::ProgramOp frame,
             const DeviceOps &device)
      : e(b, program.function.getLoc(), &frame.getBody().front(), device),
        sizes(program.function, &frame.getBody().front()), program(program),
        id(frame.getBody().front().getArgument(0)) {
    e.sizes = &sizes;
  }
  void emitBlocks(const CellOperands &operands,
                  std::optional<int64_t> persistent);
  void emitRuns(const CellOperands &operands, const CellRuns &runs);
  void emitGradient(const CellGradient &gradient, bool isStreamed);

private:
  struct Position {
    mlir::Value group, row;
  };
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::Value, mlir::ValueRange)>;

  mlir::Value allocate(int64_t slots, int64_t rows, wg::Layout layout,
                       int64_t number, mlir::Value base = {}, int64_t slot = 0);
  void allocateOperands(const CellOperands &operands, int64_t slots,
                        wg::Layout layout, int64_t pixels, bool isOver);
  mlir::Value makeTile(bool isM, mlir::Value group, mlir::Value row);
  void fill(mlir::Value tile, mlir::Value at, int64_t slot, int64_t lines = 0);
  void meet(std::optional<int64_t> ahead) {
    wg::BarrierOp::create(e.b, e.loc,
                          ahead ? e.b.getI64IntegerAttr(*ahead)
                                : mlir::IntegerAttr());
  }
  void commit() { wg::CommitOp::create(e.b, e.loc); }
  mlir::Value getWave(dnn::TileDim dim) {
    return wg::WaveOp::create(e.b, e.loc, e.b.getI32Type(), dim);
  }
  llvm::SmallVector<mlir::Value> loop(mlir::Value from, mlir::Value to,
                                      int64_t step, mlir::ValueRange begin,
                                      Body body);
  void emitWhere(mlir::Value condition, llvm::function_ref<void()> body);
  mlir::Value zero();
  mlir::Value load(bool isM, int64_t slot, int64_t rows, int64_t columns,
                   mlir::Value pixel = {}, mlir::Value image = {},
                   mlir::Value block = {});
  mlir::Value multiply(mlir::Value a, mlir::Value b, mlir::Value sums) {
    return wg::MmaOp::create(e.b, e.loc, acc, a, b, sums,
                             mlir::DenseI64ArrayAttr(),
                             e.b.getStringAttr(program.instructionName));
  }
  llvm::SmallVector<mlir::Value>
  step(int64_t results,
       llvm::function_ref<llvm::SmallVector<mlir::Value>()> body);
  mlir::Value makeResult(const Position &at, mlir::Value from);
  void store(mlir::Value sums, mlir::Value result, int64_t behind = 0);

  // Blocks of pixels.
  Position locateBlock(mlir::Value tile, int64_t blocks);
  /// The group, and the number in it, of what each has `perGroup` of.
  Position locateNumber(mlir::Value number, const OpenNumber &perGroup,
                        int64_t blocks);
  void copyBlock(const Position &at, int64_t slot);
  void multiplyBlock(const Position &at, mlir::Value filter);
  void emitTiles(mlir::Value filter, int64_t workgroups, int64_t blocks);

  // Runs of them.
  void multiplyLines(const Position &at, mlir::Value wave,
                     llvm::ArrayRef<mlir::Value> filter);
  void emitFragment(const Position &at, mlir::Value pixel,
                    llvm::ArrayRef<mlir::Value> filter);

  // Backward weights.
  struct Pieces {
    mlir::Value output, input;
  };
  Pieces fetchBlock(mlir::Value block, mlir::Value end);
  void putBlock(const Pieces &pieces, int64_t slot);
  void fillBlock(mlir::Value block, mlir::Value end, int64_t slot);
  mlir::Value multiplyPixels(mlir::Value block, mlir::Value sums);

  Emitter e;
  ProgramSizes sizes;
  TileProgram &program;
  mlir::Value id;
  mlir::Value bufferM, bufferN;
  wg::AccType acc;
  ImageTile image;          ///< What has taps.
  CellGradient gradient;    ///< Of backward weights.
  mlir::Value tileM, tileN; ///< The same.
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_WORKGROUP_CELLWRITER_H
