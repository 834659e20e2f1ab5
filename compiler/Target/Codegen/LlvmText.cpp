//===- LlvmText.cpp - Parse and print the text of stage llvm --------------===//

#include "compiler/Target/Codegen/Backend.h"
#include "compiler/Target/Codegen/Codegen.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace tessera;

/// Checks that the module is for `target`. Without this check, code for another
/// chip would be generated silently, since function attributes take precedence
/// over the code generator's target.
static Status checkTarget(const llvm::Module &module, const GpuTarget &target) {
  const char *triple = getBackend(target).triple;
  if (module.getTargetTriple().str() != triple)
    return invalidArgument("the LLVM IR is for '" +
                           module.getTargetTriple().str() + "', not for " +
                           triple);
  for (const llvm::Function &function : module) {
    llvm::Attribute chip = function.getFnAttribute("target-cpu");
    if (chip.isValid() &&
        chip.getValueAsString() != llvm::StringRef(target.name))
      return invalidArgument("the LLVM IR is for " +
                             chip.getValueAsString().str() + ", not for " +
                             std::string(target.name));
  }
  return Status::ok();
}

ErrorOr<std::unique_ptr<llvm::Module>>
tessera::parseLlvm(std::string_view text, llvm::LLVMContext &context,
                   const GpuTarget &target) {
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module =
      llvm::parseAssemblyString(llvm::StringRef(text), diagnostic, context);
  if (!module)
    return invalidArgument("line " + std::to_string(diagnostic.getLineNo()) +
                           ": " + diagnostic.getMessage().str());
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (llvm::verifyModule(*module, &stream))
    return invalidArgument("invalid LLVM IR: " + message);
  Status status = checkTarget(*module, target);
  if (!status.isOk())
    return status;
  return module;
}

std::string tessera::printLlvm(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}
