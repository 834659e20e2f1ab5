//===- MainLoop.h - The software pipeline over the reduction ---*- C++ -*--===//
//
// Several LDS buffers, the loop unrolled over them so that every buffer address
// is a constant; the first fragments of a step are read behind the barrier of
// the step before. There is no peeled last step: the loads run ahead past the
// end, out of range. Two ways to copy:
//
// - through registers: two buffers; loads run two steps ahead of the
//   arithmetic, and each step writes what was loaded a step before;
// - directly to LDS: a step's buffer is filled again behind the barrier that
//   ends the step, so loads run as many steps ahead as there are buffers.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COOPERATIVE_MAINLOOP_H
#define TESSERA_COMPILER_CONVERSION_COOPERATIVE_MAINLOOP_H

#include "compiler/Conversion/Cooperative/StepBody.h"
#include "compiler/Conversion/Cooperative/TileCopy.h"

namespace tessera {

/// LDS buffers of the two factors.
struct LdsBuffers {
  llvm::SmallVector<mlir::Value> m;
  llvm::SmallVector<mlir::Value> n;
};

class MainLoop {
public:
  /// `pinned`: fix the order of memory operations around the matrix
  /// instructions and place the waits, instead of leaving both to LLVM.
  /// `first`: where the walk begins, in bytes; null for its begin.
  MainLoop(Emitter &e, TileCopy &copyM, TileCopy &copyN, TileMma &mma,
           const ReductionWalk &walk, int64_t stepBytes, LdsBuffers buffers,
           bool pinned, mlir::Value first = {})
      : e(e), copyM(copyM), copyN(copyN), mma(mma), walk(walk),
        stepBytes(stepBytes), buffers(std::move(buffers)), pinned(pinned),
        first(first), body(e, mma, pinned) {}

  /// Emits the loop; returns the accumulators, that of fragments (i of m, j of
  /// n) at index j * fragments of m + i.
  llvm::SmallVector<mlir::Value> emit();

  using Values = llvm::SmallVector<mlir::Value>;

  /// Of workgroups that take tiles in turn, by direct copies and a nested walk:
  /// brings the first turn on its way, and returns the first fragments.
  Values emitFirstTurn();
  /// Multiplies a tile whose first turn is on its way, with its first
  /// `fragments`; `makeNext` makes the loop of the next one, whose first turn
  /// is on its way then. Returns the accumulators, and the next fragments.
  Values emitTile(Values &fragments, llvm::function_ref<MainLoop()> makeNext);

private:
  /// What goes from one step to the next.
  struct State {
    Values accumulators;
    /// The loaded pieces of the next step, of m's passes, then of n's.
    llvm::SmallVector<Values> staged;
    /// Fragments of the first chunk: of m, then of n.
    Values fragments;

    Values flatten() const;
    void unflatten(mlir::ValueRange values);
  };

  State emitPrologue();
  void stageFirstSteps(State &state);
  void fillBuffers();
  llvm::SmallVector<Values> loadStep(mlir::Value position, unsigned buffer);
  void emitStep(State &state, unsigned current, mlir::Value position);
  State emitNestedLoop(State state, int64_t taps);
  State emitFlatLoop(State state);
  mlir::Value enterStep(mlir::Value position);
  /// `position` of a walk that begins at 0.
  mlir::Value addFirst(mlir::Value position) {
    return first ? e.add(first, position) : position;
  }
  State emitInnerLoop(State state, mlir::Value from, mlir::Value to);

  StepBody::Actions makeCopies(const State &state,
                               llvm::SmallVector<Values> &loaded, unsigned next,
                               mlir::Value position);
  StepBody::Actions makeRefills(unsigned current, mlir::Value position);
  void emitBarrier(int64_t stepsInFlight);

  /// Steps of a turn of the loop, by which the loads run ahead.
  int64_t getSteps() const { return buffers.m.size(); }
  bool isDirect() const { return copyM.getWriteParts() == 0; }
  unsigned getPasses() const { return copyM.getPasses() + copyN.getPasses(); }
  /// The side and its own pass for pass `index` of both.
  std::pair<TileCopy &, unsigned> getPass(unsigned index);
  /// LDS buffer `buffer` of the side of pass `index`.
  mlir::Value getBuffer(unsigned index, unsigned buffer) const {
    return index < copyM.getPasses() ? buffers.m[buffer] : buffers.n[buffer];
  }
  mlir::Value readFragment(int64_t index, int64_t chunk, unsigned buffer);

  Emitter &e;
  TileCopy &copyM;
  TileCopy &copyN;
  TileMma &mma;
  ReductionWalk walk;
  int64_t stepBytes;
  LdsBuffers buffers;
  bool pinned;
  mlir::Value first;
  StepBody body;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_MAINLOOP_H
