//===- NvptxBackend.cpp - Code generation for NVIDIA's chips --------------===//

#include "compiler/Target/Codegen/Backend.h"

#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/IR/Module.h"

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

using namespace tessera;

/// The kernel attribute with the number of tensor maps. passMapsByValue()
/// replaces it by attributes of the arguments.
static constexpr char kMapsAttrName[] = "dnn.tensor_maps";

static void initialize() {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
}

/// wgmma, TMA and tcgen05 are architecture-specific features, which need the
/// suffix "a".
static std::string getCpu(const GpuTarget &target) {
  return std::string(target.name) +
         (target.hasWgmma || target.hasTensorMemory ? "a" : "");
}

/// The version of PTX. 8.6, which every driver from CUDA 12.7 on accepts, has
/// all TMA instructions that kernels use. Chips that are newer than this
/// version need a newer one (LLVM's NVPTX.td).
static const char *getFeatures(const GpuTarget &target) {
  if (target.name == "sm_110")
    return "+ptx90";
  if (target.name == "sm_120")
    return "+ptx87";
  if (target.name == "sm_103" || target.name == "sm_121")
    return "+ptx88";
  return "+ptx86";
}

static void addRewrites(mlir::RewritePatternSet &, const GpuTarget &) {}

static void addConversion(mlir::LLVMTypeConverter &converter,
                          mlir::RewritePatternSet &patterns,
                          mlir::ConversionTarget &legal, const GpuTarget &) {
  mlir::configureGpuToNVVMTypeConverter(converter);
  mlir::populateGpuToNVVMConversionPatterns(converter, patterns);
  mlir::configureGpuToNVVMConversionLegality(legal);
  // Ops of nvvm for which LLVM has no intrinsic become inline assembly.
  mlir::populateNVVMToLLVMConversionPatterns(patterns);
  legal.addDynamicallyLegalDialect<mlir::NVVM::NVVMDialect>(
      [](mlir::Operation *op) {
        auto assembly =
            mlir::dyn_cast<mlir::NVVM::BasicPtxBuilderInterface>(op);
        return !assembly || assembly.hasIntrinsic();
      });
}

/// Marks a kernel's tensor maps, which are its first arguments, as passed by
/// value in memory that the kernel only reads.
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

/// MLIR makes dynamic shared memory a defined variable of no bytes, for which
/// the backend would reserve one; it must be an external declaration.
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
    "nvptx64-nvidia-cuda", "",          initialize,    getCpu,
    getFeatures,           addRewrites, addConversion, finishModule};
