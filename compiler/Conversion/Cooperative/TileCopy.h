//===- TileCopy.h - One factor's way from memory to LDS --------*- C++ -*--===//
//
// Every thread of the workgroup brings some pieces of each step: it loads them
// into registers and, a step later, writes them to LDS. What a piece is depends
// on what lies together in memory:
//
// - along the reduction: 16-byte chunks of a row (ChunkCopy.h), or of a plane
// of
//   pixels (PlaneCopy.h);
// - along the rows: blocks, transposed in registers (BlockCopy.h).
//
// Chips that load directly to LDS take no registers and write nothing
// (DirectCopy.h). Rows that taps share have copies of their own (HaloLines.h,
// PlaneHalo.h).
//
// How the reduction is walked decides what an address costs:
//
// - nested: an outer loop over the filter taps computes each piece's offset
//   and padding check once, and an inner loop over the channels adds one
//   scalar. No vector arithmetic is left in it. A tap that fails a check which
//   is the same for the whole workgroup is skipped.
// - stepped: one loop over steps, of which each computes the offsets of its
//   tap. For channels that a step divides, and a turn of the loop does not. Or
//   each step is some chunks of planes of pixels, for backward weights of NCHW.
// - flat: one loop over the whole reduction; each load finds its tap and
//   channel by division. For channels that a step does not divide.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COOPERATIVE_TILECOPY_H
#define TESSERA_COMPILER_CONVERSION_COOPERATIVE_TILECOPY_H

#include "compiler/Conversion/Common/GlobalBuffer.h"
#include "compiler/Conversion/Cooperative/LdsTile.h"

#include <array>
#include <memory>

namespace tessera {

/// How the main loop walks the reduction; the same for both factors.
struct ReductionWalk {
  enum class Kind { Nested, Stepped, Flat };
  Kind kind = Kind::Flat;
  unsigned innerDims = 0; ///< Reduction dimensions that the inner loop walks.
  int64_t outer = 1;      ///< Filter taps; 1 if the walk is flat.
  /// Channels; if flat, the padded reduction, and if it is split, that of one
  /// split.
  OpenNumber inner = 0;
  OpenNumber elements = 0; ///< Of the whole reduction, without padding.
  /// Stepped: the pixels of a plane, of which `inner` is whole chunks; 0 if a
  /// step is not chunks of planes.
  int64_t plane = 0;

  /// Whether offsets are computed for a tap, not for each load.
  bool hasTaps() const { return kind != Kind::Flat; }
};

class TileCopy {
public:
  virtual ~TileCopy() = default;

  /// Pieces that each thread brings in a step.
  unsigned getPasses() const { return passes; }
  /// Loads and LDS writes of one piece that the loop may spread.
  virtual unsigned getLoadParts() const { return 1; }
  virtual unsigned getWriteParts() const { return 1; }

  /// Computes the offsets of filter tap `tap` (of a walk that has taps); beyond
  /// the last tap every load is out of range. Of a walk by planes `tap` is the
  /// number of a step's first chunk.
  virtual void setTap(mlir::Value tap);
  /// From here on, loads are `bytes` behind those of the tap that was set,
  /// which nothing checks.
  void moveTap(int64_t bytes) { moved = bytes; }
  /// From here on, a direct copy goes to the slot that begins so many bytes of
  /// LDS behind the buffer, if slots may be swapped.
  virtual void setSlot(mlir::Value /*bytes*/) {}
  /// Where rows that taps share begin at `position` is computed here, and not
  /// with their loads.
  void locate(mlir::Value position) {
    if (!blocks.contains(position))
      blocks[position] = findBlock(position);
  }
  /// Whether tap `tap` holds anything for this workgroup (nested walk only);
  /// null if every tap does, which does not depend on the tap.
  mlir::Value emitTapExists(mlir::Value tap);
  static bool mayLackTaps(const ViewAccess &access, const ReductionWalk &walk);

  /// Appends part `part` of piece `pass` of the step at `position` bytes of the
  /// inner walk to `pieces`, or brings it to the LDS buffer `buffer`, which
  /// copies through registers do not read.
  virtual void load(unsigned pass, unsigned part, mlir::Value position,
                    mlir::Value buffer,
                    llvm::SmallVectorImpl<mlir::Value> &pieces) = 0;

