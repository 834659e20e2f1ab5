//===- CompileContext.cpp - State that compilations reuse -----------------===//

#include "compiler/Pipeline/CompileContext.h"
#include "compiler/Target/Codegen/Codegen.h"
#include "dialect/IR/Dnn.h"
#include "dialect/Workgroup/Workgroup.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Target/TargetMachine.h"

using namespace tessera;

/// A context never frees an attribute that it has uniqued, so it is destroyed
/// after this many kernels.
static constexpr int kMaxUses = 256;

CompileContext::CompileContext() {
  mlir::DialectRegistry registry;
  registry.insert<dnn::DnnDialect, wg::WgDialect, mlir::func::FuncDialect>();
  registerTargetDialects(registry);
  // A kernel is too small for several threads; whole compilations run in
  // parallel instead.
  mlir = std::make_unique<mlir::MLIRContext>(
      registry, mlir::MLIRContext::Threading::DISABLED);
  mlir->loadAllAvailableDialects();
  // Diagnostics become one line of a Status.
  mlir->printOpOnDiagnostic(false);
}

CompileContext::~CompileContext() = default;

mlir::PassManager &CompileContext::getLowering(const GpuTarget &target) {
  std::unique_ptr<mlir::PassManager> &lowering = perTarget[&target].lowering;
  if (!lowering) {
    lowering = std::make_unique<mlir::PassManager>(mlir.get());
    addLowerToLlvmPasses(*lowering, target);
  }
  return *lowering;
}

ErrorOr<llvm::TargetMachine *>
CompileContext::getMachine(const GpuTarget &target) {
  std::unique_ptr<llvm::TargetMachine> &machine = perTarget[&target].machine;
  if (!machine) {
    ErrorOr<std::unique_ptr<llvm::TargetMachine>> made =
        createTargetMachine(target);
    if (!made)
      return made.getStatus();
    machine = std::move(*made);
  }
  return machine.get();
}

CompileContextPool::Loan CompileContextPool::borrow() {
  std::unique_ptr<CompileContext> context;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!idle.empty()) {
      context = std::move(idle.back());
      idle.pop_back();
    }
  }
  if (!context)
    context = std::make_unique<CompileContext>();
  ++context->uses;
  return Loan(*this, std::move(context));
}

void CompileContextPool::giveBack(std::unique_ptr<CompileContext> context) {
  if (context->uses >= kMaxUses)
    return;
  std::lock_guard<std::mutex> lock(mutex);
  idle.push_back(std::move(context));
}
