//===- RowTensor.h - A tensor whose rows a warp moves ----------*- C++ -*--===//
//
// Between a tensor and a staging buffer, without the TMA unit: each lane moves
// as many neighbouring columns as memory allows, the lanes of a row lie side
// by side, and each row has an address and checks of its own. A row of eight
// 16-byte pieces is 8 lanes, which read and write shared memory without
// conflicts: each phase of an access is one row, so all banks. Narrower pieces
// are moved in a loop over batches of rows, which keeps them few.
//
// Where taps share pixels, padding lies between the lines of a column-major
// result, so that neighbours begin at no multiple of anything. Then a lane
// stores pairs of 16-bit elements, each beginning at an even pixel of its line,
// wherever in the staged row that is.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_ROWTENSOR_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_ROWTENSOR_H

#include "compiler/Conversion/Common/StoreView.h"
#include "compiler/Conversion/Hopper/WayOut.h"

namespace tessera {

/// A view of the result's shape and type, as one lane moves it.
class RowTensor {
public:
  /// `pointer` is the tensor's; `warp` the warp's number in its warpgroup.
  RowTensor(Emitter &e, const HopperShape &shape, dnn::ViewOp view,
            mlir::Value pointer, mlir::Value warp, mlir::Value lane);

  /// Before anything of `tile` is moved.
  void begin(const ResultTile &tile);

  using Pieces = llvm::SmallVector<mlir::Value>;
  /// The lane's share of the warp's 16 rows of the wgmma at `row`, in the
  /// staged columns from `column` of the tile on, with zeros where there is
  /// nothing. None if that is too much to hold: then stage() loads.
  Pieces fetch(int64_t row, int64_t column);
  /// Puts the same rows into a staging buffer; `fetched` are its pieces.
  void stage(const Pieces &fetched, int64_t row, int64_t column,
             mlir::Value buffer);
  /// Stores rows of a staging buffer.
  void store(mlir::Value buffer, int64_t row, int64_t column);

private:
  using Visitor =
      llvm::function_ref<void(const StoreView &, const StorePlace &column,
                              const StorePlace &row, mlir::Value offset)>;
  void forEachBatch(llvm::function_ref<void(mlir::Value)> body);
  void visit(mlir::Value batch, int64_t row, int64_t column, Visitor visitor);
  Pieces load(mlir::Value batch, int64_t row, int64_t column);
  StoreView getView(mlir::Value row, mlir::Value column) const;
  mlir::Value getPixel(mlir::Value staged) const;
  mlir::Value loadStaged(mlir::Value buffer, mlir::Value row,
                         mlir::Value element);
  void storePairs(mlir::Value buffer, int64_t row, int64_t column);
  void storeEnds(mlir::Value buffer, int64_t row, int64_t column);
  mlir::Type getPieceType() const;

  Emitter &e;
  const HopperShape &shape;
  ViewAccess access;
  mlir::Value pointer;
  mlir::Value warp, lane;
  int64_t bytes;       ///< Of an element.
  int64_t width;       ///< Elements of a piece.
  int64_t lanesPerRow; ///< Pieces that lie side by side.
  int64_t batchPieces; ///< Of one lane, side by side along the rows.
  /// The lines that staged rows are of, if lanes store pairs of their pixels:
  /// positions of each, the first `pixels` of which are any.
  struct Lines {
    int64_t positions, pixels;
  };
  static std::optional<Lines> findLines(const ViewAccess &access);
  std::optional<Lines> lines;
  ResultTile tile;
  std::optional<GlobalBuffer> tensor; ///< At the tile.
};

/// A staged result that leaves row by row.
class RowStore final : public WayOut {
public:
  RowStore(Emitter &e, RowTensor result) : e(e), result(std::move(result)) {}

  void begin(const ResultTile &tile) override { result.begin(tile); }
  void awaitBuffer(int64_t buffers) override;
  void copyOut(mlir::Value buffer, int64_t row, int64_t column) override;
  void finish() override {}

private:
  Emitter &e;
  RowTensor result;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_ROWTENSOR_H
