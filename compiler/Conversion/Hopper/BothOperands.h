//===- BothOperands.h - Steps that bring both operands ---------*- C++ -*--===//

#ifndef TESSERA_COMPILER_CONVERSION_HOPPER_BOTHOPERANDS_H
#define TESSERA_COMPILER_CONVERSION_HOPPER_BOTHOPERANDS_H

#include "compiler/Conversion/Hopper/StepFeed.h"

namespace tessera {

class BothOperands : public StepFeed {
public:
  explicit BothOperands(const Context &context)
      : context(context), e(context.e), plan(context.plan), shape(plan.shape),
        ring(e, context.shared, shape.getOffsetBarriers(), shape.stages,
             shape.countReaders() * shape.countSharers(),
             shape.preparesB ? HopperShape::kPreparers : 0) {}

  void initialize() override { ring.initialize(); }
  unsigned countCopiers() const override { return 1; }
  bool isOneCopy(unsigned) const override { return false; }
  RingPlace copyTile(unsigned copier, const ResultTile &tile,
                     const RingPlace &begin) override;
  void finishCopies(const RingPlace &end) override;
  Place getBegin() override { return {e.constant(0), e.constant(0)}; }
  llvm::SmallVector<mlir::Value>
  multiply(Wgmma &wgmma, mlir::Value group, Place &place,
           llvm::function_ref<void()> onIssued) override;
  Place skipTile(const Place &place, mlir::Value group) override;

protected:
  /// The steps that the workgroup has of a tile of `group`, and the number of
  /// the first in the whole reduction.
  mlir::Value countSteps(mlir::Value group);
  mlir::Value getFirstStep(mlir::Value group);
  Wgmma::Place locate(mlir::Value stage) {
    return {e.mul(stage, shape.getBytesA()), e.mul(stage, shape.getBytesB())};
  }
  /// The sums of `steps` steps from `place` on, at least one.
  virtual llvm::SmallVector<mlir::Value>
  emitSteps(Wgmma &wgmma, mlir::Value steps, RingPlace &place,
            llvm::function_ref<void()> onIssued);
  llvm::SmallVector<mlir::Value> emitLoop(Wgmma &wgmma, mlir::Value first,
                                          mlir::Value last,
                                          std::optional<Wgmma::Shares> shares,
                                          llvm::ArrayRef<mlir::Value> state);
  llvm::SmallVector<mlir::Value>
  emitPromoted(Wgmma &wgmma, mlir::Value steps, RingPlace &place,
               llvm::function_ref<void()> onIssued);

  Context context;
  Emitter &e;
  const HopperPlan &plan;
  const HopperShape &shape;
  TmaRing ring;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_HOPPER_BOTHOPERANDS_H
