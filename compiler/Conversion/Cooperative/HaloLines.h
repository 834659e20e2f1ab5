//===- HaloLines.h - Pixels in LDS that all taps of a filter see *- C++ -*-===//
//
// Of stride 1, the pixels that a tap sees are those of its neighbour, moved. A
// tile's own and those around it come to LDS once for a step's channels, by
// cp.async in the order of memory, a line each. A tap's fragments are read so
// many lines further on: ldmatrix takes an address for each row.
//
// Memory has no padding: past the end of an image's row lies the next row. So a
// lane knows of its rows which taps are in the image, a bit each, and reads a
// line of zeros for those that are not.
//
// Lines lie 16 bytes further apart than they are long, so that eight neighbours
// are in different banks, and a tap is a constant (HaloLds.h).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COOPERATIVE_HALOLINES_H
#define TESSERA_COMPILER_CONVERSION_COOPERATIVE_HALOLINES_H

#include "compiler/Conversion/Common/GlobalBuffer.h"
#include "compiler/Conversion/Cooperative/FragmentSource.h"
#include "compiler/Conversion/Cooperative/TileCopy.h"
#include "compiler/Target/HaloLds.h"

namespace tessera {

/// The halo of a tile in LDS. Plain data.
struct HaloLines : HaloLds {
  /// A lane has a bit of a register for each.
  static constexpr int64_t kMaxTaps = 32;

  int64_t pixelBytes = 0; ///< From a pixel to the next in memory.
  int64_t firstBytes = 0; ///< From a row's place to the first that a tap sees.
  AccessSpace rowLines;   ///< The line of each row.
  llvm::SmallVector<int64_t> taps; ///< Lines from there to what each sees.
};

/// Tiles whose taps share rows: `rows` rows of `step` elements, which `threads`
/// threads bring.
struct SharedTile {
  int64_t rows, step, threads;
};

/// What does not depend on whether channels or pixels lie together; fails after
/// an error at `op` if rows of `view` are not in the order of memory, or its
/// taps do not move them by whole pixels.
mlir::LogicalResult matchHaloTaps(mlir::Operation *op, dnn::ViewOp view,
                                  HaloLines &halo);

/// The halo of tiles of `view`. Fails after an error at `op` if its taps do not
/// move rows by whole pixels, or its channels are not whole steps.
mlir::LogicalResult matchHaloLines(mlir::Operation *op, dnn::ViewOp view,
                                   const SharedTile &tile, HaloLines &halo);

/// A thread's share of the way of blocks of channels to LDS, of which a walk
/// has one behind the other.
class HaloCopy : public TileCopy {
public:
  /// `buffer` says where the tile's rows begin.
  HaloCopy(Emitter &e, const ViewAccess &access, const HaloLines &halo,
           LdsTile lds, const ReductionWalk &walk, GlobalBuffer buffer,
           int64_t threads, mlir::Value thread);

  void setSlot(mlir::Value bytes) override { slot = bytes; }
  void load(unsigned pass, unsigned part, mlir::Value position,
            mlir::Value buffer,
            llvm::SmallVectorImpl<mlir::Value> &pieces) override;

private:
  mlir::Value findBlock(mlir::Value position) override;

  const HaloLines &halo;
  int64_t passLines;
  mlir::Value first, own; ///< In memory, of the tile and of the thread in it.
  mlir::Value place;      ///< In LDS, in a slot.
  mlir::Value slot;       ///< Where the slot begins, in bytes.
};

/// Reads fragments of rows that are lines, by matrices.
class HaloSource : public FragmentSource {
public:
  HaloSource(Emitter &e, const ViewAccess &access, const HaloLines &halo,
             const FragmentPlace &place)
      : e(e), access(access), halo(halo), place(place) {}

  /// What a lane knows of its rows of a tile: of each instruction tile the
  /// place of its chunk in a slot, and the taps that are in the image.
  struct Rows {
    llvm::SmallVector<mlir::Value> places, inside;
  };
  /// The rows of the tile that begins at `tile`.
  virtual Rows findRows(const GlobalBuffer &tile);
  /// From here on, fragments are what tap `tap` of `rows` sees of the slot that
  /// begins at byte `slot` of LDS.
  virtual void enterTap(const Rows &rows, int64_t tap, mlir::Value slot);

  mlir::Value read(int64_t index, int64_t part, int64_t q, int64_t t,
                   mlir::Value lds) override;

protected:
  /// Of the lane in an instruction tile: the line of its row, from the first
  /// one of the tile, and what the row contributes to each form.
  struct Row {
    mlir::Value line;
    llvm::SmallVector<mlir::Value> forms;
  };
  Row findRow(int64_t index, const GlobalBuffer &tile);
  /// The byte of the lane's chunk in a line.
  mlir::Value findChunk() {
    return e.mul(place.laneChunk, place.reads * kChunkBytes);
  }
  /// Whether tap `tap` of a row is in its image; null if each is.
  mlir::Value isInside(const Row &row, const GlobalBuffer &tile, int64_t tap);

  Emitter &e;
  const ViewAccess &access;
  const HaloLines &halo;
  FragmentPlace place;
  /// For each instruction tile: the lane's chunk at the current tap, a byte of
  /// LDS.
  llvm::SmallVector<mlir::Value> current;

private:
  mlir::Value findTaps(const Row &row, const GlobalBuffer &tile);
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_HALOLINES_H
