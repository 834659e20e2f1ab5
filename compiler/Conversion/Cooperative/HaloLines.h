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
#include "compiler/Conversion/Cooperative/LdsTile.h"
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

/// What does not depend on whether channels or pixels lie together; fails after
/// an error at `load` if rows are not in the order of memory, or its taps do
/// not move them by whole pixels.
mlir::LogicalResult matchHaloTaps(dnn::TileLoadOp load, HaloLines &halo);

/// The halo of tiles of `load`, whose steps `threads` threads bring. Fails
/// after an error at `load` if its taps do not move rows by whole pixels, or
/// its channels are not whole steps.
mlir::LogicalResult matchHaloLines(dnn::TileLoadOp load, int64_t threads,
                                   HaloLines &halo);

/// A thread's share of the way of one block of channels, the `block`-th, to
/// LDS.
class HaloCopy {
public:
  /// `tile` says where the tile's rows begin.
  HaloCopy(Emitter &e, const ViewAccess &access, const HaloLines &halo,
           GlobalBuffer tile, int64_t threads, mlir::Value thread,
           mlir::Value block);

  unsigned getPasses() const { return halo.lines / passLines; }
  /// Brings the lines of a pass, `bytes` behind the first byte of `lds`.
  void load(unsigned pass, mlir::Value lds, mlir::Value bytes) const;

private:
  Emitter &e;
  const HaloLines &halo;
  GlobalBuffer tile;
  int64_t passLines;
  mlir::Value offset; ///< In memory, of the first pass.
  mlir::Value place;  ///< In LDS, in a buffer.
};

/// Reads fragments of rows that are lines, by matrices.
class HaloSource : public FragmentSource {
public:
  HaloSource(Emitter &e, const ViewAccess &access, const HaloLines &halo,
             const FragmentPlace &place)
      : e(e), access(access), halo(halo), place(place) {}

  /// From here on, rows are those of the tile that begins at `tile`.
  void enterTile(const GlobalBuffer &tile);
  /// From here on, fragments are what tap `tap` sees of the buffer that begins
  /// at byte `buffer` of LDS.
  void enterTap(int64_t tap, mlir::Value buffer);

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

private:
  mlir::Value findTaps(const Row &row, const GlobalBuffer &tile);

  /// For each instruction tile: the place of the lane's chunk in a buffer, and
  /// the taps that are in the image; then the byte of LDS at the current tap.
  llvm::SmallVector<mlir::Value> places, inside, current;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_HALOLINES_H
