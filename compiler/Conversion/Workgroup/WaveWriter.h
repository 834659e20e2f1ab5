//===- WaveWriter.h - Writes programs of waves -----------------*- C++ -*--===//
//
// What a tile program becomes whose waves do all the same: main loops
// (WaveProgram.cpp, WaveTiles.cpp), those whose taps share pixels
// (WaveHalo.cpp), and tiles that are multiplied at once (WaveWindows.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_WORKGROUP_WAVEWRITER_H
#define TESSERA_COMPILER_CONVERSION_WORKGROUP_WAVEWRITER_H

#include "compiler/Conversion/Workgroup/ProgramSizes.h"
#include "compiler/Conversion/Workgroup/WaveChoices.h"
#include "compiler/Conversion/Workgroup/WaveProgram.h"

namespace tessera {

/// Of rows that taps share: the tile whose rows they are, the tap, and where
/// the slot begins if no number says it.
struct SharedPlace {
  mlir::Value tile;
  int64_t tap = 0;
  mlir::Value behind;
};

class WaveWriter {
public:
  WaveWriter(TileProgram &program, const WaveChoices &choices,
             mlir::OpBuilder &b, wg::ProgramOp frame, const DeviceOps &device);
  void emit();

private:
  /// What there is of each operand; of M, and of N.
  struct Sides {
    mlir::Value m, n;
  };
  /// What goes from one step to the next.
  struct State {
    mlir::Value sums;
    Sides pieces; ///< Of the next step, on their way; none of direct copies.
    /// Of the step behind it, where both were fetched at once.
    Sides later;
    Sides fragments;

    llvm::SmallVector<mlir::Value> flatten() const;
    void unflatten(mlir::ValueRange values);
  };
  struct Position {
    mlir::Value group, row, column;
  };
  /// What a step fetches, and of lines what it fetches for the step behind.
  struct Next {
    Sides taps, laterTaps;
    mlir::Value at, laterAt;
    /// Of planes, whose taps the step itself goes to; else null.
    mlir::Value tap, laterTap;
  };

  Position locate(mlir::Value id);
  mlir::Value findNextTile(mlir::Value tile);
  mlir::Value allocate(int64_t slots, int64_t rows, int64_t columns,
                       std::pair<wg::Layout, int64_t> layout);
  mlir::Value allocateTable(const ViewAccess &access);
  mlir::Value makeTile(bool isM, const Position &at);
  Sides makeTiles(const Position &at);
  mlir::Value setTap(mlir::Value tile, mlir::Value tap);
  Sides setTap(const Sides &tiles, mlir::Value tap);
  mlir::Value findFirst(const Position &at);

  mlir::Value zero();
  mlir::Value load(bool isM, int64_t slot, int64_t part,
                   const SharedPlace &place = {});
  Sides loadFragments(int64_t slot, int64_t part);
  static wg::PiecesType getPiecesType(mlir::Value tile);
  void copyNext(bool isM, int64_t slot, const State &state, const Next &next,
                State &into);
  llvm::SmallVector<mlir::Type> getStepTypes(const State &state);
  mlir::Value fetch(mlir::Value tile, mlir::Value at,
                    mlir::DenseI64ArrayAttr part = {}, mlir::Value before = {});
  Sides fetch(const Sides &tiles, mlir::Value at);
  void put(mlir::Value pieces, bool isM, int64_t slot,
           mlir::DenseI64ArrayAttr part = {});
  void put(const Sides &pieces, int64_t slot);
  void fill(mlir::Value tile, mlir::Value at, bool isM, int64_t slot,
            mlir::Value behind = {}, mlir::DenseI64ArrayAttr part = {});
  void fill(const Sides &tiles, mlir::Value at, int64_t slot);
  void emitBarrier(int64_t stepsInFlight);
  mlir::Value multiply(const Sides &fragments, mlir::Value sums);
  wg::StepOp makeStep(mlir::TypeRange types);
  bool fetchesLines(bool isM) const {
    return isM ? choices.linesM : choices.linesN;
  }
  mlir::Value makeResult(const Position &at);
  void store(const Position &at, mlir::Value sums);
  void stageOverOperands();

  // Main loops.
  void copyFirstSteps(const Sides &tiles, State &state);
  State emitPrologue(const Sides &tiles, mlir::Value sums);
  std::pair<mlir::Value, mlir::Value> locateStep(mlir::Value position);
  std::pair<Sides, mlir::Value> enterStep(const Sides &tiles,
                                          mlir::Value position);
  Next findNext(const Sides &tiles, mlir::Value position, bool fetchesBoth);
  void emitStep(State &state, int64_t slot, const Sides &tiles,
                mlir::Value position);
  State emitInnerLoop(State state, const Sides &tiles, mlir::Value from,
                      mlir::Value to);
  State emitFlatLoop(State state, const Sides &tiles);
  State emitNestedLoop(State state, const Sides &tiles, int64_t taps);
  mlir::Value addFirst(mlir::Value position) {
    return first ? e.add(first, position) : position;
  }
  void emitOneTile();
  void emitTilesInTurn();

  // Where taps share pixels.
  struct Turn;
  struct Planes;
  int64_t countTaps() const { return std::ssize(program.findHalo()->taps); }
  int64_t countBlocks() const {
    return int64_t(program.walk.inner) / program.step;
  }
  mlir::DenseI64ArrayAttr getPart(int64_t part, int64_t parts);
  mlir::Value multiplyTap(const Sides &fragments, int64_t slotM, int64_t slotN,
                          const SharedPlace &place, mlir::Value sums);
  int64_t getStepsInFlight() const;
  void emitFirstBlock(const Position &at);
  void emitHaloStep(State &state, int64_t tap, const Turn &turn);
  State emitBlocks(mlir::Value tile, mlir::Value before, mlir::Value &slot);
  void emitHaloTiles();
  void emitPlaneStep(State &state, int64_t step, const Planes &planes);
  void emitPlaneHalo();

  // Where operands are in LDS as a whole.
  bool holdsFilter() const;
  void copyFilter(const Position &at);
  mlir::Value multiplyWhole(mlir::Value sums,
                            llvm::ArrayRef<mlir::Value> filter);
  void emitWindowTiles(mlir::Value id);
  void emitWindows();

  Emitter e;
  TileProgram &program;
  const WaveChoices &choices;
  ProgramSizes sizes;
  wg::ProgramOp frame;
  ViewAccess accessM, accessN;
  TileFactor m, n;
  int64_t stepBytes, parts;
  wg::AccType acc;
  wg::FragmentType fragmentM, fragmentN;
  Sides buffers, tables;
  mlir::Value staging; ///< Of results; null if they need none.
  mlir::Value first;   ///< Where a split begins, in bytes; null for 0.
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_WORKGROUP_WAVEWRITER_H
