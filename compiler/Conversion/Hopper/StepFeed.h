//===- StepFeed.h - From the copies to the products of a tile --*- C++ -*--===//
//
// The rings of a workgroup, both ends of them: threads that copy walk all
// tiles, ahead of the consumers, which multiply and give stages back. Each row
// of pixels comes once for all taps (makeSlidingFeed); consumers share each
// tile. All other steps are programs of a workgroup
// (compiler/Conversion/Workgroup).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_STEPFEED_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_STEPFEED_H

#include "compiler/Conversion/Hopper/HopperPlan.h"
#include "compiler/Conversion/Hopper/TmaRing.h"
#include "compiler/Conversion/Hopper/WayOut.h"
#include "compiler/Conversion/Hopper/Wgmma.h"

#include <memory>

namespace tessera {

class StepFeed {
public:
  /// What all feeds know; `mapA` and `mapB` point to the tensor maps.
  struct Context {
    Emitter &e;
    const HopperPlan &plan;
    mlir::Value shared; ///< Pointer to the aligned begin of shared memory.
    mlir::Value mapA, mapB;
    mlir::Value thread;
    mlir::Value warp;     ///< Its number; uniform.
    mlir::Value consumer; ///< Its number; counts for consumers only.
    mlir::Value rank;     ///< Of the workgroup in its cluster.
  };
  virtual ~StepFeed() = default;

  /// For one thread, before anybody else looks.
  virtual void initialize() = 0;

  /// Threads that copy, each of a warp of its own.
  virtual unsigned countCopiers() const = 0;
  /// Brings a copier's share of a tile from a place of its ring on; the place
  /// behind it.
  virtual RingPlace copyTile(unsigned copier, const ResultTile &tile,
                             const RingPlace &begin) = 0;

  /// Where a consumer is in the rings: a stage and a parity of each.
  using Place = llvm::SmallVector<mlir::Value>;
  virtual Place getBegin() = 0;
  /// The sums of a tile of `group` from `place` on, which is moved behind it.
  virtual llvm::SmallVector<mlir::Value>
  multiply(Wgmma &wgmma, mlir::Value group, Place &place) = 0;
};

std::unique_ptr<StepFeed> makeSlidingFeed(const StepFeed::Context &context);

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
/// Consumers that issue products in turns: named barrier 1 + n belongs to
/// consumer n. The last one passes the first turn, before it takes any.
void emitTakeTurn(Emitter &e, mlir::Value consumer);
void emitPassTurn(Emitter &e, mlir::Value consumer, int64_t consumers);

/// lhs + rhs, each the accumulators of one product.
mlir::Value addAccumulators(Emitter &e, mlir::Value lhs, mlir::Value rhs);

/// An arrival at `barrier`.
void emitArrival(Emitter &e, mlir::Value barrier);
} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_STEPFEED_H
