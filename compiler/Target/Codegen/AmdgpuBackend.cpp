//===- AmdgpuBackend.cpp - Code generation for AMD's chips ----------------===//

#include "compiler/Target/Codegen/Backend.h"

#include "mlir/Conversion/AMDGPUToROCDL/AMDGPUToROCDL.h"
#include "mlir/Conversion/GPUToROCDL/GPUToROCDLPass.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/AMDGPU/Utils/Chipset.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Transforms/DialectConversion.h"
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

static mlir::amdgpu::Chipset getChipset(const GpuTarget &target) {
  return *mlir::amdgpu::Chipset::parse(std::string(target.name));
}

static void addRewrites(mlir::RewritePatternSet &patterns,
                        const GpuTarget &target) {
  mlir::populateGpuPromoteShuffleToAMDGPUPatterns(patterns, getChipset(target));
}

static void addConversion(mlir::LLVMTypeConverter &converter,
                          mlir::RewritePatternSet &patterns,
                          mlir::ConversionTarget &legal,
                          const GpuTarget &target) {
  const mlir::amdgpu::Chipset chipset = getChipset(target);
  mlir::amdgpu::populateCommonGPUTypeAndAttributeConversions(converter);
  mlir::populateAMDGPUToROCDLConversionPatterns(converter, patterns, chipset);
  mlir::populateGpuToROCDLConversionPatterns(
      converter, patterns, mlir::gpu::amd::Runtime::HIP, chipset);
  mlir::configureGpuToROCDLConversionLegality(legal);
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
    "amdgcn-amd-amdhsa", "amdgpu-attributor", initialize,    getCpu,
    getFeatures,         addRewrites,         addConversion, finishModule};
