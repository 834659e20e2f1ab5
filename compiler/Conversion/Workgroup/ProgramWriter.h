//===- ProgramWriter.h - The programs that pipelines become ----*- C++ -*--===//
//
// What they have in common: a workgroup walks tiles for as long as there are
// any. Its copiers run ahead, through the end of one tile into the next, as far
// as stages reach; the consumers multiply, release stages and store. What a
// step is, and who copies what for it, differs: two operands (PairProgram.cpp),
// or pixels that all taps share, of a tile (HaloProgram.cpp) or as the
// reduction (SlidingProgram.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_WORKGROUP_PROGRAMWRITER_H
#define TESSERA_COMPILER_CONVERSION_WORKGROUP_PROGRAMWRITER_H

#include "compiler/Conversion/Hopper/HopperPlan.h"
#include "compiler/Conversion/Hopper/Wgmma.h"
#include "compiler/Conversion/Workgroup/ProgramSizes.h"
#include "dialect/Workgroup/Workgroup.h"

#include <memory>

namespace tessera {

/// Gives `store` the epilogue of a tile program.
void copyEpilogue(Emitter &e, dnn::TileStoreOp from, wg::StoreOp store);

class ProgramWriter {
public:
  /// What it is written from, and to: at `b`, for a workgroup of that number.
  struct Context {
    TileProgram &program;
    const HopperPlan &plan;
    mlir::Value workgroup, rank;
    mlir::OpBuilder &b;
    const DeviceOps &device;
  };
  explicit ProgramWriter(const Context &context);
  virtual ~ProgramWriter() = default;
  void emit();

protected:
  using Body = llvm::function_ref<void(mlir::Value)>;

  /// The stages of the buffers, and the roles that fill them.
  virtual void emitStages() = 0;
  virtual void emitCopiers() = 0;
  /// The sums of a tile of `group`. Calls `onIssued` where all products have
  /// been issued.
  virtual mlir::Value multiply(mlir::Value group,
                               llvm::function_ref<void()> onIssued) = 0;
  /// Goes behind a tile that another consumer multiplies, in ping-pong.
  virtual void skipTile(mlir::Value tile) {}

  mlir::Value makeStages(mlir::ValueRange buffers, int64_t readers,
                         int64_t preparers = 0);
  void emitCopier(llvm::StringRef name, llvm::function_ref<void()> body);
  /// The warps that copiers leave.
  void emitPreparers(llvm::StringRef name, llvm::function_ref<void()> body);
  void forEachTile(mlir::Value first, const OpenNumber &stride, Body body);
  /// Calls `body` with the numbers from `first` to `last`, if there may be any,
  /// and what it carries.
  mlir::Value
  forEachStep(mlir::Value first, mlir::Value last, mlir::Value carried,
              llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> body);
  void forEachStep(mlir::Value count, Body body);
  ResultTile locateTile(mlir::Value tile);
  wg::BoxOp emitBox(dnn::TileLoadOp load, const TmaOperand &operand,
                    mlir::Value group, mlir::Value row, bool isShared = false);
  mlir::Value sliceRows(mlir::Value buffer, int64_t rows, mlir::Value first);
  /// Null for all instructions of a step.
  mlir::DenseI64ArrayAttr getShares(Wgmma::Shares shares);

  ProgramSizes sizes;
  Emitter e;
  TileProgram &program;
  const HopperPlan &plan;
  const HopperShape &shape;
  mlir::Value workgroup, rank;
  mlir::Value bufferA, bufferB, staging;
  mlir::Value consumer; ///< The warpgroup's number among those that multiply,
  mlir::Value rowsA;    ///< and its rows.
  wg::AccType acc;

private:
  wg::BufferType getBufferType(int64_t slots, int64_t rows, mlir::Type element,
                               const TmaOperand *operand);
  wg::BufferType getSlidingType(mlir::Type element);
  void emitBuffers();
  enum class Threads { One, Warps, Warpgroups };
  void emitRole(llvm::StringRef name, Threads threads, int64_t count,
                int64_t registers, Body body);
  wg::ResultOp emitResult(const ResultTile &tile);
  void emitStore(mlir::Value sums, mlir::Value result);
  void storeShare(mlir::Value sums, ResultTile tile);
  void emitTile(mlir::Value tile);
  void emitConsumer();
};

std::unique_ptr<ProgramWriter>
makePairProgram(const ProgramWriter::Context &context);
std::unique_ptr<ProgramWriter>
makeHaloProgram(const ProgramWriter::Context &context);
std::unique_ptr<ProgramWriter>
makeSlidingProgram(const ProgramWriter::Context &context);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_WORKGROUP_PROGRAMWRITER_H
