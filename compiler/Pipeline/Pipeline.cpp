//===- Pipeline.cpp - The stages of a compilation, in order ---------------===//
//
//   problem ─► dnn ─► tiled ─► workgroup ─► gpu ─► llvm ─► isa ─► object
//
// Each stage is one function, which turns the state of the stage before into
// its own. Stages hand over data structures: text is only parsed for the first
// stage and only printed for the last one.
//
//===----------------------------------------------------------------------===//

#include "compiler/Pipeline/Pipeline.h"
#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Conversion/Passes.h"
#include "compiler/Frontend/ConvFrontend.h"
#include "compiler/Frontend/PoolFrontend.h"
#include "compiler/Frontend/RowWiseFrontend.h"
#include "compiler/Pipeline/Passes.h"
#include "compiler/Pipeline/ReadLaunches.h"
#include "compiler/Pipeline/ReadProblem.h"
#include "compiler/Target/AMDGPU/AmdgpuTarget.h"
#include "compiler/Target/NVPTX/NvptxTarget.h"
#include "compiler/Transforms/Passes.h"
#include "dialect/IR/Dnn.h"
#include "dialect/IR/PointHints.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/DriverCommand/DriverCommand.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <algorithm>
#include <cctype>
#include <chrono>

using namespace tessera;

namespace {
/// The compilation of one kernel. Lives on the stack of one call.
class Compilation {
public:
  Compilation(CompileContext &context, const PipelineOptions &options)
      : context(context), options(options),
        diagnostics(&context.getMlir(), [this](mlir::Diagnostic &diagnostic) {
          return collect(diagnostic);
        }) {
    result.tile = options.tile;
  }

  Status start(const Problem &value);
  Status start(Stage from, std::string_view text);
  Status runTo(Stage last);
  PipelineResult takeResult();

private:
  Status run(Stage stage);
  Status buildDnn();
  Status tile();
  Status expand();
  Status lowerToGpu();
  Status lowerToLlvm();
  Status emitIsa();
  Status link();
  Status readKernels();

  bool isPtx() const { return options.target->vendor == Vendor::Nvidia; }
  Status runPasses(mlir::PassManager &passes, bool verifies = true);
  Status parseModule(std::string_view text);
  mlir::LogicalResult collect(mlir::Diagnostic &diagnostic);
  Status refuse(const std::string &what) const;

  CompileContext &context;
  const PipelineOptions &options;
  mlir::ScopedDiagnosticHandler diagnostics;
  std::string messages; ///< MLIR's errors so far.
  Stage reached = Stage::Problem;
  PipelineResult result;

  // The state. Which member is in use depends on the stage that was reached.
  Problem problem;
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< Stages dnn to gpu.
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> llvmModule; ///< Stage llvm.
  std::string assembly; ///< Stage isa as text; empty if it was encoded at once.
  ObjectBytes object;   ///< Stage isa if it was encoded; stage object.
};
} // namespace

//===----------------------------------------------------------------------===//
// The stages
//===----------------------------------------------------------------------===//

Status Compilation::buildDnn() {
  const std::string symbol = getKernelSymbol(problem);
  if (const ConvProblem *conv = problem.getConv())
    module = buildConvModule(context.getMlir(), *conv, symbol);
  else if (const PoolProblem *pool = problem.getPool())
    module = buildPoolModule(context.getMlir(), *pool, symbol);
  else {
    ErrorOr<mlir::OwningOpRef<mlir::ModuleOp>> built =
        buildRowWiseModule(context.getMlir(), *problem.getRows(), symbol);
    if (!built)
      return built.getStatus();
    module = std::move(*built);
  }
  if (problem.isUnaligned())
    (*module)->setAttr(dnn::kUnalignedAttrName,
                       mlir::UnitAttr::get(&context.getMlir()));
  mlir::PassManager passes(&context.getMlir());
  passes.addPass(createVerifyStage({std::string(getName(Stage::Dnn))}));
  return runPasses(passes);
}

Status Compilation::tile() {
  if (result.tile.empty()) {
    ErrorOr<TileConfig> chosen = chooseTile(problem, *options.target);
    if (!chosen)
      return chosen.getStatus();
    result.tile = chosen->toText();
  }
  mlir::PassManager passes(&context.getMlir());
  passes.addPass(
      createApplyTile({std::string(options.target->name), result.tile}));
  passes.addPass(createVerifyStage({std::string(getName(Stage::Tiled))}));
  return runPasses(passes);
}

Status Compilation::expand() {
  mlir::PassManager passes(&context.getMlir());
  passes.addPass(createExpandPipeline());
  passes.addPass(createVerifyStage({std::string(getName(Stage::Workgroup))}));
  return runPasses(passes);
}

