//===- dnn-opt.cpp - Runs our passes on IR in text form -------------------===//
//
// dnn-opt is to our dialects what mlir-opt is to MLIR. Tests and people look at
// every stage of the compiler through it. With --problem or --start-from it
// runs the whole pipeline instead (AheadOfTime.cpp), with --aot for a list of
// problems (PackageCommand.cpp).
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Passes.h"
#include "compiler/Pipeline/Passes.h"
#include "compiler/Target/AMDGPU/AmdgpuTarget.h"
#include "compiler/Transforms/Passes.h"
#include "dialect/IR/Dnn.h"
#include "runtime/Base/UnknownTarget.h"
#include "tools/dnn-opt/AheadOfTime.h"
#include "tools/dnn-opt/Crash.h"
#include "tools/dnn-opt/PackageCommand.h"
#include "tools/support/Files.h"
#include "tools/support/Tool.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdio>
#include <unistd.h>

namespace {
struct LoweringOptions : mlir::PassPipelineOptions<LoweringOptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("Chip, as LLVM's -mcpu spells it"),
                             llvm::cl::init("gfx942")};
};
} // namespace

/// Registers the pipeline's own step from stage gpu to the llvm dialect, whose
/// result is the text of no stage.
static void registerLowering() {
  // PassPipelineRegistration cannot refuse a chip, so it is not used.
  mlir::registerPassPipeline(
      "dnn-lower-to-llvm", "Lower stage gpu to the llvm and rocdl dialects",
      [](mlir::OpPassManager &passes, llvm::StringRef text,
         llvm::function_ref<mlir::LogicalResult(const llvm::Twine &)> refuse)
          -> mlir::LogicalResult {
        LoweringOptions options;
        if (mlir::failed(options.parseFromString(text)))
          return mlir::failure();
        const tessera::GpuTarget *target = tessera::findTarget(options.target);
        if (!target)
          return refuse(
              tessera::refuseTarget(options.target.getValue()).getMessage());
        tessera::addLowerToLlvmPasses(passes, *target);
        return mlir::success();
      },
      [](llvm::function_ref<void(const mlir::detail::PassOptions &)> describe) {
        describe(LoweringOptions());
      });
}

/// Like mlir::MlirOptMain() for files, with an output that is complete or
/// absent.
static int runPasses(int argc, char **argv, mlir::DialectRegistry &registry) {
  const auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "Tessera optimiser driver\n", registry);
  const auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(
        mlir::MlirOptMain(argc, argv, input, output, registry));
  if (input == "-" && isatty(STDIN_FILENO))
    std::fputs("dnn-opt: reading standard input\n", stderr);
  std::string error, text;
  std::unique_ptr<llvm::MemoryBuffer> buffer =
      mlir::openInputFile(input, &error);
  if (!buffer) {
    std::fprintf(stderr, "dnn-opt: error: %s\n", error.c_str());
    return 1;
  }
  llvm::raw_string_ostream stream(text);
  const bool isOk = mlir::succeeded(
      mlir::MlirOptMain(stream, std::move(buffer), registry, config));
  // If an input has several parts, stdout has those that succeeded.
  if (!isOk && output != "-")
    return 1;
  const tessera::Status status = tessera::writeOutput(
      output, text,
      config.shouldEmitBytecode() ? tessera::Content::Binary
                                  : tessera::Content::Text);
  if (!status.isOk())
    std::fprintf(stderr, "dnn-opt: error: %s\n", status.getMessage().c_str());
  return isOk && status.isOk() ? 0 : 1;
}

static int runOpt(int argc, char **argv) {
  if (tessera::isPackageCommand(argc, argv))
    return tessera::runPackageCommand(argc, argv);
  tessera::catchCrashes();
  if (tessera::isAheadOfTime(argc, argv))
    return tessera::runAheadOfTime(argc, argv);

  mlir::DialectRegistry registry;
  registry.insert<tessera::dnn::DnnDialect, tessera::wg::WgDialect,
                  mlir::func::FuncDialect>();
  tessera::registerTargetDialects(registry);
  mlir::registerTransformsPasses();
  tessera::registerTransformsPasses();
  tessera::registerConversionPasses();
  tessera::registerPipelinePasses();
  registerLowering();
  return runPasses(argc, argv, registry);
}

int main(int argc, char **argv) {
  return tessera::runTool("dnn-opt", argc, argv, runOpt);
}
