//===- RowWiseFold.h - The arithmetic of one kind of reduction -*- C++ -*--===//
//
// A thread folds elements into words, its partial result, which start neutral;
// then the words of several threads are combined, always in the same order, so
// that every run gives the same bits. Most kinds fold and combine the same
// words. Moments differ: they are folded as sums of differences from a pivot,
// an element of the thread, which costs no division, and combined as means and
// sums of squares by Chan's formula.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_ROWWISE_ROWWISEFOLD_H
#define TESSERA_COMPILER_ALGORITHMS_ROWWISE_ROWWISEFOLD_H

#include "compiler/Algorithms/Common/PointBuilder.h"

namespace tessera {

class RowWiseFold {
public:
  using Value = mlir::Value;
  using Words = llvm::SmallVector<mlir::Value, 2>;

  /// A reduction of values of `type`.
  RowWiseFold(PointBuilder &p, dnn::ReduceKind kind, mlir::Type type)
      : p(p), kind(kind), type(type) {}

  /// The types of the words, which are also those of the results.
  llvm::SmallVector<mlir::Type, 2> getTypes();
  bool hasPivot() const { return kind == dnn::ReduceKind::Moments; }
  bool hasIndex() const {
    return kind == dnn::ReduceKind::ArgMax || kind == dnn::ReduceKind::ArgMin;
  }

  /// The words of no values.
  Words start();
  /// Adds `value`, which is element `index` of the row (an i32, used only if
  /// hasIndex()), unless `valid` is false; null means true.
  Words fold(const Words &words, Value value, Value index, Value pivot,
             Value valid);
  /// Converts folded words to those that combine() takes. `count`, in the
  /// compute type, is the number of values that the thread has folded.
  Words finish(const Words &words, Value pivot, Value count);
  /// Combines partial results in their order. If hasPivot(), `counts` are the
  /// numbers of values of each.
  Words combine(mlir::ArrayRef<Words> partials, mlir::ArrayRef<Value> counts);

private:
  Value constant(double value);
  Value getNeutral();
  Value atLeastOne(Value count);
  Value combinePair(Value lhs, Value rhs);
  Words combineWithIndex(const Words &lhs, const Words &rhs);
  Words combineMoments(mlir::ArrayRef<Words> partials,
                       mlir::ArrayRef<Value> counts);
  bool isMax() const;

  PointBuilder &p;
  dnn::ReduceKind kind;
  mlir::Type type;
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_ROWWISE_ROWWISEFOLD_H
