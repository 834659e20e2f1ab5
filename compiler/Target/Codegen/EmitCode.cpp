//===- EmitCode.cpp - From LLVM IR to an object file or assembly ----------===//

#include "compiler/Target/Codegen/Codegen.h"
#include "compiler/Target/Codegen/LlvmDiagnostics.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace tessera;

static Status emit(llvm::Module &module, llvm::TargetMachine &machine,
                   llvm::CodeGenFileType type,
                   llvm::SmallVectorImpl<char> &output) {
  LlvmDiagnostics diagnostics(module.getContext());
  llvm::raw_svector_ostream stream(output);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return internalError("the backend cannot emit this kind of file");
  passes.run(module);
  return diagnostics.getStatus();
}

ErrorOr<ObjectBytes> tessera::emitObject(llvm::Module &module,
                                         llvm::TargetMachine &machine) {
  llvm::SmallVector<char, 0> output;
  Status status =
      emit(module, machine, llvm::CodeGenFileType::ObjectFile, output);
  if (!status.isOk())
    return status;
  return ObjectBytes(output.begin(), output.end());
}

ErrorOr<std::string> tessera::emitAssembly(llvm::Module &module,
                                           llvm::TargetMachine &machine) {
  llvm::SmallVector<char, 0> output;
  Status status =
      emit(module, machine, llvm::CodeGenFileType::AssemblyFile, output);
  if (!status.isOk())
    return status;
  return std::string(output.begin(), output.end());
}
