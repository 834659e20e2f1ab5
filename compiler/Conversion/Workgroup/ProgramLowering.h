//===- ProgramLowering.h - What all programs are lowered alike -*- C++ -*--===//
//
// Loops, arithmetic and sizes, of programs of roles and of waves.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_WORKGROUP_PROGRAMLOWERING_H
#define TESSERA_COMPILER_CONVERSION_WORKGROUP_PROGRAMLOWERING_H

#include "compiler/Conversion/Common/Emitter.h"
#include "dialect/Workgroup/Workgroup.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tessera {

/// Fails after an error at the op whose expression of sizes cannot be read.
llvm::LogicalResult checkSizes(wg::ProgramOp program);

class ProgramLowering {
protected:
  using Values = llvm::SmallVector<mlir::Value>;
  /// What a value becomes; pieces have values for each pass of their copy.
  using Lists = llvm::SmallVector<Values>;

  virtual ~ProgramLowering() = default;
  virtual Emitter &getEmitter() = 0;
  virtual llvm::LogicalResult lower(mlir::Operation *op) = 0;
  /// What is known where `loop` begins is not known in it, nor behind it.
  virtual void forget(mlir::scf::ForOp loop) = 0;

  /// The ops of a block in their order, without its terminator.
  llvm::LogicalResult lower(mlir::Block &block);
  /// The loop carries `further` values in front of its own.
  llvm::LogicalResult lowerLoop(mlir::scf::ForOp loop,
                                llvm::ArrayRef<mlir::Value *> further = {});
  /// Divisions by sizes become multiplications.
  void clone(mlir::Operation *op);

  /// What `source` has become; a size that is still unknown here is computed.
  mlir::Value get(mlir::Value source);
  Values getAll(mlir::ValueRange sources);
  void map(mlir::Value source, llvm::ArrayRef<mlir::Value> targets) {
    values[source] = {Values(targets)};
  }

  llvm::DenseMap<mlir::Value, Lists> values;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_WORKGROUP_PROGRAMLOWERING_H
