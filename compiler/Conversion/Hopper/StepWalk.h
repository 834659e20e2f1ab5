//===- StepWalk.h - The steps of a tile's reduction ------------*- C++ -*--===//
//
// A reduction is filter taps and, innermost, channels. Of strided backward data
// a tile's group says which taps exist (docs/design/0003-problem-space.md): the
// others are outside of the filter for all of the tile, so that they are not
// worth a step. Producer and consumers find alike how many are left.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_STEPWALK_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_STEPWALK_H

#include "compiler/Conversion/Common/Emitter.h"
#include "dialect/IR/Dnn.h"

namespace tessera {

class StepWalk {
public:
  /// Of the two loads of a step, whose reduction has `steps` of them; of an
  /// unknown number groups do not differ in their taps.
  StepWalk(dnn::TileLoadOp a, dnn::TileLoadOp b, OpenNumber steps);

  /// Whether groups differ in their taps.
  bool hasLimits() const { return !limits.empty(); }
  /// Whether the tiles of some group have no step at all.
  bool canBeEmpty() const;
  /// Whether the last group has more steps than the first.
  bool growsWithGroup() const;

  /// The steps of a tile of `group`.
  mlir::Value countSteps(Emitter &e, mlir::Value group) const;

  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::Value step, mlir::ValueRange carried)>;
  /// Loops over the steps of a tile of `group`, each by its number in the whole
  /// reduction; returns what the body carries in the end.
  llvm::SmallVector<mlir::Value> forEachStep(Emitter &e, mlir::Value group,
                                             mlir::ValueRange carried,
                                             Body body) const;

private:
  /// Taps of dimension `dim` exist where constant + groups + factor * tap is
  /// in [0, size).
  struct Limit {
    unsigned dim;
    int64_t size;
    int64_t constant;
    int64_t factor;
    llvm::SmallVector<int64_t> groupFactors;
  };
  struct Range {
    mlir::Value first, count;
  };

  void addLimits(dnn::ViewOp view);
  const Limit *findLimit(unsigned dim) const;
  int64_t countSteps(int64_t group) const;
  int64_t getGroups() const;
  Range getRange(Emitter &e, unsigned dim, mlir::Value group) const;
  /// Steps from one position of a dimension to the next.
  int64_t getWeight(unsigned dim) const;
  llvm::SmallVector<mlir::Value> emitLoop(Emitter &e, unsigned dim,
                                          mlir::Value group, mlir::Value base,
                                          mlir::ValueRange carried,
                                          Body body) const;

  OpenNumber steps;
  llvm::SmallVector<int64_t> groups; ///< Sizes of the group's dimensions.
  llvm::SmallVector<int64_t> sizes;  ///< Of the reduction's; the last in steps.
  llvm::SmallVector<Limit> limits;   ///< At most one of each dimension.
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_STEPWALK_H
