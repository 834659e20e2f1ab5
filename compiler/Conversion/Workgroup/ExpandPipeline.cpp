//===- ExpandPipeline.cpp - From pipelines to programs of workgroups ------===//

#include "compiler/Conversion/Common/KernelFunction.h"
#include "compiler/Conversion/Passes.h"
#include "compiler/Conversion/Workgroup/CellProgram.h"
#include "compiler/Conversion/Workgroup/ProgramWriter.h"
#include "compiler/Conversion/Workgroup/WaveProgram.h"

namespace tessera {
#define GEN_PASS_DEF_EXPANDPIPELINE
#include "compiler/Conversion/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {
struct ExpandPipeline : tessera::impl::ExpandPipelineBase<ExpandPipeline> {
  using Base::Base;

  LogicalResult expandTma(TileProgram &program, const DeviceOps &device) {
    FailureOr<HopperPlan> plan = makeHopperPlan(program, device.getTarget());
    if (failed(plan))
      return failure();
    const HopperShape &shape = plan->shape;
    OpBuilder b(program.tiles);
    IntegerAttr cluster = shape.getClusterSize() == 1
                              ? IntegerAttr()
                              : b.getI64IntegerAttr(shape.getClusterSize());
    auto frame = wg::ProgramOp::create(
        b, program.tiles.getLoc(), b.getI64IntegerAttr(plan->workgroups),
        program.hasUnknownSizes()
            ? b.getStringAttr(plan->tiles.toExpr().toText())
            : StringAttr(),
        b.getI64IntegerAttr(shape.blocksPerSm), cluster, DenseI64ArrayAttr());
    const Location loc = frame.getLoc();
    Block *body = b.createBlock(&frame.getBody(), {},
                                {b.getI32Type(), b.getI32Type()}, {loc, loc});
    const ProgramWriter::Context context{
        program, *plan, body->getArgument(0), body->getArgument(1), b, device};
    (plan->halo      ? makeHaloProgram(context)
     : plan->sliding ? makeSlidingProgram(context)
                     : makePairProgram(context))
        ->emit();
    program.tiles.erase();
    return success();
  }

  LogicalResult expand(func::FuncOp function, dnn::PipelineOp pipeline,
                       const DeviceOps &device) {
    TileProgram program;
    if (failed(matchTileProgram(function, device.getTarget(), program)))
      return failure();
    if (program.isTma())
      return expandTma(program, device);
    if (program.isAmpere())
      return writeCellProgram(program, device);
    return writeWaveProgram(program, device);
  }

  void runOnOperation() override {
    const GpuTarget *target = getModuleTarget(getOperation());
    if (!target)
      return signalPassFailure();
    std::unique_ptr<DeviceOps> device = createDeviceOps(*target);
    WalkResult result = getOperation().walk([&](func::FuncOp function) {
      dnn::PipelineOp pipeline;
      function.walk([&](dnn::PipelineOp op) { pipeline = op; });
      return pipeline && failed(expand(function, pipeline, *device))
                 ? WalkResult::interrupt()
                 : WalkResult::skip();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
