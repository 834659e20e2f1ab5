//===- CompileContext.h - What outlives one compilation --------*- C++ -*-===//
//
// An MLIR context with its dialects and a pass manager with its patterns cost
// as much to make as some stages cost to run, and none may be used by two
// threads at once. So they are kept, and each compilation borrows a set.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_PIPELINE_COMPILECONTEXT_H
#define TESSERA_COMPILER_PIPELINE_COMPILECONTEXT_H

#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/GpuTarget.h"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace mlir {
class MLIRContext;
class PassManager;
} // namespace mlir

namespace tessera {

/// What one compilation works with. Used by one thread at a time.
class CompileContext {
public:
  CompileContext();
  ~CompileContext();

  mlir::MLIRContext &getMlir() { return *mlir; }

  /// The passes from stage `gpu` to the llvm dialect.
  mlir::PassManager &getLowering(const GpuTarget &target);

  /// LLVM's code generator.
  ErrorOr<llvm::TargetMachine *> getMachine(const GpuTarget &target);

private:
  friend class CompileContextPool;

  /// Made on first use, in this order, and destroyed before `mlir`.
  struct PerTarget {
    std::unique_ptr<mlir::PassManager> lowering;
    std::unique_ptr<llvm::TargetMachine> machine;
  };

  std::unique_ptr<mlir::MLIRContext> mlir;
  std::map<const GpuTarget *, PerTarget> perTarget;
  int uses = 0;
};

/// Lends contexts and takes them back; makes one when all are lent. Safe from
/// any thread; must outlive its loans.
class CompileContextPool {
public:
  /// A borrowed context; goes back when the loan ends.
  class Loan {
  public:
    Loan(CompileContextPool &pool, std::unique_ptr<CompileContext> context)
        : pool(pool), context(std::move(context)) {}
    Loan(const Loan &) = delete;
    Loan &operator=(const Loan &) = delete;
    ~Loan() { pool.giveBack(std::move(context)); }

    CompileContext &operator*() { return *context; }

  private:
    CompileContextPool &pool;
    std::unique_ptr<CompileContext> context;
  };

  Loan borrow();

private:
  void giveBack(std::unique_ptr<CompileContext> context);

  std::mutex mutex;
  std::vector<std::unique_ptr<CompileContext>> idle;
};

} // namespace tessera

#endif // TESSERA_COMPILER_PIPELINE_COMPILECONTEXT_H
