//===- LlvmDiagnostics.h - Turn LLVM's errors into a Status ----*- C++ -*--===//

#ifndef TESSERA_COMPILER_TARGET_CODEGEN_LLVMDIAGNOSTICS_H
#define TESSERA_COMPILER_TARGET_CODEGEN_LLVMDIAGNOSTICS_H

#include "runtime/Base/Status.h"

#include "llvm/IR/DiagnosticHandler.h"

#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
} // namespace llvm

namespace tessera {

/// Collects the errors that LLVM reports to a context while this object lives.
/// Without a handler LLVM would print an error and end the process. Lives on
/// the stack of the thread that uses the context.
class LlvmDiagnostics {
public:
  explicit LlvmDiagnostics(llvm::LLVMContext &context);
  ~LlvmDiagnostics();
  LlvmDiagnostics(const LlvmDiagnostics &) = delete;
  LlvmDiagnostics &operator=(const LlvmDiagnostics &) = delete;

  /// Returns an internal error with the text of every error so far, or ok.
  Status getStatus() const;

private:
  llvm::LLVMContext &context;
  std::unique_ptr<llvm::DiagnosticHandler> previous;
  std::string errors;
};

} // namespace tessera

#endif // TESSERA_COMPILER_TARGET_CODEGEN_LLVMDIAGNOSTICS_H
