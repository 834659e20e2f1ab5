//===- PlanKernel.cpp - Write what the lowering decides by itself ---------===//
//
// The plans that dnn-expand-pipeline makes are made here, and what they decided
// is written to the knobs of their pipelines. A knob that is set to that is the
// same plan, so that nothing else changes.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Common/KernelFunction.h"
#include "compiler/Conversion/Hopper/HopperPlan.h"
#include "compiler/Conversion/Passes.h"
#include "compiler/Conversion/Workgroup/WaveChoices.h"
#include "dialect/IR/PlanKnobs.h"

namespace tessera {
#define GEN_PASS_DEF_PLANKERNEL
#include "compiler/Conversion/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

/// The plan of a kernel that TMA copies for, as knobs.
static FailureOr<dnn::PlanKnobs> planTma(TileProgram &program,
                                         const GpuTarget &target) {
  FailureOr<HopperPlan> plan = makeHopperPlan(program, target);
  if (failed(plan))
    return failure();
  const HopperShape &shape = plan->shape;
  // Pixels that all taps share are an operand of their own.
  const bool isStreamedA =
      plan->halo ? plan->halo->isStreamed() : plan->a.isStreamed();
  dnn::PlanKnobs knobs;
  knobs.set(dnn::Knob::Staging, shape.stagers);
  knobs.set(dnn::Knob::Resident, shape.blocksPerSm);
  // Threads of one role have what a launch gives to all of them.
  if (!shape.copiesFirst) {
    knobs.set(dnn::Knob::Producer, shape.getProducerRegisters());
    knobs.set(dnn::Knob::Consumer, shape.getConsumerRegisters());
  }
  knobs.set(dnn::Knob::Order, plan->hasRowsFirst ? 1 : 0);
  knobs.set(dnn::Knob::Overlap, plan->overlap);
  knobs.set(dnn::Knob::Hint,
            (isStreamedA ? 1 : 0) + (plan->b.isStreamed() ? 2 : 0));
  knobs.set(dnn::Knob::Walk, plan->walksBothWays ? 1 : 0);
  knobs.set(dnn::Knob::Copies, shape.copiesFirst ? 1 : 0);
  knobs.set(dnn::Knob::Rest, plan->lastShares > 0 ? 1 : 0);
  return knobs;
}

namespace {
struct PlanKernel : tessera::impl::PlanKernelBase<PlanKernel> {
  using Base::Base;

  static LogicalResult plan(func::FuncOp function, dnn::PipelineOp pipeline,
                            const GpuTarget &target) {
    TileProgram program;
    if (failed(matchTileProgram(function, target, program)))
      return failure();
    if (program.isAmpere())
      return success();
    FailureOr<dnn::PlanKnobs> knobs = failure();
    if (program.isTma())
      knobs = planTma(program, target);
    else if (FailureOr<WaveChoices> choices = chooseWaves(program, target);
             succeeded(choices))
      knobs = choices->toKnobs(program, target);
    if (failed(knobs))
      return failure();
    pipeline.setKnobs(knobs->getValues());
    return success();
  }

  void runOnOperation() override {
    const GpuTarget *target = getModuleTarget(getOperation());
    if (!target)
      return signalPassFailure();
    WalkResult result = getOperation().walk([&](func::FuncOp function) {
      dnn::PipelineOp pipeline;
      function.walk([&](dnn::PipelineOp op) { pipeline = op; });
      return pipeline && failed(plan(function, pipeline, *target))
                 ? WalkResult::interrupt()
                 : WalkResult::skip();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