Status Compilation::lowerToGpu() {
  mlir::PassManager passes(&context.getMlir());
  passes.addPass(createLowerPoints());
  passes.addPass(createLowerWorkgroup());
  passes.addPass(createLowerMath());
  passes.addPass(createChainLaunches());
  passes.addPass(createVerifyStage({std::string(getName(Stage::Gpu))}));
  Status status = runPasses(passes);
  if (status.isOk())
    readLaunches(*module, *options.target, result);
  return status;
}

Status Compilation::lowerToLlvm() {
  ErrorOr<llvm::TargetMachine *> machine = context.getMachine(*options.target);
  if (!machine)
    return machine.getStatus();
  // What comes out is MLIR's own, and LLVM verifies its translation.
  Status status = runPasses(context.getLowering(*options.target), false);
  if (!status.isOk())
    return status;
  auto kernels = module->getOps<mlir::gpu::GPUModuleOp>();
  if (!llvm::hasSingleElement(kernels))
    return refuse("the module needs exactly one gpu.module, which holds the "
                  "kernels");
  llvmModule = translateModule(*kernels.begin(), llvmContext, **machine,
                               *options.target);
  return llvmModule ? Status::ok()
                    : refuse("the gpu.module cannot be translated to LLVM IR");
}

Status Compilation::emitIsa() {
  ErrorOr<llvm::TargetMachine *> machine = context.getMachine(*options.target);
  if (!machine)
    return machine.getStatus();
  Status status = optimizeModule(*llvmModule, **machine, *options.target);
  if (!status.isOk())
    return status;
  // AMD's assembly is only printed for people; otherwise the kernel is encoded
  // at once. PTX is always text, which the driver assembles.
  if (options.stopAfter == Stage::Isa || isPtx()) {
    ErrorOr<std::string> text = emitAssembly(*llvmModule, **machine);
    if (!text)
      return text.getStatus();
    assembly = std::move(*text);
    return Status::ok();
  }
  ErrorOr<ObjectBytes> bytes = emitObject(*llvmModule, **machine);
  if (!bytes)
    return bytes.getStatus();
  object = std::move(*bytes);
  return Status::ok();
}

Status Compilation::link() {
  if (isPtx()) {
    object.assign(assembly.begin(), assembly.end());
    object.push_back('\0'); // cuModuleLoadData() needs the terminator.
    return readKernels();
  }
  if (!assembly.empty()) {
    ErrorOr<ObjectBytes> bytes = assembleText(assembly, *options.target);
    if (!bytes)
      return bytes.getStatus();
    object = std::move(*bytes);
  }
  ErrorOr<ObjectBytes> linked = linkObject(object);
  if (!linked)
    return linked.getStatus();
  object = std::move(*linked);
  return readKernels();
}

/// Reads registers, spills and argument layouts, which are known only after
/// code generation.
Status Compilation::readKernels() {
  ErrorOr<std::vector<KernelMetadata>> kernels =
      isPtx() ? readPtx({object.data(), object.size()}) : readMetadata(object);
  if (!kernels)
    return kernels.getStatus();
  result.kernels = std::move(*kernels);
  return Status::ok();
}

Status Compilation::run(Stage stage) {
  switch (stage) {
  case Stage::Problem:
    break; // A compilation starts at this stage and never runs it.
  case Stage::Dnn:
    return buildDnn();
  case Stage::Tiled:
    return tile();
  case Stage::Workgroup:
    return expand();
  case Stage::Gpu:
    return lowerToGpu();
  case Stage::Llvm:
    return lowerToLlvm();
  case Stage::Isa:
    return emitIsa();
  case Stage::Object:
    return link();
  }
  return internalError("no such stage");
}

//===----------------------------------------------------------------------===//
// Helpers of the stages
//===----------------------------------------------------------------------===//

/// Keeps errors and their notes as text. All other diagnostics are dropped,
/// because a library does not print.
mlir::LogicalResult Compilation::collect(mlir::Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
    return mlir::success();
  if (!messages.empty())
    messages += "; ";
  if (auto location =
          mlir::dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation()))
    messages += "line " + std::to_string(location.getLine()) + ": ";
  messages += diagnostic.str();
  for (const mlir::Diagnostic &note : diagnostic.getNotes())
    messages += " (" + note.str() + ")";
  return mlir::success();
}

Status Compilation::refuse(const std::string &what) const {
  return notSupported(messages.empty() ? what : messages);
}

/// The module is verified once, behind the last pass: behind each of them that
/// took a sixteenth of a compilation.
Status Compilation::runPasses(mlir::PassManager &passes, bool verifies) {
  passes.enableVerifier(false);
  if (mlir::succeeded(passes.run(*module)) &&
      (!verifies || mlir::succeeded(mlir::verify(*module))))
    return Status::ok();
  return refuse("is rejected by a pass without a diagnostic");
}

