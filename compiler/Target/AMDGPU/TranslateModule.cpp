//===- TranslateModule.cpp - From the llvm dialect to LLVM IR -------------===//

#include "compiler/Target/AMDGPU/AmdgpuTarget.h"
#include "compiler/Target/AMDGPU/Initialize.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

/// True if every op in `gpuModule` has a translation. Reports the first that
/// has none by its own name; a cast between a lowered and an unlowered type is
/// only reported if no such op explains it.
static bool checkLowered(Operation *gpuModule, StringRef chip) {
  Operation *cast = nullptr;
  WalkResult result = gpuModule->walk([&](Operation *op) {
    if (op == gpuModule ||
        isa_and_present<LLVM::LLVMDialect, ROCDL::ROCDLDialect>(
            op->getDialect()))
      return WalkResult::advance();
    if (isa<UnrealizedConversionCastOp>(op)) {
      cast = cast ? cast : op;
      return WalkResult::advance();
    }
    op->emitOpError("has no lowering for ") << chip;
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return false;
  if (cast)
    cast->emitError("a value of type ")
        << cast->getOperand(0).getType() << " is used as "
        << cast->getResult(0).getType() << ", which " << chip
        << " has no conversion for";
  return !cast;
}

/// Writes what `target` asks of every function into its attributes, so that
/// the text of the module is complete.
static void setFunctionAttributes(llvm::Module &module,
                                  const tessera::GpuTarget &target) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", llvm::StringRef(target.name));
    if (target.has(tessera::Erratum::NoPackedF32Fma))
      function.addFnAttr("target-features", "-packed-fp32-ops");
  }
}

std::unique_ptr<llvm::Module>
tessera::translateModule(Operation *gpuModule, llvm::LLVMContext &context,
                         llvm::TargetMachine &machine,
                         const GpuTarget &target) {
  if (!checkLowered(gpuModule, target.name))
    return nullptr;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(gpuModule, context, "kernels");
  if (!module)
    return nullptr;
  module->setTargetTriple(llvm::Triple(kAmdgpuTriple));
  module->setDataLayout(machine.createDataLayout());
  // Version 5, as every HIP runtime from 5.2 to 7 loads it.
  module->addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version", 500);
  setFunctionAttributes(*module, target);
  return module;
}
