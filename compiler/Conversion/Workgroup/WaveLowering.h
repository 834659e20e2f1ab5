//===- WaveLowering.h - The threads of a program of waves ------*- C++ -*--===//
//
// Loops and arithmetic stay as they are; the other ops are calls of the
// emitters of compiler/Conversion/Cooperative.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_WORKGROUP_WAVELOWERING_H
#define TESSERA_COMPILER_CONVERSION_WORKGROUP_WAVELOWERING_H

#include "compiler/Conversion/Cooperative/StepBody.h"
#include "compiler/Conversion/Workgroup/WaveProgram.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tessera {

/// What a program of waves is made of.
struct WavePlan {
  wg::ProgramOp program;
  TileProgram parts;
  wg::AllocOp bufferM, bufferN;
  llvm::SmallVector<wg::AllocOp> tables;
  bool isPinned = false; ///< Whether its steps are.
};

/// The plan of `program`; fails after an error at the op that this lowering
/// cannot make a kernel of.
llvm::FailureOr<WavePlan> readWavePlan(mlir::func::FuncOp function,
                                       wg::ProgramOp program,
                                       const GpuTarget &target);

/// The ops of a step by what they are to its products.
struct WaveStep {
  /// Of each part the fragments of M and of N; the first ones are values from
  /// outside.
  llvm::SmallVector<wg::LoadOp> loadsM, loadsN;
  wg::LoadOp nextM, nextN; ///< Behind the barrier.
  llvm::SmallVector<wg::MmaOp> products;
  wg::BarrierOp barrier;
  wg::PutOp putM, putN;
  wg::FetchOp fetchM, fetchN;
  llvm::SmallVector<wg::FillOp> fills;
  bool commits = false;
};

class WaveLowering {
public:
  WaveLowering(WavePlan &plan, mlir::OpBuilder &b, mlir::gpu::GPUFuncOp kernel,
               const DeviceOps &device);
  llvm::LogicalResult emit();

private:
  using Values = llvm::SmallVector<mlir::Value>;
  /// What a value becomes; pieces have values for each pass of their copy.
  using Lists = llvm::SmallVector<Values>;

  llvm::LogicalResult lower(mlir::Block &block);
  llvm::LogicalResult lower(mlir::Operation *op);
  llvm::LogicalResult lowerLoop(mlir::scf::ForOp loop);
  llvm::LogicalResult lowerStep(wg::StepOp step);
  llvm::LogicalResult findStep(wg::StepOp step, WaveStep &parts);
  void clone(mlir::Operation *op);
  void lowerTile(wg::TileOp tile);
  void lowerLoad(wg::LoadOp load);
  void lowerFetch(wg::FetchOp fetch);
  void emitBarrier(wg::BarrierOp barrier);
  void findThreads();
  void findProducts();
  StepBody::Actions makeCopies(WaveStep &step);
  StepBody::Actions makeRefills(WaveStep &step);
  /// The copy of a box that is at its tap; null after an error at `op`.
  TileCopy *findCopy(mlir::Operation *op, mlir::Value box);

  bool isOfM(mlir::Value buffer) { return buffer == plan.bufferM.getResult(); }
  mlir::Value getSlot(mlir::Value buffer, int64_t slot) {
    return frame.lds[2 * slot + (isOfM(buffer) ? 0 : 1)];
  }
  mlir::Value readFragment(wg::LoadOp load, int64_t index);

  mlir::Value get(mlir::Value source);
  const Lists &getAll(mlir::Value source) { return values[source]; }
  void map(mlir::Value source, mlir::Value target) {
    values[source] = {{target}};
  }

  WavePlan &plan;
  TileFrame frame;
  Emitter &e;
  TileFactor m, n;
  std::optional<TileMma> mma;
  bool hasThreads = false;
  bool hasLoads = false; ///< Whether loads of fragments may be under way.
  llvm::DenseMap<mlir::Value, Lists> values;
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<TileCopy>> copies;
  llvm::DenseMap<mlir::Operation *, mlir::Value> taps; ///< Of each tile.
  /// The last copies that were located, of each operand.
  TileCopy *copyM = nullptr, *copyN = nullptr;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_WORKGROUP_WAVELOWERING_H
