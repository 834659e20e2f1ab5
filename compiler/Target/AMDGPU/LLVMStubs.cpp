//===- LLVMStubs.cpp - Stubs for the unused parts of LLVM -----------------===//
//
// LLD's driver initializes every backend that its LLVM was built with, and
// LLVM's LTO refers to Polly. A static link would need all of them. The
// functions here do nothing, because LLD needs no backend to link AMDGPU
// objects. Only AMDGPU and NVPTX are linked.
//
//===----------------------------------------------------------------------===//

#include "llvm/Plugins/PassPlugin.h"

#define TESSERA_STUB_TARGET(NAME)                                              \
  extern "C" void LLVMInitialize##NAME##TargetInfo() {}                        \
  extern "C" void LLVMInitialize##NAME##Target() {}                            \
  extern "C" void LLVMInitialize##NAME##TargetMC() {}                          \
  extern "C" void LLVMInitialize##NAME##AsmPrinter() {}                        \
  extern "C" void LLVMInitialize##NAME##AsmParser() {}

// The list is llvm/Config/Targets.def of the packaged LLVM without AMDGPU and
// NVPTX.
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
