//===- TranslateModule.cpp - From the llvm dialect to LLVM IR -------------===//

#include "compiler/Target/Codegen/Backend.h"
#include "compiler/Target/Codegen/Codegen.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

/// Returns true if every op in `gpuModule` has a translation, and reports the
/// first one that has none. A cast between a lowered and an unlowered type is
/// reported only if there is no such op, which would be its cause.
static bool checkLowered(Operation *gpuModule, StringRef chip) {
  Operation *cast = nullptr;
  WalkResult result = gpuModule->walk([&](Operation *op) {
    if (op == gpuModule ||
        isa_and_present<LLVM::LLVMDialect, NVVM::NVVMDialect,
                        ROCDL::ROCDLDialect>(op->getDialect()))
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

/// Adds the chip to every function, so that the text of the module is complete.
static void setChip(llvm::Module &module, const tessera::GpuTarget &target) {
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      function.addFnAttr("target-cpu",
                         tessera::getBackend(target).getCpu(target));
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
  module->setTargetTriple(llvm::Triple(getBackend(target).triple));
  module->setDataLayout(machine.createDataLayout());
  setChip(*module, target);
  getBackend(target).finishModule(*module, target);
  return module;
}
