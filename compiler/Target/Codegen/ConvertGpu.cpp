//===- ConvertGpu.cpp - From stage gpu to the llvm dialect ----------------===//
//
// This pass uses the patterns of MLIR's convert-gpu-to-rocdl and
// convert-gpu-to-nvvm, which keep all that they replace until they are done.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/Codegen/Backend.h"
#include "compiler/Target/Codegen/Codegen.h"
#include "compiler/Target/Codegen/ConvertOnce.h"

#include "mlir/Conversion/ConvertToLLVM/ToLLVMInterface.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/LoweringOptions.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace tessera;

/// Replaces ops of gpu by others, which a conversion could not replace again,
/// and drops what is repeated or unused on the way.
static void rewriteGpuOps(gpu::GPUModuleOp module, const GpuTarget &target) {
  if (llvm::all_of(module.getOps<gpu::GPUFuncOp>(), [](gpu::GPUFuncOp kernel) {
        return kernel->hasAttr(kSimplifiedAttrName);
      }))
    return;
  RewritePatternSet patterns(module.getContext());
  populateGpuRewritePatterns(patterns);
  getBackend(target).addRewrites(patterns, target);
  (void)applyPatternsGreedily(module, std::move(patterns));
}

/// AMD's backend takes the size of a workgroup from an attribute of its own.
static void setWorkgroupSizes(gpu::GPUModuleOp module) {
  auto &rocdl = *module.getContext()->getLoadedDialect<ROCDL::ROCDLDialect>();
  for (auto kernel : module.getOps<LLVM::LLVMFuncOp>()) {
    auto size = rocdl.getReqdWorkGroupSizeAttrHelper().getAttr(kernel);
    if (!size)
      continue;
    int64_t threads = 1;
    for (int32_t length : size.asArrayRef())
      threads *= length;
    const std::string text = std::to_string(threads);
    rocdl.getFlatWorkGroupSizeAttrHelper().setAttr(
        kernel, StringAttr::get(module.getContext(), text + "," + text));
  }
}

namespace {
struct ConvertGpu
    : public PassWrapper<ConvertGpu, OperationPass<gpu::GPUModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertGpu)
  explicit ConvertGpu(const GpuTarget &target) : target(target) {}
  StringRef getArgument() const override { return "dnn-convert-gpu"; }
  StringRef getDescription() const override {
    return "Convert a gpu.module to the llvm dialect and the vendor's";
  }

  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<arith::ArithDialect, cf::ControlFlowDialect, LLVM::LLVMDialect,
                math::MathDialect, memref::MemRefDialect, NVVM::NVVMDialect,
                ROCDL::ROCDLDialect, ub::UBDialect, vector::VectorDialect>();
  }

  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    rewriteGpuOps(module, target);

    LowerToLLVMOptions options(context, DataLayout(cast<DataLayoutOpInterface>(
                                            module.getOperation())));
    // Kernel arguments are bare device pointers. Indices of 32 bits keep 64-bit
    // arithmetic out of the kernels; a buffer descriptor addresses no more
    // either.
    options.useBarePtrCallConv = true;
    options.overrideIndexBitwidth(32);
    LLVMTypeConverter converter(context, options);
    RewritePatternSet patterns(context);
    LLVMConversionTarget legal(*context);
    for (StringRef name : {"arith", "cf", "math", "memref", "ub", "vector"})
      cast<ConvertToLLVMPatternInterface>(context->getLoadedDialect(name))
          ->populateConvertToLLVMConversionPatterns(legal, converter, patterns);
    // The interface of vector has patterns for vectors of one dimension.
    vector::populateVectorFromElementsUnrollPatterns(patterns);
    getBackend(target).addConversion(converter, patterns, legal, target);
    if (failed(convertOnce(module, legal, std::move(patterns), target.name)))
      return signalPassFailure();
    setWorkgroupSizes(module);
  }

  const GpuTarget &target;
};
} // namespace

void tessera::addLowerToLlvmPasses(OpPassManager &passes,
                                   const GpuTarget &target) {
  OpPassManager &kernels = passes.nest<gpu::GPUModuleOp>();
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(std::make_unique<ConvertGpu>(target));
  // A canonicalizer and CSE would be redundant: LLVM's instcombine and
  // early-cse do the same, and the assembly is identical without them.
  kernels.addPass(createReconcileUnrealizedCastsPass());
}
