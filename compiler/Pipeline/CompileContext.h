//===- CompileContext.h - State that compilations reuse --------*- C++ -*--===//
//
// An MLIR context with its dialects and a pass manager with its patterns take
// as long to create as some stages take to run, and none may be used by two
// threads at once. So they are pooled, and each compilation borrows one set.
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

/// The reusable state of a compilation. Used by one thread at a time.
class CompileContext {
public:
  CompileContext();
  ~CompileContext();

  mlir::MLIRContext &getMlir() { return *mlir; }

  /// Returns the passes from stage `gpu` to the llvm dialect.
  mlir::PassManager &getLowering(const GpuTarget &target);

  /// Returns LLVM's code generator.
  ErrorOr<llvm::TargetMachine *> getMachine(const GpuTarget &target);

private:
  friend class CompileContextPool;

  /// Members are created on first use, in this order, and destroyed before
  /// `mlir`, to which the pass manager refers.
  struct PerTarget {
    std::unique_ptr<mlir::PassManager> lowering;
    std::unique_ptr<llvm::TargetMachine> machine;
  };

  std::unique_ptr<mlir::MLIRContext> mlir;
  std::map<const GpuTarget *, PerTarget> perTarget;
  int uses = 0;
};

/// Lends contexts and takes them back; creates one if none is idle. Safe to use
/// from any thread; must outlive its loans.
class CompileContextPool {
public:
  /// A borrowed context, which the destructor gives back.
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
