//===- TargetMachine.cpp - LLVM's code generator for a chip ---------------===//

#include "compiler/Target/AMDGPU/AmdgpuTarget.h"
#include "compiler/Target/AMDGPU/Initialize.h"

#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTarget();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmPrinter();
void LLVMInitializeAMDGPUAsmParser();
}

using namespace tessera;

ErrorOr<const llvm::Target *> tessera::findAmdgpuBackend() {
  // LLVM's registry is global and its registration is not thread-safe.
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();
  });
  std::string error;
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(llvm::Triple(kAmdgpuTriple), error);
  if (!backend)
    return internalError("LLVM has no AMDGPU backend: " + error);
  return backend;
}

ErrorOr<std::unique_ptr<llvm::TargetMachine>>
tessera::createTargetMachine(const GpuTarget &target) {
  ErrorOr<const llvm::Target *> backend = findAmdgpuBackend();
  if (!backend)
    return backend.getStatus();
  llvm::TargetOptions options;
  // A multiply and an add may become one fused operation: the kernels
  // accumulate, and no result is defined to be rounded in between.
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  std::unique_ptr<llvm::TargetMachine> machine((*backend)->createTargetMachine(
      llvm::Triple(kAmdgpuTriple), llvm::StringRef(target.name), "", options,
      llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return internalError("LLVM has no code generator for " +
                         std::string(target.name));
  return machine;
}
