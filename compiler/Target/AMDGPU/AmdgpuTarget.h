//===- AmdgpuTarget.h - From a gpu.module to a code object -----*- C++ -*-===//
//
// The steps behind the IR, in the order in which the pipeline takes them:
//
//   gpu.module ─lower─► llvm dialect ─translate─► LLVM module ─optimise─►
//     ─emit─► object file ─link─► code object ─read─► its metadata
//
// with assembly text as a way out of, and back into, the middle. Everything
// happens in this process and in memory: no tool is started, no file written.
// The header names no LLVM type that it could forward declare, so that the
// pipeline compiles quickly.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_TARGET_AMDGPU_AMDGPUTARGET_H
#define TESSERA_COMPILER_TARGET_AMDGPU_AMDGPUTARGET_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/GpuTarget.h"
#include "runtime/Base/Kernel.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir {
class DialectRegistry;
class OpPassManager;
class Operation;
} // namespace mlir

namespace tessera {

using ObjectBytes = std::vector<char>;

/// LLVM's code generator for `target`. Not safe to use from two threads at
/// once; may be used for one module after another.
ErrorOr<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const GpuTarget &target);

/// The dialects of stage `gpu`, with what addLowerToLlvmPasses() and
/// translateModule() ask of them.
void registerAmdgpuDialects(mlir::DialectRegistry &registry);

/// Appends the passes that turn every gpu.module under a module of stage `gpu`
/// into the llvm and rocdl dialects.
void addLowerToLlvmPasses(mlir::OpPassManager &passes, const GpuTarget &target);

/// LLVM IR for a gpu.module that holds nothing but llvm and rocdl ops, with all
/// that `target` needs: triple, data layout, code object version, features. An
/// op that was not lowered is named in a diagnostic of the module's context,
/// and the result is null.
std::unique_ptr<llvm::Module> translateModule(mlir::Operation *gpuModule,
                                              llvm::LLVMContext &context,
                                              llvm::TargetMachine &machine,
                                              const GpuTarget &target);

/// Stage `llvm` from its text. Refuses IR of another triple or chip.
ErrorOr<std::unique_ptr<llvm::Module>> parseLlvm(std::string_view text,
                                                 llvm::LLVMContext &context,
                                                 const GpuTarget &target);

/// Stage `llvm` as text.
std::string printLlvm(const llvm::Module &module);

/// LLVM's passes between translation and code generation.
Status optimizeModule(llvm::Module &module, llvm::TargetMachine &machine);

/// Code generation; changes `module`.
ErrorOr<ObjectBytes> emitObject(llvm::Module &module,
                                llvm::TargetMachine &machine);
ErrorOr<std::string> emitAssembly(llvm::Module &module,
                                  llvm::TargetMachine &machine);

/// The object file that emitAssembly()'s text stands for.
ErrorOr<ObjectBytes> assembleText(std::string_view text,
                                  const GpuTarget &target);

/// Makes a code object, which hipModuleLoadData takes, of one object file.
/// Safe from any thread; calls wait for each other (about 1 ms).
ErrorOr<ObjectBytes> linkObject(std::span<const char> object);

/// One explicit or hidden argument as the code object lays it out.
struct KernelArgLayout {
  uint32_t offset = 0;
  uint32_t bytes = 0;
  std::string kind; ///< "global_buffer", "by_value", "hidden_...".
};

/// What a code object says of one of its kernels.
struct KernelMetadata {
  std::string name;
  KernelResources resources;
  uint32_t kernargBytes = 0;
  uint32_t waveSize = 0;
  uint32_t maxBlockSize = 0; ///< Threads of a workgroup.
  std::vector<KernelArgLayout> args;
};

/// The metadata note of a code object or object file, kernels in its order.
ErrorOr<std::vector<KernelMetadata>>
readMetadata(std::span<const char> codeObject);

} // namespace tessera

#endif // TESSERA_COMPILER_TARGET_AMDGPU_AMDGPUTARGET_H
