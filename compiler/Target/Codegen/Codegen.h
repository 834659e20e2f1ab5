//===- Codegen.h - From a gpu.module to machine code -----------*- C++ -*--===//
//
// The steps of code generation, in the order in which the pipeline runs them.
// They are the same for every vendor; Backend.h has what differs.
//
//   gpu.module ─lower─► llvm dialect ─translate─► LLVM module ─optimise─►
//     ─emit─► object file (AMDGPU) or assembly (PTX)
//
// Everything happens in this process and in memory. The header forward-declares
// LLVM's types, so that the pipeline compiles quickly.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_TARGET_CODEGEN_CODEGEN_H
#define TESSERA_COMPILER_TARGET_CODEGEN_CODEGEN_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/GpuTarget.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
class Target;
class TargetMachine;
} // namespace llvm

namespace mlir {
class DialectRegistry;
class OpPassManager;
class Operation;
} // namespace mlir

namespace tessera {

/// Attribute of a gpu.func whose writer has left nothing to MLIR's greedy
/// rewriting: no op is unused (dnn-verify-stage), and none of gpu stands for
/// several others.
inline constexpr char kSimplifiedAttrName[] = "dnn.simplified";

using ObjectBytes = std::vector<char>;

/// Returns LLVM's backend for `target`; the first call registers all of them.
/// Safe to call from any thread.
ErrorOr<const llvm::Target *> findLlvmTarget(const GpuTarget &target);

/// Creates LLVM's code generator for `target`. It may be used for one module
/// after another, but not from two threads at once.
ErrorOr<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const GpuTarget &target);

/// Registers the dialects of stage `gpu`, and the interfaces that
/// addLowerToLlvmPasses() and translateModule() need.
void registerTargetDialects(mlir::DialectRegistry &registry);

/// Appends the passes that turn every gpu.module under a module of stage `gpu`
/// into the llvm dialect and the vendor's (rocdl, nvvm).
void addLowerToLlvmPasses(mlir::OpPassManager &passes, const GpuTarget &target);

/// Translates a gpu.module of those ops to LLVM IR, with everything that
/// `target` needs: triple, data layout, code object version, features. If an op
/// was not lowered, reports it to the MLIR context and returns null.
std::unique_ptr<llvm::Module> translateModule(mlir::Operation *gpuModule,
                                              llvm::LLVMContext &context,
                                              llvm::TargetMachine &machine,
                                              const GpuTarget &target);

/// Parses the text of stage `llvm`. Rejects IR for another triple or chip.
ErrorOr<std::unique_ptr<llvm::Module>> parseLlvm(std::string_view text,
                                                 llvm::LLVMContext &context,
                                                 const GpuTarget &target);

/// Prints stage `llvm`.
std::string printLlvm(const llvm::Module &module);

/// Runs LLVM's passes between translation and code generation.
Status optimizeModule(llvm::Module &module, llvm::TargetMachine &machine,
                      const GpuTarget &target);

// Code generation, to an object file or to assembly. Both change `module`.
ErrorOr<ObjectBytes> emitObject(llvm::Module &module,
                                llvm::TargetMachine &machine);
ErrorOr<std::string> emitAssembly(llvm::Module &module,
                                  llvm::TargetMachine &machine);

} // namespace tessera

#endif // TESSERA_COMPILER_TARGET_CODEGEN_CODEGEN_H
