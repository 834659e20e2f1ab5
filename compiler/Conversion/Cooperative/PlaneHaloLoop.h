//===- PlaneHaloLoop.h - A main loop over blocks of channels ---*- C++ -*--===//
//
// The loop of tiles whose taps share planes of pixels. An iteration is two
// blocks of channels, one for each buffer of pixels, and is written out over
// their taps, so that buffers and taps are constants. The filter comes through
// registers two steps ahead, as in WaveProgram.cpp; the pixels of a block come
// during the one before, a few loads a step.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COOPERATIVE_PLANEHALOLOOP_H
#define TESSERA_COMPILER_CONVERSION_COOPERATIVE_PLANEHALOLOOP_H

#include "compiler/Conversion/Cooperative/PlaneHalo.h"
#include "compiler/Conversion/Cooperative/StepBody.h"
#include "compiler/Conversion/Cooperative/TileFrame.h"

namespace tessera {

/// Emits the tile of a program with a halo of planes.
void emitPlaneHaloTile(TileFrame &f, const TileFactor &m, const TileFactor &n);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COOPERATIVE_PLANEHALOLOOP_H
