//===- AmdgpuBackend.cpp - What code generation for AMD's chips needs -----===//

#include "compiler/Target/Codegen/Backend.h"

#include "mlir/Conversion/GPUToROCDL/GPUToROCDLPass.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/IR/Module.h"

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTarget();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmPrinter();
void LLVMInitializeAMDGPUAsmParser();
}

using namespace tessera;

static void initialize() {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTarget();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUAsmPrinter();
  LLVMInitializeAMDGPUAsmParser();
}

// Those of single functions are in finishModule().
static const char *getFeatures(const GpuTarget &) { return ""; }

static void addGpuConversion(mlir::OpPassManager &kernels,
                             const GpuTarget &target) {
  mlir::ConvertGpuOpsToROCDLOpsOptions options;
  options.chipset = std::string(target.name);
  // Kernel arguments are bare device pointers. Indices of 32 bits keep 64-bit
  // arithmetic out of the kernels; they reach all that a buffer descriptor
  // does.
  options.useBarePtrCallConv = true;
  options.indexBitwidth = 32;
  options.runtime = mlir::gpu::amd::Runtime::HIP;
  kernels.addPass(mlir::createConvertGpuOpsToROCDLOps(options));
}

static std::string getCpu(const GpuTarget &target) {
  return std::string(target.name);
}

static void finishModule(llvm::Module &module, const GpuTarget &target) {
  // Version 5, as every HIP runtime from 5.2 to 7 loads it.
  module.addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version", 500);
  if (!target.has(Erratum::NoPackedF32Fma))
    return;
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      function.addFnAttr("target-features", "-packed-fp32-ops");
}

// amdgpu-attributor: no hidden arguments, and no registers for ids that the
// kernel does not read.
const Backend tessera::kAmdgpuBackend = {
    "amdgcn-amd-amdhsa", "amdgpu-attributor", initialize,  getCpu,
    getFeatures,         addGpuConversion,    finishModule};
