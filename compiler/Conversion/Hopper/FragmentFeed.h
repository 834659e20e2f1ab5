//===- FragmentFeed.h - Steps of which B is changed on its way -*- C++ -*--===//
//
// Between the copies and the products of a step the warps that the producer
// leaves free change B where it lies, and consumers load A into registers. So
// f32 is multiplied that wgmma cannot read as it is (PixelFeed.cpp,
// SplitFeed.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_FRAGMENTFEED_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_FRAGMENTFEED_H

#include "compiler/Conversion/Hopper/StepFeed.h"

namespace tessera {

class FragmentFeed : public StepFeed {
public:
  explicit FragmentFeed(const Context &context)
      : context(context), e(context.e), plan(context.plan), shape(plan.shape),
        ring(e, context.shared, shape.getOffsetBarriers(), shape.stages,
             shape.countReaders(), HopperShape::kPreparers) {}

  void initialize() override { ring.initialize(); }
  unsigned countCopiers() const override { return 1; }
  RingPlace copyTile(unsigned copier, const ResultTile &tile,
                     const RingPlace &begin) override;
  bool prepares() const override { return true; }
  RingPlace prepareTile(const ResultTile &tile,
                        const RingPlace &begin) override;
  Place getBegin() override { return {e.constant(0), e.constant(0)}; }
  llvm::SmallVector<mlir::Value> multiply(Wgmma &wgmma, mlir::Value group,
                                          Place &place) override;

protected:
  /// A warp's share of the changes to the B of a stage, `buffer`.
  virtual void prepare(mlir::Value buffer) = 0;
  /// Loads A from the stage at `at`, waits until its B is ready, and issues
  /// the products as one group. The sums.
  virtual llvm::SmallVector<mlir::Value>
  multiplyStage(Wgmma &wgmma, const RingPlace &at,
                llvm::ArrayRef<mlir::Value> sums, bool isFirst) = 0;

  /// The sums of `steps` steps from `place` on, at least one.
  llvm::SmallVector<mlir::Value> emitSteps(Wgmma &wgmma, mlir::Value steps,
                                           RingPlace &place);
  llvm::SmallVector<mlir::Value> emitPromoted(Wgmma &wgmma, mlir::Value steps,
                                              RingPlace &place);

  /// The lane, and the warp's number in its warpgroup.
  mlir::Value getLane() { return e.andi(context.thread, 31); }
  mlir::Value getGroupWarp() {
    return e.andi(context.warp, kWarpgroup / 32 - 1);
  }
  /// The consumer's first row in the tile.
  mlir::Value getFirstRow() { return e.mul(context.consumer, shape.getRows()); }
  mlir::Value getBufferA(mlir::Value stage) {
    return addBytes(e, context.shared, e.mul(stage, shape.getBytesA()));
  }

  Context context;
  Emitter &e;
  const HopperPlan &plan;
  const HopperShape &shape;
  TmaRing ring;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_FRAGMENTFEED_H
