//===- dnn-opt.cpp - Runs our passes on IR in text form -------------------===//
//
// What mlir-opt is to MLIR. Tests and people look at every stage of the
// compiler through it. With --problem or --start-from it runs the whole
// pipeline instead (AheadOfTime.cpp), with --aot for a list of problems
// (PackageCommand.cpp).
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Passes.h"
#include "compiler/Pipeline/Passes.h"
#include "compiler/Target/AMDGPU/AmdgpuTarget.h"
#include "compiler/Transforms/Passes.h"
#include "dialect/IR/Dnn.h"
#include "tools/dnn-opt/AheadOfTime.h"
#include "tools/dnn-opt/PackageCommand.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

namespace {
struct LoweringOptions : mlir::PassPipelineOptions<LoweringOptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("Chip, as LLVM's -mcpu spells it"),
                             llvm::cl::init("gfx942")};
};
} // namespace

/// The pipeline's own step from stage gpu to the llvm dialect, whose result
/// has a text in no stage.
static void registerLowering() {
  static mlir::PassPipelineRegistration<LoweringOptions> lowering(
      "dnn-lower-to-llvm", "Lower stage gpu to the llvm and rocdl dialects",
      [](mlir::OpPassManager &passes, const LoweringOptions &options) {
        if (const tessera::GpuTarget *target =
                tessera::findTarget(options.target))
          tessera::addLowerToLlvmPasses(passes, *target);
      });
}

int main(int argc, char **argv) {
  if (tessera::isPackageCommand(argc, argv))
    return tessera::runPackageCommand(argc, argv);
  if (tessera::isAheadOfTime(argc, argv))
    return tessera::runAheadOfTime(argc, argv);

  mlir::DialectRegistry registry;
  registry.insert<tessera::dnn::DnnDialect, mlir::func::FuncDialect>();
  tessera::registerTargetDialects(registry);
  mlir::registerTransformsPasses();
  tessera::registerTransformsPasses();
  tessera::registerConversionPasses();
  tessera::registerPipelinePasses();
  registerLowering();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Tessera optimiser driver\n", registry));
}
