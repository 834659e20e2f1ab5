//===- TmaRing.h - The stages between producer and consumers ---*- C++ -*--===//
//
// A stage has two barriers: `full` counts the bytes that the copies bring,
// `empty` the consumers that have read them. Where B is changed in between,
// a third, `ready`, counts the warps that have done it. Whoever walks the ring
// keeps the stage it is at and the parity of its round.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_TMARING_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_TMARING_H

#include "compiler/Conversion/Hopper/HopperShape.h"
#include "compiler/Conversion/Nvidia/SharedMemory.h"

namespace tessera {

/// A place in the ring.
struct RingPlace {
  mlir::Value stage;
  mlir::Value parity;
};

class TmaRing {
public:
  /// Its barriers are `barrierOffset` bytes behind `sharedPointer`; so many
  /// consumers read each stage, behind so many warps that change it; none
  /// release stages that are filled once.
  TmaRing(Emitter &e, mlir::Value sharedPointer, int64_t barrierOffset,
          int64_t stages, int64_t readers, int64_t preparers = 0)
      : e(e), shared(sharedPointer), barrierOffset(barrierOffset),
        stages(stages), readers(readers), preparers(preparers) {}

  /// For one thread, before anybody else looks.
  void initialize();

  mlir::Value getFull(mlir::Value stage) { return getBarrier(stage, 0); }
  mlir::Value getEmpty(mlir::Value stage) { return getBarrier(stage, 1); }
  mlir::Value getReady(mlir::Value stage) { return getBarrier(stage, 2); }

  /// Waits for the round of `parity` of a barrier to end.
  void wait(mlir::Value barrier, mlir::Value parity);
  /// Waits until a stage has been read.
  void awaitEmpty(const RingPlace &place) {
    wait(getEmpty(place.stage), place.parity);
  }
  /// Waits until a stage has been read, and has its barrier count `bytes` that
  /// are about to come. The barrier.
  mlir::Value claim(const RingPlace &place, mlir::Value bytes);
  RingPlace advance(const RingPlace &place);
  /// `steps` later.
  RingPlace advance(const RingPlace &place, mlir::Value steps);

private:
  RingPlace wrap(mlir::Value stage, mlir::Value parity);
  mlir::Value getBarrier(mlir::Value stage, int64_t which);

  Emitter &e;
  mlir::Value shared;
  int64_t barrierOffset, stages, readers, preparers;
};

/// Calls `body` with the numbers from 0 to `count` and the stages of `ring`
/// from `begin` on; returns the place behind.
RingPlace
forEachStage(Emitter &e, TmaRing &ring, mlir::Value count,
             const RingPlace &begin,
             llvm::function_ref<void(mlir::Value, const RingPlace &)> body);

/// One thread tells for its warpgroup that a stage of `ring` has been read; if
/// it is copied by workgroups of a cluster, one thread for each of these.
void emitRelease(Emitter &e, mlir::Value thread, TmaRing &ring,
                 mlir::Value stage, int64_t copiers = 1);
/// An arrival at `barrier`.
void emitArrival(Emitter &e, mlir::Value barrier);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_TMARING_H
