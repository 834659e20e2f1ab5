//===- HaloLoop.h - A main loop whose taps share pixels --------*- C++ -*--===//
//
// The loop goes over blocks of channels, and is written out over the taps of a
// block: the pixels of HaloLines.h come a block ahead, spread over its steps;
// the filter has a buffer for each of some steps, as in WaveProgram.cpp.
// Workgroups go from tile to tile without waiting for memory: the block ahead
// of a tile's last is the first of the next.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COOPERATIVE_HALOLOOP_H
#define TESSERA_COMPILER_CONVERSION_COOPERATIVE_HALOLOOP_H

#include "compiler/Conversion/Cooperative/HaloLines.h"
#include "compiler/Conversion/Cooperative/StepBody.h"
#include "compiler/Conversion/Cooperative/TileCopy.h"

namespace tessera {

/// The way to LDS of both factors for one block of channels of one tile.
struct HaloBlock {
  HaloCopy pixels;
  std::unique_ptr<TileCopy> filter;
  mlir::Value position; ///< Of the filter, in bytes of the inner walk.
};

/// What each block carries along: pieces of something on their way from LDS to
/// memory.
struct HaloPieces {
  int64_t perBlock = 0;
  /// Piece `piece` of block `block`.
  llvm::function_ref<mlir::Value(mlir::Value block, int64_t piece)> read;
  llvm::function_ref<void(mlir::Value words, mlir::Value block, int64_t piece)>
      store;
};

class HaloLoop {
public:
  using Values = StepBody::Values;
  /// Makes block `block` of tile `tile`.
  using MakeBlock =
      llvm::function_ref<HaloBlock(mlir::Value tile, mlir::Value block)>;

  /// `source` is that of m in `mma`; `lds` holds the halo, `buffers` the steps
  /// of the filter.
  HaloLoop(Emitter &e, const HaloLines &halo, HaloSource &source, TileMma &mma,
           int64_t blocks, mlir::Value lds, Values buffers, bool pinned,
           MakeBlock makeBlock)
      : e(e), halo(halo), source(source), mma(mma), blocks(blocks), lds(lds),
        buffers(std::move(buffers)), body(e, mma, pinned),
        makeBlock(makeBlock) {}

  /// Brings what comes first of `tile`, and waits for it.
  void emitFirst(mlir::Value tile, mlir::Value thread);
  /// Multiplies `tile`, which the source has entered and whose first block lies
  /// in the buffer at byte `buffer`; brings the first block of tile `next` into
  /// the one that `buffer` is set to. Returns the accumulators.
  Values emitTile(mlir::Value tile, mlir::Value next, mlir::Value &buffer,
                  const HaloPieces &pieces);

private:
  /// What goes from one step to the next.
  struct State {
    Values accumulators, fragments;
  };

  int64_t countTaps() const { return std::ssize(halo.taps); }
  int64_t getSteps() const { return std::ssize(buffers); }
  /// Steps that may be on their way when the next one is needed: those that
  /// have buffers, and half a block's, whose pixels come in the other half.
  int64_t getStepsInFlight() const {
    return std::min(getSteps() - 2, countTaps() / 2);
  }
  /// A block that is multiplied, and the one that comes meanwhile.
  struct Turn {
    mlir::Value block;
    mlir::Value buffer, otherBuffer; ///< Bytes of LDS, of their pixels.
    HaloBlock here, ahead;
    const HaloPieces &pieces;
  };

  void emitStep(State &state, int64_t tap, Turn &turn);
  StepBody::Actions makeRefills(int64_t tap, Turn &turn);
  StepBody::Actions carryPieces(int64_t tap, Turn &turn,
                                StepBody::Actions refills);
  void loadFilter(HaloBlock &block, int64_t tap, unsigned pass);
  mlir::Value readFragment(int64_t index, int64_t chunk, int64_t tap);
  void emitBarrier(int64_t stepsInFlight);

  Emitter &e;
  const HaloLines &halo;
  HaloSource &source;
  TileMma &mma;
  int64_t blocks;
  mlir::Value lds;
  Values buffers;
  StepBody body;
  MakeBlock makeBlock;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_HALOLOOP_H
