//===- StepBody.h - One step of a main loop --------------------*- C++ -*--===//
//
// The products of a step, and what is spread over them: reads of fragments from
// LDS, copies of steps ahead, the barrier behind which the next step's first
// fragments are read. Which buffers those are is the loop's business.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COOPERATIVE_STEPBODY_H
#define TESSERA_COMPILER_CONVERSION_COOPERATIVE_STEPBODY_H

#include "compiler/Conversion/Cooperative/TileMma.h"

#include <functional>
#include <vector>

namespace tessera {

class StepBody {
public:
  using Values = llvm::SmallVector<mlir::Value>;

  enum class Kind { Multiply, LdsRead, LdsWrite, GlobalLoad, Other };
  struct Action {
    Kind kind;
    std::function<void()> emit;
  };
  using Actions = std::vector<Action>;

  /// What a loop brings to a step.
  struct Parts {
    /// Reads fragment `index` (those of m first, then those of n) of part
    /// `chunk` of this step; and of the first part of the next one.
    std::function<mlir::Value(int64_t index, int64_t chunk)> read;
    std::function<mlir::Value(int64_t index)> readNext;
    /// Behind it, the next step is in LDS, and nobody reads this one any more.
    std::function<void()> emitBarrier;
    Actions copies;  ///< Anywhere in the step.
    Actions refills; ///< Behind the barrier.
  };

  /// `pinned`: fix the order of memory operations around the matrix
  /// instructions and place the waits, instead of leaving both to LLVM.
  StepBody(Emitter &e, TileMma &mma, bool pinned)
      : e(e), mma(mma), pinned(pinned) {}

  /// Adds the step's products to `accumulators` (that of fragments (i of m, j
  /// of n) is at j * fragments of m + i). `first` are the fragments of its
  /// first part; returns those of the next step's.
  Values emit(Values &accumulators, Values first, Parts splits);

  int64_t getFragments() const { return mma.getM().count + mma.getN().count; }

private:
  Actions makeMultiplies(Values &accumulators,
                         llvm::SmallVector<Values> &fragments);
  Actions makeReads(llvm::SmallVector<Values> &fragments, const Parts &splits);
  Actions makeTail(Values &fragments, const Parts &splits);
  Actions interleave(Actions multiplies, Actions reads, Actions copies,
                     Actions tail, Actions refills);
  void insertWaits(Actions &actions, int64_t multipliesPerChunk);
  Action makeWait(std::optional<int64_t> loads, std::optional<int64_t> lds);

  Emitter &e;
  TileMma &mma;
  bool pinned;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_STEPBODY_H
