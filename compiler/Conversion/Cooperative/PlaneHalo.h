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

/// The halo of tiles of `load`, which `threads` threads bring. Fails after an
/// error at `load` if its taps do not move rows by whole pixels, or planes are
/// not whole loads.
mlir::LogicalResult matchPlaneHalo(dnn::TileLoadOp load, int64_t threads,
                                   PlaneHalo &halo);

/// A thread's share of the way of a block of channels to LDS, by passes.
class PlaneHaloCopy {
public:
  using Values = llvm::SmallVector<mlir::Value>;

  /// `tile` says where the tile's rows begin.
  PlaneHaloCopy(Emitter &e, const ViewAccess &access, const PlaneHalo &halo,
                GlobalBuffer tile, int64_t threads, mlir::Value thread);

  unsigned getPasses() const { return passes.size(); }
  /// Loads of a pass, one for each channel, and writes, one for each pixel.
  static constexpr int64_t kLoads = kChunkBytes / kPlaneElementBytes;
  static constexpr int64_t kWrites = HaloLds::kPlanePixels;

  /// Load `part` of pass `pass`, of channels that begin at `bytes` of an image.
  mlir::Value load(unsigned pass, int64_t part, mlir::Value bytes) const;
  /// Writes pixel `part` of what all loads of a pass gave to `buffer`.
  void write(unsigned pass, int64_t part, llvm::ArrayRef<mlir::Value> loaded,
             mlir::Value buffer) const;

private:
  struct Pass {
    Values offsets;    ///< In memory, of each load.
    mlir::Value shift; ///< Bits by which a load begins too early, or null.
    mlir::Value place; ///< In LDS, an index.
  };

  Emitter &e;
  const PlaneHalo &halo;
  GlobalBuffer tile;
  mlir::Type elementType;
  llvm::SmallVector<Pass> passes;
};

/// Reads chunks of lines.
class PlaneHaloSource : public HaloSource {
public:
  PlaneHaloSource(Emitter &e, const ViewAccess &access, const PlaneHalo &halo,
                  const FragmentPlace &place, const GlobalBuffer &tile);

  /// From here on, fragments are what tap `tap` sees.
  void enterTap(int64_t tap) { current = tap; }
  mlir::Value read(int64_t index, int64_t part, int64_t q, int64_t t,
                   mlir::Value buffer) override;

private:
  int64_t current = 0;
  /// Of each tap and instruction tile: the lane's chunk, an index.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> chunks;
};

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_PLANEHALO_H
