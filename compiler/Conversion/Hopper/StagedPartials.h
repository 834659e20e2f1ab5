//===- StagedPartials.h - Numbers of the columns that a warp stages -------===//
//
// A warp reads what it has staged, rounded: each lane two neighbouring columns
// of its 16 rows, which are all banks at once. So nothing is exchanged between
// lanes. What it makes of them are some numbers for each column, variables that
// a warp keeps for all of its tiles where these have the same columns, else for
// one tile: a partial (dnn.tile_store).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_STAGEDPARTIALS_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_STAGEDPARTIALS_H

#include "compiler/Conversion/Common/StoreView.h"
#include "compiler/Conversion/Common/ViewAccess.h"
#include "compiler/Conversion/Hopper/WayOut.h"

namespace tessera {

/// Where the partials of a store are.
struct PartialsMemory {
  mlir::Value pointer;
  int64_t partials;
  bool isOfTiles;     ///< Whether each tile of a warp is a partial.
  int64_t workgroups; ///< Of the launch.
};

/// For all lanes of a warp, which emit these calls together.
class StagedPartials {
public:
  struct Thread {
    mlir::Value workgroup, consumer, warp, lane;
  };
  virtual ~StagedPartials() = default;

  /// Before anything of `tile` is stored.
  virtual void begin(const ResultTile &tile) { this->tile = tile; }
  /// Registers of a lane for what is fetched of a piece.
  virtual int64_t countFetched() const { return 0; }
  /// Loads what memory has of the rows of number `rowPiece`, in the columns of
  /// number `columnPiece`, ahead of their use. Pieces come in their order.
  virtual void fetch(int64_t rowPiece, int64_t columnPiece) {}
  /// Before the pieces of the rows of number `rowPiece`.
  virtual void beginRows(int64_t rowPiece) = 0;
  /// A buffer holds these rows and columns. Before it leaves, may change it.
  virtual void change(mlir::Value buffer, int64_t columnPiece) {}
  /// The same, for all lanes to see.
  virtual void add(mlir::Value buffer, int64_t columnPiece) {}
  /// Behind the last piece of a tile.
  void endTile();
  /// Behind the last tile.
  void finish();

protected:
  static constexpr int64_t kPair = 2;
  /// The variables of one column.
  using Numbers = llvm::SmallVector<mlir::Value>;

  StagedPartials(Emitter &e, const HopperShape &shape, dnn::ViewOp result,
                 const PartialsMemory &memory, const Thread &thread);

  mlir::Value makeVariable();
  mlir::Value load(mlir::Value variable);
  void store(mlir::Value value, mlir::Value variable);
  mlir::Value number(double value);
  /// The first row of `rowPiece` that the piece before did not have.
  int64_t countAgain(int64_t rowPiece) const;
  mlir::Value findResults(int64_t rowPiece);
  /// Of the lane's two columns in a staged row.
  mlir::Value locate(mlir::Value row);
  llvm::SmallVector<mlir::Value, 2> unpackPair(mlir::Value pair);
  llvm::SmallVector<mlir::Value, 2> loadPair(mlir::Value buffer,
                                             mlir::Value offset);
  StoreView getView(const ViewAccess &view, mlir::Value pointer,
                    mlir::Value row, mlir::Value column) const;
  void clear();

  Emitter &e;
  const HopperShape &shape;
  ViewAccess access;
  llvm::ArrayRef<int64_t> extents;
  PartialsMemory memory;
  Thread thread;
  ResultTile tile;
  /// In the order of a partial: those that are of the lane's two columns of
  /// each piece; one variable may be of many columns.
  llvm::SmallVector<Numbers> columns;

private:
  void storePartial(mlir::Value partial, mlir::Value column, bool isEmpty);
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_STAGEDPARTIALS_H
