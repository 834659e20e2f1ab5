//===- HaloTiles.h - Tiles whose taps share pixels -------------*- C++ -*--===//

#ifndef TESSERA_COMPILER_CONVERSION_COOPERATIVE_HALOTILES_H
#define TESSERA_COMPILER_CONVERSION_COOPERATIVE_HALOTILES_H

#include "compiler/Conversion/Cooperative/TileFrame.h"

namespace tessera {

/// Emits the tiles of a workgroup, one after the other, of a program with a
/// halo. Behind the last tile its own first block is brought again.
void emitHaloTiles(TileFrame &f, const TileFactor &m, const TileFactor &n);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_HALOTILES_H
