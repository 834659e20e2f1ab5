//===- RowsTeam.h - Threads that share a row -------------------*- C++ -*-===//
//
// Some threads of a workgroup walk the blocks of a row in turns, and combine
// what each has found through shared memory. The rows of a workgroup have teams
// of one size, which do everything at the same time.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_ROWSTEAM_H
#define TESSERA_COMPILER_ALGORITHMS_ROWSTEAM_H

#include "compiler/Algorithms/RowWise/RowsProgram.h"
#include "compiler/Algorithms/RowWise/RowsTile.h"

#include <functional>
#include <map>
#include <tuple>

namespace tessera {

/// Where a thread of a launch stands.
struct RowsPlace {
  mlir::Value row;   ///< That of its team, or the block of rows.
  mlir::Value valid; ///< Whether there is one; null: there is.
  mlir::Value part;  ///< Of the row; null: the only one.
  mlir::Value thread, column;
};

/// Begins a launch with the teams of `tile`, and enters their rows.
RowsPlace enterTeams(RowsProgram &program, const RowsTile &tile, bool hasParts);

class RowsTeam {
public:
  using Value = mlir::Value;
  using Values = PointBuilder::Values;
  /// The words of a fold for each lane of the rows that a thread has.
  using LaneWords = llvm::SmallVector<RowsFold::Words, 8>;
  /// An index: how many values the threads with number `j` modulo `slots` have
  /// folded, for one lane of a row.
  using Counter = std::function<Value(int64_t slots, Value j)>;
  using Visitor = llvm::function_ref<Values(RowsBlock &, mlir::ValueRange)>;

  /// The team that enterTeams() has put the thread into.
  RowsTeam(RowsProgram &program, const RowsTile &tile, const RowsPlace &place)
      : program(program), p(program.p), threads(tile.threads),
        columns(tile.columns), thread(place.thread), column(place.column),
        parts(place.part ? tile.parts : 1), part(place.part) {}
  /// `thread` is one of `threads`, a power of two, of team `column` of
  /// `columns`.
  RowsTeam(RowsProgram &program, int64_t threads, Value thread, int64_t columns,
           Value column)
      : program(program), p(program.p), threads(threads), columns(columns),
        thread(thread), column(column) {}

  /// Calls `visit` with each block of the thread, whose inputs of `region` are
  /// loaded, and with what it returned for the block before. The blocks of a
  /// short row stay in registers from one walk to the next.
  Values walk(mlir::Region &region, mlir::ValueRange carried, Visitor visit);

  /// Folds what `reduction` yields for the thread's blocks: one entry a kind.
  std::vector<LaneWords> fold(size_t reduction);

  /// Combines the words of all threads; each gets the result.
  LaneWords combine(RowsFold &fold, LaneWords words, const Counter &counter);

  /// For what fold() gives.
  Value count(int64_t slots, Value j);

  /// Thread 0 of the team alone does what `body` writes.
  void byFirstThread(llvm::function_ref<void()> body);

  /// Adds the results of all reductions to those of the program.
  void reduceAll();

private:
  int64_t getStep() const { return threads * parts; }
  int64_t getTurns() const;
  bool isKept() const;
  Value getNumber(Value turn);
  RowsBlock getBlock(int64_t turn);
  Values visitTurns(int64_t first, int64_t end, mlir::Region &region,
                    Values carried, Visitor visit);
  llvm::SmallVector<Lanes> getPivots(size_t reduction);
  Value toFloat(Value count);
  Value getShared(mlir::Type type, size_t word);
  Values getShelf(Value slot);
  LaneWords exchange(RowsFold &fold, const LaneWords &words, int64_t slots,
                     int64_t fanIn, const Counter &counter);

  RowsProgram &program;
  PointBuilder &p;
  const int64_t threads, columns;
  const Value thread, column;
  /// The team walks every `parts`th group of blocks, from group `part` on;
  /// null: all.
  const int64_t parts = 1;
  const Value part;
  std::map<int64_t, RowsBlock> kept; ///< By turn.
  /// By type, word of a fold, and whether it is the second of a pair: while one
  /// is read, the other is written.
  std::map<std::tuple<void *, size_t, bool>, Value> shelves;
  bool isSecond = false;
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_ROWSTEAM_H