Status Compilation::parseModule(std::string_view text) {
  module = mlir::parseSourceString<mlir::ModuleOp>(text, &context.getMlir());
  if (!module)
    return invalidArgument(messages);
  mlir::PassManager passes(&context.getMlir());
  passes.addPass(createVerifyStage({std::string(getName(reached))}));
  if (mlir::failed(passes.run(*module)))
    return invalidArgument(messages);
  auto chip = (*module)->getAttrOfType<mlir::StringAttr>(dnn::kTargetAttrName);
  if (chip && chip != llvm::StringRef(options.target->name))
    return invalidArgument("the text is for " + chip.str() + ", not for " +
                           std::string(options.target->name));
  if (reached == Stage::Gpu)
    readLaunches(*module, *options.target, result);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// From the first stage to the last
//===----------------------------------------------------------------------===//

Status Compilation::start(const Problem &value) {
  problem = value;
  reached = Stage::Problem;
  return problem.verify();
}

Status Compilation::start(Stage from, std::string_view text) {
  reached = from;
  switch (from) {
  case Stage::Problem: {
    ErrorOr<Problem> parsed = parseDriverCommand(text);
    return parsed ? start(*parsed) : parsed.getStatus();
  }
  case Stage::Dnn: {
    Status status = parseModule(text);
    if (!status.isOk())
      return status;
    ErrorOr<Problem> read = readProblem(*module);
    if (!read)
      return read.getStatus();
    problem = *read;
    return Status::ok();
  }
  case Stage::Tiled:
  case Stage::Workgroup:
  case Stage::Gpu:
    return parseModule(text);
  case Stage::Llvm: {
    auto parsed = parseLlvm(text, llvmContext, *options.target);
    if (!parsed)
      return parsed.getStatus();
    llvmModule = std::move(*parsed);
    return Status::ok();
  }
  case Stage::Isa:
    assembly = text;
    return Status::ok();
  case Stage::Object:
    return invalidArgument("nothing follows stage object");
  }
  return internalError("no such stage");
}

Status Compilation::runTo(Stage last) {
  using Clock = std::chrono::steady_clock;
  while (reached != last) {
    Stage next = static_cast<Stage>(static_cast<int>(reached) + 1);
    Clock::time_point begin = Clock::now();
    Status status = run(next);
    std::chrono::duration<double, std::milli> time = Clock::now() - begin;
    result.stageTimes.push_back({std::string(getName(next)), time.count()});
    if (!status.isOk())
      return status.withContext("stage " + std::string(getName(next)));
    reached = next;
  }
  return Status::ok();
}

PipelineResult Compilation::takeResult() {
  llvm::raw_string_ostream stream(result.output);
  switch (reached) {
  case Stage::Problem:
    // The driver's flags cannot say that a size is unknown.
    result.output = (problem.hasUnknownSizes() ? problem.toNetworkConfig()
                                               : toDriverCommand(problem)) +
                    "\n";
    break;
  case Stage::Dnn:
  case Stage::Tiled:
  case Stage::Workgroup:
  case Stage::Gpu:
    module->print(stream);
    break;
  case Stage::Llvm:
    result.output = printLlvm(*llvmModule);
    break;
  case Stage::Isa:
    result.output = std::move(assembly);
    break;
  case Stage::Object:
    result.output.assign(object.begin(), object.end());
    break;
  }
  return std::move(result);
}

ErrorOr<PipelineResult>
tessera::compileProblem(CompileContext &context, const Problem &problem,
                        const PipelineOptions &options) {
  Compilation compilation(context, options);
  Status status = compilation.start(problem);
  if (status.isOk())
    status = compilation.runTo(options.stopAfter);
  if (!status.isOk())
    return status;
  return compilation.takeResult();
}

ErrorOr<PipelineResult> tessera::compileText(CompileContext &context,
                                             Stage from, std::string_view text,
                                             const PipelineOptions &options) {
  if (from > options.stopAfter)
    return invalidArgument(
        "cannot stop after stage " + std::string(getName(options.stopAfter)) +
        " when starting from stage " + std::string(getName(from)));
  Compilation compilation(context, options);
  Status status = compilation.start(from, text);
  if (!status.isOk())
    return status.withContext("the text of stage " +
                              std::string(getName(from)));
  status = compilation.runTo(options.stopAfter);
  if (!status.isOk())
    return status;
  return compilation.takeResult();
}

std::string tessera::getKernelSymbol(const Problem &problem) {
  std::string symbol = problem.toNetworkConfig();
  std::ranges::replace_if(
      symbol, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return symbol;
}
