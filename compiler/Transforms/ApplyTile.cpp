//===- ApplyTile.cpp - Turn primitives into tiled programs ----------------===//

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Common/NormGradient.h"
#include "compiler/Algorithms/Common/Statistics.h"
#include "compiler/Transforms/Passes.h"
#include "dialect/IR/Dnn.h"
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
    ErrorOr<TileConfig> config = parseTileConfig(std::string(tile));
    if (!config)
      return refuse(config.getStatus().getMessage());
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
  }
};
} // namespace
