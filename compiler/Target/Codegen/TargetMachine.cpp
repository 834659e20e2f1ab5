//===- TargetMachine.cpp - LLVM's code generator for a chip ---------------===//

#include "compiler/Target/Codegen/Backend.h"
#include "compiler/Target/Codegen/Codegen.h"

#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace tessera;

/// Kernels keep nothing in memory that could be a register, but licm looks for
/// it at each of its three runs, by comparing all accesses of a loop with each
/// other. Of LLVM's ways to turn that off, only this one reaches the run that
/// the backend adds.
static void keepMemoryInLoops() {
  auto *option = static_cast<llvm::cl::opt<bool> *>(
      llvm::cl::getRegisteredOptions().lookup("disable-licm-promotion"));
  if (option)
    option->setValue(true);
}

ErrorOr<const llvm::Target *> tessera::findLlvmTarget(const GpuTarget &target) {
  // LLVM's registry is global and its registration is not thread-safe.
  static std::once_flag once;
  std::call_once(once, [] {
    kAmdgpuBackend.initialize();
    kNvptxBackend.initialize();
    keepMemoryInLoops();
  });
  std::string error;
  llvm::Triple triple(getBackend(target).triple);
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found)
    return internalError("LLVM has no backend for " + triple.str() + ": " +
                         error);
  return found;
}

ErrorOr<std::unique_ptr<llvm::TargetMachine>>
tessera::createTargetMachine(const GpuTarget &target) {
  ErrorOr<const llvm::Target *> found = findLlvmTarget(target);
  if (!found)
    return found.getStatus();
  const Backend &backend = getBackend(target);
  llvm::TargetOptions options;
  // A multiply and an add may be fused, because the specification does not
  // require a product to be rounded before it is accumulated.
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  std::unique_ptr<llvm::TargetMachine> machine((*found)->createTargetMachine(
      llvm::Triple(backend.triple), backend.getCpu(target),
      backend.getFeatures(target), options, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return internalError("LLVM has no code generator for " +
                         std::string(target.name));
  return machine;
}
