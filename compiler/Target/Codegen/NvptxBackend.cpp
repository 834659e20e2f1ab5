//===- NvptxBackend.cpp - What code generation for NVIDIA's chips needs ---===//

#include "compiler/Target/Codegen/Backend.h"

#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/IR/Module.h"

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

using namespace tessera;

static void initialize() {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
}

/// The version of PTX. 8.6, which every driver from CUDA 12.7 on takes, has
/// what later copies through the tensor memory accelerator need; newer chips
/// than that version need a newer one (LLVM's NVPTX.td).
static const char *getFeatures(const GpuTarget &target) {
  if (target.name == "sm_110")
    return "+ptx90";
  if (target.name == "sm_120")
    return "+ptx87";
  if (target.name == "sm_103" || target.name == "sm_121")
    return "+ptx88";
  return "+ptx86";
}

static void addGpuConversion(mlir::OpPassManager &kernels, const GpuTarget &) {
  mlir::ConvertGpuOpsToNVVMOpsOptions options;
  options.useBarePtrCallConv = true;
  options.indexBitwidth = 32;
  kernels.addPass(mlir::createConvertGpuOpsToNVVMOps(options));
}

static void finishModule(llvm::Module &, const GpuTarget &) {}

const Backend tessera::kNvptxBackend = {
    "nvptx64-nvidia-cuda", "",          initialize, getFeatures,
    addGpuConversion,      finishModule};
