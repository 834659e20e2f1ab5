//===- RowsFold.h - The arithmetic of one kind of reduction ----*- C++ -*-===//
//
// A thread folds elements into words that start neutral; then words of several
// threads are combined, always in the same order, so that every run gives the
// same bits. For most kinds the words are the same at both times. Moments are
// folded as sums of differences from a pivot, an element of the thread, which
// costs no division, and combined as means and sums of squares by Chan's
// formula.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_ROWSFOLD_H
#define TESSERA_COMPILER_ALGORITHMS_ROWSFOLD_H

#include "compiler/Algorithms/Common/PointBuilder.h"

namespace tessera {

class RowsFold {
public:
  using Value = mlir::Value;
  using Words = llvm::SmallVector<mlir::Value, 2>;

  /// Of values of `type`.
  RowsFold(PointBuilder &p, dnn::ReduceKind kind, mlir::Type type)
      : p(p), kind(kind), type(type) {}

  /// Of the words, and of the results.
  llvm::SmallVector<mlir::Type, 2> getTypes();
  bool hasPivot() const { return kind == dnn::ReduceKind::Moments; }
  bool hasPlace() const {
    return kind == dnn::ReduceKind::ArgMax || kind == dnn::ReduceKind::ArgMin;
  }

  Words start();
  /// Adds `value`, element `place` of the row (an i32 where hasPlace()), unless
  /// `valid` is false; null means true.
  Words fold(const Words &words, Value value, Value place, Value pivot,
             Value valid);
  /// What a thread that has folded `count` values, of the compute type, hands
  /// to others.
  Words finish(const Words &words, Value pivot, Value count);
  /// All into one, in their order; `counts` of values behind each, where
  /// hasPivot().
  Words combine(mlir::ArrayRef<Words> parts, mlir::ArrayRef<Value> counts);

private:
  Value constant(double value);
  Value getNeutral();
  Value atLeastOne(Value count);
  Value combinePair(Value lhs, Value rhs);
  Words combinePlaces(const Words &lhs, const Words &rhs);
  Words combineMoments(mlir::ArrayRef<Words> parts,
                       mlir::ArrayRef<Value> counts);
  bool isMax() const;

  PointBuilder &p;
  dnn::ReduceKind kind;
  mlir::Type type;
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_ROWSFOLD_H
