//===- ResidentTile.h - A factor that LDS holds for good -------*- C++ -*--===//
//
// The other factor of a tile of windows (WindowTile.h): the filter of a stem,
// small enough to stay in LDS with its whole reduction. It is brought there
// once, element by element, because the runs of the reduction are filled up
// and begin anywhere in memory.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COOPERATIVE_RESIDENTTILE_H
#define TESSERA_COMPILER_CONVERSION_COOPERATIVE_RESIDENTTILE_H

#include "compiler/Conversion/Cooperative/FragmentSource.h"
#include "compiler/Conversion/Cooperative/TileCopy.h"

namespace tessera {

struct ResidentTile {
  int64_t rows;
  int64_t step;  ///< Elements of a row.
  int64_t total; ///< Those that are not filling at its end.
  int64_t elementBytes;

  int64_t getChunkElements() const { return kChunkBytes / elementBytes; }
  /// An odd number of chunks: neighbouring rows then begin in different banks,
  /// under both orders of the lanes that LdsTile.h knows.
  int64_t getPitch() const {
    return (step / getChunkElements() | 1) * getChunkElements();
  }
};

/// The threads of a workgroup, as one of them sees them.
struct ThreadPlace {
  int64_t waves;
  int64_t waveSize;
  mlir::Value wave; ///< Uniform.
  mlir::Value lane;
};

/// A thread's share of the tile's way to LDS: in a pass, a column of some rows.
/// No check of the view may depend on the row.
class ResidentCopy : public TileCopy {
public:
  /// `buffer` says where the tile's rows begin.
  ResidentCopy(Emitter &e, const ViewAccess &access, const ResidentTile &tile,
               LdsTile lds, const ReductionWalk &walk, GlobalBuffer buffer,
               const ThreadPlace &thread);

  void load(unsigned pass, unsigned part, mlir::Value position,
            mlir::Value buffer,
            llvm::SmallVectorImpl<mlir::Value> &pieces) override;
  void write(unsigned pass, unsigned part, llvm::ArrayRef<mlir::Value> pieces,
             mlir::Value buffer) override;

private:
  mlir::Value locateColumn(mlir::Value column);

  const ResidentTile &tile;
  ThreadPlace thread;
  llvm::SmallVector<mlir::Value> rowOffsets;
};

/// Reads fragments from there.
std::unique_ptr<FragmentSource>
readResident(Emitter &e, const ResidentTile &tile, const FragmentPlace &place);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_RESIDENTTILE_H
