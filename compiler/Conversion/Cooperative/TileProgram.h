//===- TileProgram.h - A kernel function, found and checked ----*- C++ -*--===//
//
// The lowering builds lanes and addresses from a handful of ops, and trusts
// that they fit together: that the step of the pipeline is the width of its
// tiles, that the views walk the same reduction, that nothing else is in the
// way. Here that trust is earned. Text from outside comes in through this file.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COOPERATIVE_TILEPROGRAM_H
#define TESSERA_COMPILER_CONVERSION_COOPERATIVE_TILEPROGRAM_H

#include "compiler/Conversion/Cooperative/PlaneHalo.h"
#include "compiler/Conversion/Cooperative/ResidentTile.h"
#include "compiler/Conversion/Cooperative/StagedStore.h"
#include "compiler/Conversion/Cooperative/TileCopy.h"
#include "compiler/Conversion/Cooperative/WindowTile.h"
#include "compiler/Target/MatrixInstruction.h"
#include "dialect/IR/Dnn.h"
#include "runtime/Base/GpuTarget.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera {

/// One tile program and what follows from it. A program of waves
/// (docs/design/0035-workgroup-level.md) has the same parts, but not these ops.
struct TileProgram {
  mlir::func::FuncOp function;
  dnn::ForEachTileOp tiles;
  dnn::PipelineOp pipeline;
  dnn::TileLoadOp loadM;
  dnn::TileLoadOp loadN;
  dnn::TileMmaOp mma;
  dnn::TileStoreOp store;

  dnn::ViewOp viewM, viewN, viewD; ///< Of the operands and the result.
  llvm::SmallVector<dnn::ViewOp> extras;
  mlir::Region *epilogue = nullptr; ///< May be empty.
  bool isAtomic = false;
  int64_t rowsM = 0, rowsN = 0; ///< Of a tile.
  int64_t step = 0;             ///< Elements of the reduction.
  int64_t buffers = 0;
  bool isDirect = false; ///< Whether tiles go directly to LDS.
  llvm::SmallVector<int64_t, 2> waves;
  bool lanesAlongN = false;
  mlir::StringRef instructionName;
  mlir::Type sumType; ///< Of an element.
  /// Where errors are told: what brings an operand, loops, multiplies, stores.
  mlir::Operation *opM = nullptr, *opN = nullptr, *opLoop = nullptr,
                  *opMma = nullptr, *opStore = nullptr;

  MatrixInstruction instruction;
  int64_t threads = 0;
  /// Of a pipeline: how it walks the reduction.
  ReductionWalk walk;
  /// Of a pipeline whose taps share pixels that go directly to LDS.
  HaloLines halo;
  /// Of a pipeline whose taps share planes of pixels.
  PlaneHalo planeHalo;
  /// The halo that there is of the two, or null.
  const HaloLines *findHalo() const {
    const HaloLines *found = halo.lines > 0 ? &halo : &planeHalo;
    return found->lines > 0 ? found : nullptr;
  }
  /// Results that are stored by whole rows; of a pipeline with a halo that goes
  /// directly to LDS, while the next ones come.
  std::optional<StagedTile> staged;
  /// Whether they lie where the operands do.
  bool isStagedOver = false;
  /// Of a program that loads its reduction at once: how LDS holds it.
  WindowTile window;
  ResidentTile resident;
  bool hasWindows() const { return window.height > 0; }

  int64_t countTiles() {
    llvm::ArrayRef<int64_t> counts = tiles.getCounts();
    return counts[0] * counts[1] * counts[2];
  }
  /// Of unknown sizes.
  SizeExpr countOpenTiles() {
    return countTilesM().toExpr() *
           (countGroups() * tiles.getCounts()[2]).toExpr();
  }
  /// Splits of the reduction, of which sizes may decide, and the groups that
  /// have tiles then.
  OpenNumber countSplits();
  OpenNumber countGroups() {
    const auto most = static_cast<int64_t>(pipeline.getSplits().value_or(1));
    return countSplits() * (tiles.getCounts()[0] / most);
  }
  /// Tiles along m, as many as cover the stored view.
  OpenNumber countTilesM();
  /// Whether a tensor, or a dimension of the product, has an unknown size.
  bool hasUnknownSizes();
  int64_t getWorkgroups() {
    int64_t most = tiles.getPersistent().value_or(countTiles());
    return std::min(countTiles(), most);
  }

  /// Whether one buffer holds the whole reduction, and nothing is pipelined.
  bool isWhole() { return pipeline.getBuffers() == 1; }

  /// Whether tiles come by TMA. Of a program that copies by TMA, `instruction`,
  /// `walk` and `threads` are not set.
  bool isTma() { return pipeline.getCopy() == dnn::CopyKind::Tma; }
  /// The same of a program whose images stay in shared memory (Ampere).
  bool isAmpere() { return pipeline.getCopy() == dnn::CopyKind::CpAsync; }
  /// 32-bit registers of one lane that hold sums.
  int64_t getAccumulatorRegisters();

  /// The view op behind a load or the store.
  static dnn::ViewOp getView(mlir::Value view) {
    return view.getDefiningOp<dnn::ViewOp>();
  }
};

/// Fills `program` from `function`; emits an error at the op that does not fit
/// and fails if this lowering cannot do right by it on `target`.
mlir::LogicalResult matchTileProgram(mlir::func::FuncOp function,
                                     const GpuTarget &target,
                                     TileProgram &program);

/// Fails after an error at `op` unless every address of a tile of `rows` rows
/// of `view` fits the offsets of one descriptor, and every coordinate 32 bits.
mlir::LogicalResult checkReach(mlir::Operation *op, mlir::Value view,
                               int64_t rows);
/// The same of all that the program's store writes, and reads in its epilogue.
mlir::LogicalResult checkStoreReach(TileProgram &program, int64_t rows);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_TILEPROGRAM_H