  /// Writes part `part` of what all the loads of a piece gave to the LDS
  /// buffer `buffer`; a direct copy has nothing to write.
  virtual void write(unsigned /*pass*/, unsigned /*part*/,
                     llvm::ArrayRef<mlir::Value> /*pieces*/,
                     mlir::Value /*buffer*/) {}

protected:
  TileCopy(Emitter &e, const ViewAccess &access, LdsTile lds,
           const ReductionWalk &walk, GlobalBuffer buffer);

  /// Adds a row of the tile (relative to its first) that this thread loads
  /// from; `elements` are added to the walk's position there (not if it is
  /// flat).
  void addRow(mlir::Value row, mlir::Value elements);
  /// The byte offset of place `place` where its row is in the view.
  mlir::Value getRowOffset(unsigned place) const {
    return rowForms[place].front();
  }
  /// From here on, all places are `bytes` from where their rows begin.
  void setOffset(mlir::Value bytes);

  /// Loads `type` from place `place` (a row that was added); not flat.
  mlir::Value loadAtTap(unsigned place, mlir::Type type, mlir::Value position,
                        int64_t elements);
  /// The same `elements` further on in the lane's own share of the step.
  mlir::Value loadPairAtTap(unsigned place, mlir::Value position,
                            int64_t elements);
  /// Loads 16 bytes a lane to LDS at `ldsPointer` + `immediate` (uniform) and
  /// on, from place `place`, beyond which the immediate is added; not flat.
  void loadToLds(unsigned place, mlir::Value ldsPointer, mlir::Value position,
                 int64_t immediate);
  /// loadAtTap() from element `element` of the reduction; flat.
  mlir::Value loadAtElement(unsigned place, mlir::Type type,
                            mlir::Value element);
  /// The i32s (or the one shorter integer) of `elements` elements.
  mlir::Type getIntegerType(int64_t elements) const;
  /// Bytes from one element of the inner walk to the next.
  OpenNumber getWalkStep() const { return innerSpace.getInnermostStep(); }
  /// The bytes that `position` of the walk, counted in bytes of elements, is
  /// from the begin of a tap.
  mlir::Value emitWalked(mlir::Value position);
  /// Of tiles of pairs: the byte permutes that make two elements of a row, at
  /// neighbouring places of the reduction, from their pairs at the current tap;
  /// for the even row and the odd one.
  llvm::ArrayRef<mlir::Value> getPairSelectors(unsigned place) const {
    return pairSelectors[place];
  }

  /// Of rows that taps share: what `position` adds to each offset; computed, or
  /// as it was located.
  virtual mlir::Value findBlock(mlir::Value position) { return position; }
  mlir::Value getBlock(mlir::Value position) {
    mlir::Value block = blocks.lookup(position);
    return block ? block : findBlock(position);
  }

  Emitter &e;
  const ViewAccess &access;
  LdsTile lds;
  ReductionWalk walk;
  GlobalBuffer buffer;
  AccessSpace innerSpace; ///< The dimension(s) that are walked by a step.
  unsigned passes = 0;

private:
  mlir::Value checkBounds(unsigned place, llvm::ArrayRef<mlir::Value> walked);
  mlir::Value placePair(mlir::Value offset, mlir::Value coordinate,
                        int64_t bound);

  llvm::DenseMap<mlir::Value, mlir::Value> blocks; ///< That are located.
  int64_t moved = 0;
  AccessSpace tapSpace; ///< Not flat: the outer reduction dimensions.
  /// Per place: the forms of the row, group and constants included.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> rowForms;
  /// Per place: whether the row is in the view; null where it need not be
  /// known.
  llvm::SmallVector<mlir::Value> rowValid;
  /// Per place: the byte offset at the current tap.
  llvm::SmallVector<mlir::Value> tapOffsets;
  /// The check that tells the rows of a pair apart; 0 without one.
  unsigned pairForm = 0;
  llvm::SmallVector<std::array<mlir::Value, 2>> pairSelectors;
};

/// How a tile of `rows` rows of `step` elements is brought to LDS: by blocks
/// where the view's rows lie together in memory and its columns do not.
LdsTile chooseLdsTile(const ViewAccess &access, int64_t rows, int64_t step,
                      int64_t threads, const ReductionWalk &walk,
                      const GpuTarget &target,
                      const MatrixInstruction &instruction);

/// The copy that `lds` was chosen for. `buffer` says where the rows begin.
std::unique_ptr<TileCopy> createTileCopy(Emitter &e, const ViewAccess &access,
                                         LdsTile lds, const ReductionWalk &walk,
                                         GlobalBuffer buffer, int64_t threads,
                                         mlir::Value thread);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_TILECOPY_H
