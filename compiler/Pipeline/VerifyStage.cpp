//===- VerifyStage.cpp - Check that a module is at the expected stage -----===//

#include "compiler/Pipeline/Passes.h"
#include "compiler/Pipeline/Stage.h"
#include "compiler/Target/Codegen/Codegen.h"
#include "dialect/IR/Dnn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tessera {
#define GEN_PASS_DEF_VERIFYSTAGE
#include "compiler/Pipeline/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using tessera::Stage;

/// The dialects of a stage; Passes.td documents the same table.
static ArrayRef<StringRef> getDialects(Stage stage) {
  static constexpr StringRef kDnn[] = {"builtin", "dnn", "func"};
  static constexpr StringRef kTiled[] = {"builtin", "dnn",    "func",  "arith",
                                         "math",    "memref", "nvgpu", "scf",
                                         "vector",  "amdgpu"};
  static constexpr StringRef kWorkgroup[] = {
      "builtin", "dnn", "func",   "arith",  "math", "memref",
      "nvgpu",   "scf", "vector", "amdgpu", "wg"};
  static constexpr StringRef kGpu[] = {"builtin", "gpu",    "amdgpu", "rocdl",
                                       "nvvm",    "arith",  "math",   "memref",
                                       "scf",     "vector", "llvm"};
  switch (stage) {
  case Stage::Dnn:
    return kDnn;
  case Stage::Tiled:
    return kTiled;
  case Stage::Workgroup:
    return kWorkgroup;
  case Stage::Gpu:
    return kGpu;
  default:
    return {};
  }
}

/// Whether `op` is in a region of a primitive, such as an epilogue.
static bool isInPrimitive(Operation *op) {
  Operation *parent = op->getParentOp();
  return parent && parent->hasTrait<tessera::dnn::Primitive>();
}

static bool isAllowed(Operation *op, Stage stage) {
  StringRef dialect = op->getName().getDialectNamespace();
  if (stage == Stage::Dnn && isInPrimitive(op))
    return isa<tessera::dnn::YieldOp, tessera::dnn::RowIndexOp,
               tessera::dnn::ElementIndexOp>(op) ||
           dialect == "arith" || dialect == "math";
  // Scalar arguments are f64 and are truncated to a primitive's compute type.
  if (stage == Stage::Dnn && isa<arith::TruncFOp>(op))
    return true;
  if ((stage == Stage::Tiled || stage == Stage::Workgroup) &&
      isa<gpu::BarrierOp, gpu::ShuffleOp>(op))
    return true;
  const bool isOfProblem =
      op->hasTrait<tessera::dnn::Primitive>() ||
      isa<tessera::dnn::StatisticsOp, tessera::dnn::NormGradientOp>(op);
  if (dialect == "dnn")
    return stage != Stage::Gpu && isOfProblem == (stage == Stage::Dnn);
  return llvm::is_contained(getDialects(stage), dialect);
}

/// Checks that the module names its chip, as it must from stage `tiled` on.
static LogicalResult checkTarget(ModuleOp module, Stage stage) {
  if (stage == Stage::Dnn ||
      module->getAttrOfType<StringAttr>(tessera::dnn::kTargetAttrName))
    return success();
  return module.emitError("stage ")
         << getName(stage) << " needs the string attribute '"
         << tessera::dnn::kTargetAttrName << "' on the module";
}

/// Checks that a kernel has the sizes from which its launch is read.
static LogicalResult checkLaunch(gpu::GPUFuncOp kernel) {
  auto isKnown = [](std::optional<ArrayRef<int32_t>> size) {
    return size && size->size() == 3;
  };
  const bool hasGrid =
      isKnown(kernel.getKnownGridSize()) ||
      kernel->hasAttrOfType<StringAttr>(tessera::dnn::kWorkgroupsAttrName);
  if (!kernel.isKernel() || (isKnown(kernel.getKnownBlockSize()) && hasGrid))
    return success();
  return kernel.emitOpError(
      "needs known_block_size and known_grid_size to be launched");
}

/// Checks a kernel that is said to have nothing which rewriting would drop.
static LogicalResult checkSimplified(gpu::GPUFuncOp kernel) {
  if (!kernel->hasAttr(tessera::kSimplifiedAttrName))
    return success();
  return failure(kernel
                     .walk([](Operation *op) -> WalkResult {
                       if (op->getNumResults() == 0 || !isOpTriviallyDead(op))
                         return WalkResult::advance();
                       return op->emitOpError("is unused, but its kernel has "
                                              "the attribute '")
                              << tessera::kSimplifiedAttrName << "'";
                     })
                     .wasInterrupted());
}

namespace {
struct VerifyStage : tessera::impl::VerifyStageBase<VerifyStage> {
  using Base::Base;

  void runOnOperation() override {
    std::optional<Stage> wanted = tessera::parseStage(stage);
    if (!wanted || getDialects(*wanted).empty()) {
      emitError(getOperation().getLoc())
          << getArgument()
          << ": 'stage' must be dnn, tiled, workgroup or gpu, not '" << stage
          << "'";
      return signalPassFailure();
    }
    WalkResult result = getOperation().walk([&](Operation *op) {
      if (!isAllowed(op, *wanted)) {
        op->emitOpError("does not belong to stage ") << stage;
        return WalkResult::interrupt();
      }
      auto kernel = dyn_cast<gpu::GPUFuncOp>(op);
      return WalkResult(
          success(!kernel || (succeeded(checkLaunch(kernel)) &&
                              succeeded(checkSimplified(kernel)))));
    });
    if (result.wasInterrupted() || failed(checkTarget(getOperation(), *wanted)))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
