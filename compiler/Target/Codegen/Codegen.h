//===- Codegen.h - From a gpu.module to machine code -----------*- C++ -*-===//
//
// The steps behind the IR, in the order in which the pipeline takes them; the
// same for every vendor (Backend.h says what differs):
//
//   gpu.module ─lower─► llvm dialect ─translate─► LLVM module ─optimise─►
//     ─emit─► object file (AMDGPU) or assembly (PTX)
//
// Everything happens in this process and in memory. The header names no LLVM
// type that it could forward declare, so that the pipeline compiles quickly.
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

using ObjectBytes = std::vector<char>;

/// LLVM's backend for `target`; the first call registers all of them. Safe
/// from any thread.
ErrorOr<const llvm::Target *> findLlvmTarget(const GpuTarget &target);

/// LLVM's code generator for `target`. Not safe to use from two threads at
/// once; may be used for one module after another.
ErrorOr<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const GpuTarget &target);

/// The dialects of stage `gpu`, with what addLowerToLlvmPasses() and
/// translateModule() ask of them.
void registerTargetDialects(mlir::DialectRegistry &registry);

/// Appends the passes that turn every gpu.module under a module of stage `gpu`
/// into the llvm dialect and the vendor's (rocdl, nvvm).
void addLowerToLlvmPasses(mlir::OpPassManager &passes, const GpuTarget &target);

/// LLVM IR for a gpu.module that holds nothing but those ops, with all that
/// `target` needs: triple, data layout, code object version, features. An
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
Status optimizeModule(llvm::Module &module, llvm::TargetMachine &machine,
                      const GpuTarget &target);

/// Code generation; changes `module`.
ErrorOr<ObjectBytes> emitObject(llvm::Module &module,
                                llvm::TargetMachine &machine);
ErrorOr<std::string> emitAssembly(llvm::Module &module,
                                  llvm::TargetMachine &machine);

} // namespace tessera

#endif // TESSERA_COMPILER_TARGET_CODEGEN_CODEGEN_H
