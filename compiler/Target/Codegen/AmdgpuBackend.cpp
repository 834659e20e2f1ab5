//===- AmdgpuBackend.cpp - Code generation for AMD's chips ----------------===//

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

// Features that a chip lacks are set on each function by finishModule().
static const char *getFeatures(const GpuTarget &) { return ""; }

static void addGpuConversion(mlir::OpPassManager &kernels,
                             const GpuTarget &target) {
  mlir::ConvertGpuOpsToROCDLOpsOptions options;
  options.chipset = std::string(target.name);
  // Kernel arguments are bare device pointers. Indices of 32 bits keep 64-bit
  // arithmetic out of the kernels; a buffer descriptor addresses no more
  // either.
  options.useBarePtrCallConv = true;
  options.indexBitwidth = 32;
  options.runtime = mlir::gpu::amd::Runtime::HIP;
  kernels.addPass(mlir::createConvertGpuOpsToROCDLOps(options));
}

static std::string getCpu(const GpuTarget &target) {
  return std::string(target.name);
}

static void finishModule(llvm::Module &module, const GpuTarget &target) {
  // Every HIP runtime from 5.2 to 7 loads version 5.
  module.addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version", 500);
  if (!target.has(Erratum::NoPackedF32Fma))
    return;
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      function.addFnAttr("target-features", "-packed-fp32-ops");
}

// amdgpu-attributor removes hidden arguments, and the registers for workgroup
// and lane ids that the kernel does not read.
const Backend tessera::kAmdgpuBackend = {
    "amdgcn-amd-amdhsa", "amdgpu-attributor", initialize,  getCpu,
    getFeatures,         addGpuConversion,    finishModule};
