//===- ResultStatistics.h - Statistics of what a warp stages ---*- C++ -*--===//
//
// A warp reads what it has staged, rounded: each lane two neighbouring columns
// of its 16 rows, which are all banks at once. So nothing is exchanged between
// lanes. Differences from the first of the rows are summed up, and the squares
// of them; what is left of these is no less than a sixteenth, whatever the
// data. Chan's formula adds the 16 rows to those before. A warp whose tiles
// have the same columns stores the sums behind the last one, else behind each
// (dnn.tile_store).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_RESULTSTATISTICS_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_RESULTSTATISTICS_H

#include "compiler/Conversion/Common/ViewAccess.h"
#include "compiler/Conversion/Hopper/WayOut.h"

namespace tessera {

/// Where the parts of a store's statistics are.
struct StatisticsMemory {
  mlir::Value pointer;
  int64_t parts;
  bool isOfTiles;     ///< Whether each tile of a warp is a part.
  int64_t workgroups; ///< Of the launch.
};

/// For all lanes of a warp, which emit these calls together.
class ResultStatistics {
public:
  struct Thread {
    mlir::Value workgroup, consumer, warp, lane;
  };
  ResultStatistics(Emitter &e, const HopperShape &shape, dnn::ViewOp result,
                   const StatisticsMemory &memory, const Thread &thread);

  /// Before anything of `tile` is stored.
  void begin(const ResultTile &tile);
  /// Before the pieces of the rows of number `rowPiece`.
  void beginRows(int64_t rowPiece);
  /// A buffer holds the warp's rows of these, in the columns of number
  /// `columnPiece`, for all lanes to see.
  void add(mlir::Value buffer, int64_t columnPiece);
  /// Behind the last piece of a tile.
  void endTile();
  /// Behind the last tile.
  void finish();

private:
  /// Of one column: its mean and the sum of squared differences.
  struct Sums {
    mlir::Value mean, squares;
  };
  /// The sums of rows of a piece, which are `count`.
  struct Rows {
    mlir::Value mask;    ///< A bit for each that is a result; null if all are.
    mlir::Value first;   ///< The first of them.
    mlir::Value count;   ///< How many, f32.
    mlir::Value inverse; ///< One over `count`, or 1.
    mlir::Value share;   ///< Of all so far.
    mlir::Value between; ///< Count of those before times `share`.
  };

  mlir::Value makeVariable(mlir::Type type);
  mlir::Value load(mlir::Value variable);
  void store(mlir::Value value, mlir::Value variable);
  void clear();
  mlir::Value number(double value);
  mlir::Value findResults(int64_t rowPiece);
  mlir::Value locate(mlir::Value row);
  llvm::SmallVector<mlir::Value, 2> loadPair(mlir::Value buffer,
                                             mlir::Value offset);
  void addRows(mlir::Value buffer, int64_t columnPiece, bool isMasked);
  void merge(const Sums &to, mlir::Value pivot, mlir::Value sum,
             mlir::Value squares, bool isMasked);
  void storePart(mlir::Value part, mlir::Value column, bool isEmpty);

  Emitter &e;
  const HopperShape &shape;
  ViewAccess access;
  llvm::ArrayRef<int64_t> extents;
  StatisticsMemory memory;
  Thread thread;
  ResultTile tile;
  Rows rows;
  mlir::Value count;            ///< Variables: rows so far,
  llvm::SmallVector<Sums> sums; ///< and two columns of each piece.
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_RESULTSTATISTICS_H
