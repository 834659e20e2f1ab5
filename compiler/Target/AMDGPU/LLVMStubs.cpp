//===- LLVMStubs.cpp - Answers in place of what we leave out of LLVM ------===//
//
// LLD's driver initialises every backend that its LLVM was built with, and
// LLVM's LTO names Polly. Linked statically, each would come along, or be
// missing. The answers here are empty: LLD links our AMDGPU objects with no
// backend at all. AMDGPU and NVPTX are real.
//
//===----------------------------------------------------------------------===//

#include "llvm/Plugins/PassPlugin.h"

#define TESSERA_STUB_TARGET(NAME)                                              \
  extern "C" void LLVMInitialize##NAME##TargetInfo() {}                        \
  extern "C" void LLVMInitialize##NAME##Target() {}                            \
  extern "C" void LLVMInitialize##NAME##TargetMC() {}                          \
  extern "C" void LLVMInitialize##NAME##AsmPrinter() {}                        \
  extern "C" void LLVMInitialize##NAME##AsmParser() {}

// llvm/Config/Targets.def of the packaged LLVM, less the two that are real.
TESSERA_STUB_TARGET(AArch64)
TESSERA_STUB_TARGET(ARM)
TESSERA_STUB_TARGET(AVR)
TESSERA_STUB_TARGET(BPF)
TESSERA_STUB_TARGET(Hexagon)
TESSERA_STUB_TARGET(Lanai)
TESSERA_STUB_TARGET(LoongArch)
TESSERA_STUB_TARGET(M68k)
TESSERA_STUB_TARGET(MSP430)
TESSERA_STUB_TARGET(Mips)
TESSERA_STUB_TARGET(PowerPC)
TESSERA_STUB_TARGET(RISCV)
TESSERA_STUB_TARGET(SPIRV)
TESSERA_STUB_TARGET(Sparc)
TESSERA_STUB_TARGET(SystemZ)
TESSERA_STUB_TARGET(VE)
TESSERA_STUB_TARGET(WebAssembly)
TESSERA_STUB_TARGET(X86)
TESSERA_STUB_TARGET(XCore)
TESSERA_STUB_TARGET(Xtensa)

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "none", "0", [](llvm::PassBuilder &) {}};
}
