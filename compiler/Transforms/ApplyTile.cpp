//===- ApplyTile.cpp - Turn primitives into tiled programs ----------------===//

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Common/NormGradient.h"
#include "compiler/Algorithms/Common/Statistics.h"
#include "compiler/Transforms/Passes.h"
#include "dialect/IR/Dnn.h"
#include "dialect/IR/PlanKnobs.h"
#include "dialect/IR/PointHints.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace tessera {
#define GEN_PASS_DEF_APPLYTILE
#include "compiler/Transforms/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

/// Writes the knobs of a tile's text to the pipelines that were made of it.
static LogicalResult setKnobs(ModuleOp module, const dnn::PlanKnobs &knobs) {
  if (knobs.isEmpty())
    return success();
  bool hasPipeline = false;
  module.walk([&](dnn::PipelineOp pipeline) {
    pipeline.setKnobs(knobs.getValues());
    hasPipeline = true;
  });
  return hasPipeline ? success()
                     : module.emitError()
                           << "'" << knobs.toText() << "' sets knobs of a "
                           << "pipeline, which this tile has not";
}

namespace {
struct ApplyTile : tessera::impl::ApplyTileBase<ApplyTile> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto refuse = [&](const Twine &message) {
      module.emitError() << getArgument() << ": " << message;
      signalPassFailure();
    };
    const GpuTarget *chip = findTarget(target);
    if (!chip)
      return refuse("unknown target '" + target + "', expected one of " +
                    StringRef(getTargetNames()));
    const auto [text, ofKnobs] = dnn::splitKnobs(tile);
    ErrorOr<TileConfig> config = parseTileConfig(text.str());
    if (!config)
      return refuse(config.getStatus().getMessage());
    FailureOr<dnn::PlanKnobs> knobs = dnn::parsePlanKnobs(
        ofKnobs, [&] { return module.emitError() << getArgument() << ": "; });
    if (failed(knobs))
      return signalPassFailure();
    const Algorithm *algorithm = findAlgorithm(*config);
    if (!algorithm)
      return refuse("no algorithm is called '" + config->algorithm + "'");
    if (module->hasAttr(dnn::kUnalignedAttrName) &&
        !algorithm->takesUnaligned())
      return refuse("'" + config->algorithm +
                    "' needs aligned tensors, but those of a module with '" +
                    dnn::kUnalignedAttrName + "' begin anywhere");
    module->setAttr(dnn::kTargetAttrName,
                    StringAttr::get(&getContext(), target));
    SmallVector<Operation *> primitives;
    module.walk([&](Operation *op) {
      if (op->hasTrait<dnn::Primitive>())
        primitives.push_back(op);
    });
    for (Operation *primitive : primitives) {
      const std::optional<ChannelResult> statistics = takeStatistics(primitive);
      const std::optional<NormGradientRequest> gradient =
          takeNormGradient(primitive);
      if (failed(algorithm->build(primitive, *config, *chip)))
        return signalPassFailure();
      if (statistics)
        buildStatistics(module, *statistics);
      if (gradient)
        buildNormGradient(module, *gradient);
    }
    if (failed(setKnobs(module, *knobs)))
      return signalPassFailure();
  }
};
} // namespace
