//===- PlaneHalo.h - Planes of pixels that all taps see --------*- C++ -*--===//
//
// The halo of HaloLines.h for NCHW on AMD's chips. In LDS a pixel is a line, as
// there, and the lines of an image follow those of the image before: a tile's
// are those between its first pixel and its last one under any tap. In memory
// the pixels of a channel lie together. So a lane loads four pixels of each of
// eight channels, transposes them in registers and writes a chunk of each line,
// once for all taps.
//
// Which taps of a pixel are in the image does not depend on channels. A lane
// chooses what it reads for each tap, a line or one of zeros, once for the
// whole tile, and has a register for each: the loop computes no address.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COOPERATIVE_PLANEHALO_H
#define TESSERA_COMPILER_CONVERSION_COOPERATIVE_PLANEHALO_H

#include "compiler/Conversion/Cooperative/HaloLines.h"

namespace tessera {

inline constexpr int64_t kPlaneElementBytes = 2;

/// The halo of a tile of planes. Plain data; lines are numbered by their place
/// in memory, image after image.
struct PlaneHalo : HaloLines {
  int64_t images = 0;     ///< Of the tensor.
  int64_t imageBytes = 0; ///< From an image to the next.
  int64_t planeBytes = 0; ///< Of a channel of an image.
  /// From the line of a row to the first that a tap sees, padding included.
  int64_t firstLine = 0;

  int64_t getPlanePixels() const { return planeBytes / pixelBytes; }
  int64_t getPlaneLines() const { return countPlaneLines(getPlanePixels()); }
};

/// The halo of tiles of `view`. Fails after an error at `op` if its taps do not
/// move rows by whole pixels, or planes are not whole loads.
mlir::LogicalResult matchPlaneHalo(mlir::Operation *op, dnn::ViewOp view,
                                   const SharedTile &tile, PlaneHalo &halo);

/// A thread's share of the way of blocks of channels to LDS.
class PlaneHaloCopy : public TileCopy {
public:
  /// `buffer` says where the tile's rows begin.
  PlaneHaloCopy(Emitter &e, const ViewAccess &access, const PlaneHalo &halo,
                LdsTile lds, const ReductionWalk &walk, GlobalBuffer buffer,
                int64_t threads, mlir::Value thread);

  /// Loads of a pass, one for each channel, and writes, one for each pixel.
  unsigned getLoadParts() const override { return kLoads; }
  unsigned getWriteParts() const override { return HaloLds::kPlanePixels; }
  void load(unsigned pass, unsigned part, mlir::Value position,
            mlir::Value buffer,
            llvm::SmallVectorImpl<mlir::Value> &pieces) override;
  void write(unsigned pass, unsigned part, llvm::ArrayRef<mlir::Value> pieces,
             mlir::Value buffer) override;

private:
  mlir::Value findBlock(mlir::Value position) override;

  static constexpr int64_t kLoads = kChunkBytes / kPlaneElementBytes;
  struct Unit {
    llvm::SmallVector<mlir::Value> offsets; ///< In memory, of each load.
    mlir::Value shift; ///< Bits by which a load begins too early, or null.
    mlir::Value place; ///< In LDS, an index.
  };

  const PlaneHalo &halo;
  llvm::SmallVector<Unit> units; ///< Of each pass.
};

/// Reads chunks of lines.
class PlaneHaloSource : public HaloSource {
public:
  PlaneHaloSource(Emitter &e, const ViewAccess &access, const PlaneHalo &halo,
                  const FragmentPlace &place)
      : HaloSource(e, access, halo, place), planes(halo) {}

  /// Chunks are indices, of each tap those of all instruction tiles.
  Rows findRows(const GlobalBuffer &tile) override;
  void enterTap(const Rows &rows, int64_t tap, mlir::Value slot) override;
  mlir::Value read(int64_t index, int64_t part, int64_t q, int64_t t,
                   mlir::Value buffer) override;

private:
  const PlaneHalo &planes;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_PLANEHALO_H
