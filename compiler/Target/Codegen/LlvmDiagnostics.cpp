//===- LlvmDiagnostics.cpp - Turn LLVM's errors into a Status -------------===//

#include "compiler/Target/Codegen/LlvmDiagnostics.h"

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/raw_ostream.h"

using namespace tessera;

namespace {
struct Collector : llvm::DiagnosticHandler {
  explicit Collector(std::string &errors) : errors(errors) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error)
      return true; // Remarks and warnings are for authors of LLVM IR.
    llvm::raw_string_ostream stream(errors);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    if (!errors.empty())
      stream << "; ";
    info.print(printer);
    return true;
  }

  std::string &errors;
};
} // namespace

LlvmDiagnostics::LlvmDiagnostics(llvm::LLVMContext &context)
    : context(context), previous(context.getDiagnosticHandler()) {
  context.setDiagnosticHandler(std::make_unique<Collector>(errors));
}

LlvmDiagnostics::~LlvmDiagnostics() {
  context.setDiagnosticHandler(std::move(previous));
}

Status LlvmDiagnostics::getStatus() const {
  return errors.empty() ? Status::ok() : internalError("LLVM: " + errors);
}
