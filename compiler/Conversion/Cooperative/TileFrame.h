//===- TileFrame.h - A workgroup's tile, while it is lowered ---*- C++ -*--===//
//
// What every way to multiply a tile has at hand: the kernel function and its
// LDS, the threads, the tile's place, buffers, copies, products and the store.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COOPERATIVE_TILEFRAME_H
#define TESSERA_COMPILER_CONVERSION_COOPERATIVE_TILEFRAME_H

#include "compiler/Conversion/Common/SizeArguments.h"
#include "compiler/Conversion/Cooperative/TileCopy.h"
#include "compiler/Conversion/Cooperative/TileMma.h"
#include "compiler/Conversion/Cooperative/TileProgram.h"

namespace tessera {

/// An LDS buffer of a program.
mlir::Type getLdsType(TileProgram &program, int64_t elements);

/// What a launch is: a number of workgroups, of unknown sizes an expression,
/// and how many of them share a compute unit if that is known.
struct TileLaunch {
  int64_t workgroups;
  std::optional<SizeExpr> openWorkgroups;
  std::optional<int64_t> perUnit;
};

/// The kernel function of a program, with the LDS that it declares.
mlir::gpu::GPUFuncOp createTileFunction(TileProgram &program,
                                        llvm::ArrayRef<mlir::Type> lds,
                                        const TileLaunch &launch,
                                        const DeviceOps &device);

/// Not owned by anything that outlives the lowering of a function.
struct TileFrame {
  SizeArguments sizes;
  Emitter e;
  TileProgram &program;
  mlir::gpu::GPUFuncOp function;
  const GpuTarget &target;
  mlir::Value thread, lane, wave, block;
  mlir::Value group, row0, column0;
  llvm::SmallVector<mlir::Value> lds;
  ViewAccess accessM, accessN;

  TileFrame(mlir::OpBuilder &b, TileProgram &program,
            mlir::gpu::GPUFuncOp function, const DeviceOps &device);
  /// Finds the lane, the wave and LDS of these types.
  void findThreads(llvm::ArrayRef<mlir::Type> ldsTypes);

  mlir::Value getArgument(mlir::Value source);
  GlobalBuffer getBuffer(const ViewAccess &access, mlir::Value first,
                         int64_t headroom = 0);
  TileMma makeMma(LdsTile ldsM, LdsTile ldsN,
                  const SourceFactory &sourceM = nullptr,
                  const SourceFactory &sourceN = nullptr) {
    return makeMma(program.instruction, ldsM, ldsN, sourceM, sourceN);
  }
  TileMma makeMma(const MatrixInstruction &instruction, LdsTile ldsM,
                  LdsTile ldsN, const SourceFactory &sourceM = nullptr,
                  const SourceFactory &sourceN = nullptr);
  /// Stores the sums of the tile, or gives them to `put` (EpilogueInputs).
  void
  emitStore(const TileMma &mma, llvm::ArrayRef<mlir::Value> accumulators,
            llvm::function_ref<void(mlir::Value, int64_t, int64_t)> put = {});
  /// The store of a pipeline. Where P was transposed, a lane's sums are pairs:
  /// of two bytes each they are too short to be stored so.
  void emitDealtStore(const TileMma &mma,
                      llvm::ArrayRef<mlir::Value> accumulators);
};

/// One factor of a pipeline: how it comes to LDS and lies there.
struct TileFactor {
  const ViewAccess &access;
  LdsTile lds;
  bool isTransposed; ///< TransposedCopy.h.
  /// LDS for the table of a copy of planes (PlaneCopy.h), if it needs one.
  mlir::Value table;
};

/// The factor of `access`, of which a tile has `rows` rows.
TileFactor chooseFactor(TileProgram &program, const GpuTarget &target,
                        const ViewAccess &access, int64_t rows);
/// The copy of a factor whose rows begin at `first`.
std::unique_ptr<TileCopy> createCopy(TileFrame &f, const TileFactor &factor,
                                     mlir::Value first);
/// What reads a factor's fragments; null if TileMma knows how.
SourceFactory makeSource(TileFrame &f, const TileFactor &factor, bool isP);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_TILEFRAME_H
