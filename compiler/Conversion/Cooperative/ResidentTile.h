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

#include "compiler/Conversion/Common/GlobalBuffer.h"
#include "compiler/Conversion/Cooperative/FragmentSource.h"
#include "compiler/Conversion/Cooperative/LdsTile.h"

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
  int64_t getElements() const { return rows * getPitch(); }
};

/// The threads of a workgroup, as one of them sees them.
struct ThreadPlace {
  int64_t waves;
  int64_t waveSize;
  mlir::Value wave; ///< Uniform.
  mlir::Value lane;
};

/// Brings the tile at `source.row0` to `buffer`; no check of the view may
/// depend on the row.
void stageResident(Emitter &e, const ViewAccess &access,
                   const ResidentTile &tile, const GlobalBuffer &source,
                   const ThreadPlace &thread, mlir::Value buffer);

/// Reads fragments from there.
std::unique_ptr<FragmentSource>
readResident(Emitter &e, const ResidentTile &tile, const FragmentPlace &place);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_RESIDENTTILE_H
