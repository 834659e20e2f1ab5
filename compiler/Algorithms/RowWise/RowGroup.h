//===- RowGroup.h - Threads that share a row -------------------*- C++ -*--===//
//
// The threads of a row group share a row: each reduces every n-th block of it,
// and they combine their partial results through shared memory. All row groups
// of a workgroup have the same size and run the same iterations, so that their
// barriers are those of the workgroup.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_ROWWISE_ROWGROUP_H
#define TESSERA_COMPILER_ALGORITHMS_ROWWISE_ROWGROUP_H

#include "compiler/Algorithms/RowWise/RowWiseProgram.h"
#include "compiler/Algorithms/RowWise/RowWiseTile.h"

#include <functional>
#include <map>
#include <tuple>

namespace tessera {

/// The indices of a thread of a launch.
struct ThreadPosition {
  mlir::Value row;    ///< The row, or block of rows, of its row group.
  mlir::Value valid;  ///< Whether this row exists; null if it always does.
  mlir::Value split;  ///< The split of the row; null if rows are not split.
  mlir::Value thread; ///< The thread in its row group.
  mlir::Value group;  ///< The row group in its workgroup.
};

/// Begins a launch with the row groups of `tile`, and enters their rows.
ThreadPosition enterRowGroups(RowWiseProgram &program, const RowWiseTile &tile,
                              bool hasSplits);

/// Emits what the threads of a row group do.
class RowGroup {
public:
  using Value = mlir::Value;
  using Values = PointBuilder::Values;
  /// The words of a fold for each row of a thread.
  using LaneWords = llvm::SmallVector<RowWiseFold::Words, 8>;
  /// Returns, as an index, the number of values that the threads with index `j`
  /// modulo `slots` have folded for one row.
  using Counter = std::function<Value(int64_t slots, Value j)>;
  using Visitor = llvm::function_ref<Values(RowWiseBlock &, mlir::ValueRange)>;

  /// The row group of the thread at `position`, which enterRowGroups()
  /// returned.
  RowGroup(RowWiseProgram &program, const RowWiseTile &tile,
           const ThreadPosition &position)
      : program(program), p(program.p), threads(tile.threads),
        groups(tile.groups), thread(position.thread), group(position.group),
        splits(position.split ? tile.splits : 1), split(position.split),
        blocksAtOnce(tile.getBlocksAtOnce()) {}
  /// Row group `group` of `groups`; `thread` is one of its `threads`, a power
  /// of two.
  RowGroup(RowWiseProgram &program, int64_t threads, Value thread,
           int64_t groups, Value group)
      : program(program), p(program.p), threads(threads), groups(groups),
        thread(thread), group(group) {}

  /// Calls `visit` with each block of the thread, after loading the inputs that
  /// `region` uses, and with what it returned for the block before. The blocks
  /// of a short row stay in registers from one pass to the next.
  Values forEachBlock(mlir::Region &region, mlir::ValueRange carried,
                      Visitor visit);

  /// Folds the values that `reduction` yields for the thread's blocks; the
  /// result has one entry a kind.
  std::vector<LaneWords> fold(size_t reduction);

  /// Combines the words of all threads; each of them gets the result.
  LaneWords combine(RowWiseFold &fold, LaneWords words, const Counter &counter);

  /// The Counter of the words that fold() returns.
  Value count(int64_t slots, Value j);

  /// Emits `body` for the first `count` threads of the row group only.
  void byFirstThreads(int64_t count, llvm::function_ref<void()> body);

  /// Adds the results of all reductions to those of the program.
  void reduceAll();

  /// Adds the results of the only reduction to those of `own`, which has
  /// entered row `thread % n` of the n rows that share loads.
  void reduceShared(RowWiseProgram &own);

private:
  int64_t getStep() const { return threads * splits; }
  int64_t getIterations() const;
  bool isKept() const;
  Value getNumber(Value iteration);
  RowWiseBlock getBlock(int64_t iteration);
  Values visitIterations(int64_t first, int64_t end, mlir::Region &region,
                         Values carried, Visitor visit);
  llvm::SmallVector<Lanes> getPivots(size_t reduction);
  Value toFloat(Value count);
  Value getShared(mlir::Type type, size_t word);
  Values getSharedIndices(Value slot);
  LaneWords combineRound(RowWiseFold &fold, const LaneWords &words,
                         int64_t slots, int64_t fanIn, const Counter &counter);

  RowWiseProgram &program;
  PointBuilder &p;
  const int64_t threads, groups;
  const Value thread, group;
  /// With n threads, the row group takes n blocks and skips those of the other
  /// splits; null if rows are not split.
  const int64_t splits = 1;
  const Value split;
  const int64_t blocksAtOnce = RowWiseTile().getBlocksAtOnce();
  std::map<int64_t, RowWiseBlock> kept; ///< Blocks in registers, by iteration.
  /// Shared memory by type, word of a fold, and buffer. Double buffering saves
  /// a barrier: one buffer is written while slower threads still read the
  /// other.
  std::map<std::tuple<void *, size_t, bool>, Value> buffers;
  bool usesSecondBuffer = false;
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_ROWWISE_ROWGROUP_H
