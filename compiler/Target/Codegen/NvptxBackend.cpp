//===- NvptxBackend.cpp - What code generation for NVIDIA's chips needs ---===//

#include "compiler/Target/Codegen/Backend.h"

#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
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

/// Of a kernel, until its arguments say it themselves.
static constexpr char kMapsAttrName[] = "dnn.tensor_maps";

static void initialize() {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
}

/// wgmma and TMA belong to the architecture's own features.
static std::string getCpu(const GpuTarget &target) {
  return std::string(target.name) + (target.wgmmaSharedBytes > 0 ? "a" : "");
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
  // Of nvvm, what LLVM has no intrinsic for becomes assembly.
  kernels.addPass(mlir::createConvertNVVMToLLVMPass());
}

/// Tensor maps are passed by value, in memory that a kernel only reads: the
/// first arguments of a kernel, as many as its attribute says.
static void passMapsByValue(llvm::Module &module) {
  constexpr uint64_t kBytes = 128, kAlignment = 64;
  llvm::LLVMContext &context = module.getContext();
  llvm::Type *map =
      llvm::ArrayType::get(llvm::Type::getInt8Ty(context), kBytes);
  for (llvm::Function &kernel : module) {
    const uint64_t count = kernel.getFnAttributeAsParsedInteger(kMapsAttrName);
    kernel.removeFnAttr(kMapsAttrName);
    for (uint64_t i = 0; i < count; ++i) {
      kernel.addParamAttr(i, llvm::Attribute::getWithByValType(context, map));
      kernel.addParamAttr(i, llvm::Attribute::getWithAlignment(
                                 context, llvm::Align(kAlignment)));
      kernel.addParamAttr(i,
                          llvm::Attribute::get(context, "nvvm.grid_constant"));
    }
  }
}

/// Upstream makes the shared memory of a launch a variable of no bytes of its
/// own, which takes one.
static void finishModule(llvm::Module &module, const GpuTarget &) {
  constexpr unsigned kShared = 3;
  passMapsByValue(module);
  for (llvm::GlobalVariable &variable : module.globals()) {
    auto *type = llvm::dyn_cast<llvm::ArrayType>(variable.getValueType());
    if (variable.getAddressSpace() != kShared || !type ||
        type->getNumElements() != 0)
      continue;
    variable.setInitializer(nullptr);
    variable.setLinkage(llvm::GlobalValue::ExternalLinkage);
  }
}

const Backend tessera::kNvptxBackend = {
    "nvptx64-nvidia-cuda", "",          initialize, getCpu, getFeatures,
    addGpuConversion,      finishModule};
