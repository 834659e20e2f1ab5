//===- WaveLowering.h - The threads of a program of waves ------*- C++ -*--===//
//
// Loops and arithmetic stay as they are; the other ops are calls of the
// emitters of compiler/Conversion/Cooperative.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_WORKGROUP_WAVELOWERING_H
#define TESSERA_COMPILER_CONVERSION_WORKGROUP_WAVELOWERING_H

#include "compiler/Conversion/Cooperative/PlaneHalo.h"
#include "compiler/Conversion/Cooperative/StepBody.h"
#include "compiler/Conversion/Workgroup/ProgramLowering.h"
#include "compiler/Conversion/Workgroup/WaveProgram.h"

namespace tessera {

/// What a program of waves is made of.
struct WavePlan {
  wg::ProgramOp program;
  TileProgram parts;
  wg::AllocOp bufferM, bufferN;
  llvm::SmallVector<wg::AllocOp> tables;
  wg::AllocOp staging;   ///< Of results; may be null.
  bool isPinned = false; ///< Whether its steps are.

  /// Whether taps share the rows of M.
  bool isShared() { return bufferM.getType().isShared(); }
  /// Whether M's are windows, and the whole reduction is there at once.
  bool hasWindows() {
    return bufferM.getType().getLayout() == wg::Layout::Windows;
  }
  /// The memory of all buffers, and the place of a slot among them.
  llvm::SmallVector<mlir::Type> getLdsTypes();
  size_t getPlace(mlir::Value buffer, int64_t slot);
};

/// The plan of `program`; fails after an error at the op that this lowering
/// cannot make a kernel of.
llvm::FailureOr<WavePlan> readWavePlan(mlir::func::FuncOp function,
                                       wg::ProgramOp program,
                                       const GpuTarget &target);

/// The copies of an operand in a step, through registers.
struct WaveCopy {
  mlir::Value buffer;
  wg::PutOp put;
  wg::FetchOp fetch;
  wg::FetchOp later; ///< Of the step behind that of `fetch`.
};

/// The ops of a step by what they are to its products.
struct WaveStep {
  /// Of each part the fragments of M and of N; the first ones are values from
  /// outside.
  llvm::SmallVector<wg::LoadOp> loadsM, loadsN;
  wg::LoadOp nextM, nextN; ///< Behind the barrier.
  llvm::SmallVector<wg::MmaOp> products;
  wg::BarrierOp barrier;
  /// In the order of their first ops.
  llvm::SmallVector<WaveCopy, 2> copies;
  llvm::SmallVector<wg::FillOp> fills;
  wg::FlushOp flush;
  bool commits = false;
};

class WaveLowering : ProgramLowering {
public:
  WaveLowering(WavePlan &plan, mlir::OpBuilder &b, mlir::gpu::GPUFuncOp kernel,
               const DeviceOps &device);
  llvm::LogicalResult emit();

private:
  using ProgramLowering::lower;
  Emitter &getEmitter() override { return e; }
  llvm::LogicalResult lower(mlir::Operation *op) override;
  void forget(mlir::scf::ForOp) override { entered = {}; }
  void enterLoop(mlir::scf::ForOp loop);
  llvm::LogicalResult lowerStep(wg::StepOp step);
  llvm::LogicalResult findStep(wg::StepOp step, WaveStep &parts);
  llvm::LogicalResult multiplyAtOnce(wg::StepOp step);
  void multiplyRows(llvm::ArrayRef<wg::MmaOp> products, bool isPinned,
                    bool isHeld);
  llvm::LogicalResult yield(wg::StepOp step);
  void locateBlock(mlir::Value position);
  void lowerTile(wg::TileOp tile);
  std::unique_ptr<TileCopy> createWholeCopy(bool isM, mlir::Value row);
  void lowerTap(wg::TapOp tap);
  void enterTap(mlir::Value box, mlir::Operation *user);
  void lowerSharedTile(wg::TileOp tile);
  void findTapBytes(wg::TileOp tile);
  llvm::LogicalResult lowerCopy(mlir::Operation *op);
  void lowerLoad(wg::LoadOp load);
  void enterResult(wg::ResultOp result);
  void lowerStore(wg::StoreOp store);
  void lowerFlush(wg::FlushOp flush);
  void emitBarrier(wg::BarrierOp barrier);
  void emitZeros();
  void findThreads();
  void findProducts(llvm::function_ref<void()> findRows = {});
  StepBody::Actions makeCopies(WaveStep &step);
  StepBody::Actions makeRefills(WaveStep &step);
  StepBody::Actions addResults(wg::FlushOp flush, StepBody::Actions refills);
  void storePiece(wg::FlushOp flush, mlir::Value words, mlir::Value piece);
  /// Gives each of the op's instructions, which a step may emit later.
  using Add = llvm::function_ref<void(std::function<void()> emit)>;
  void forEachLoad(wg::FetchOp fetch, Add add);
  void forEachWrite(wg::PutOp put, Add add);
  void forEachFill(wg::FillOp fill, Add add);
  /// Fails after an error at `op`, which copies `box`, if its tile is at
  /// another tap.
  llvm::LogicalResult checkTap(mlir::Operation *op, mlir::Value box);

  bool isOfM(mlir::Value buffer) { return buffer == plan.bufferM.getResult(); }
  mlir::Value getSlot(mlir::Value buffer, int64_t slot) {
    return frame.lds[plan.getPlace(buffer, slot)];
  }
  mlir::Value readFragment(wg::LoadOp load, int64_t index);
  void enterTap(wg::LoadOp load);
  mlir::Value getSharedSlot(int64_t slot, mlir::Value behind);

  const Lists &getLists(mlir::Value source) { return values[source]; }

  WavePlan &plan;
  TileFrame frame;
  Emitter &e;
  TileFactor m, n;
  std::optional<TileMma> mma;
  bool hasThreads = false;
  bool hasLoads = false; ///< Whether loads of fragments may be under way.
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<TileCopy>> copies;
  llvm::DenseMap<mlir::Operation *, mlir::Value> taps; ///< Of each tile.
  /// The last copies that were located, of each operand.
  TileCopy *copyM = nullptr, *copyN = nullptr;
  /// Of rows that taps share: what reads them, what it knows of those of each
  /// tile, and the tile, the tap and the slot that it has entered here.
  HaloSource *source = nullptr;
  llvm::DenseMap<mlir::Operation *, HaloSource::Rows> rows;
  std::tuple<mlir::Operation *, int64_t, mlir::Value> entered;
  bool hasZeros = false; ///< Whether the line of zeros is written.
  /// Of tiles whose taps are constants apart: the bytes to each.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int64_t>> tapBytes;
  std::optional<StagedStore> staged;
  ViewAccess resultAccess;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_WORKGROUP_WAVELOWERING_H
