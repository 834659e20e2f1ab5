//===- DirectCopy.cpp - Loads a factor directly to LDS --------------------===//

#include "compiler/Conversion/Cooperative/DirectCopy.h"
#include "compiler/Conversion/Common/LdsPointer.h"

using namespace mlir;
using namespace tessera;

/// The row that lies in line `line` of LDS: line(r) is its own inverse.
static Value emitRowOfLine(Emitter &e, const LdsTile &lds, Value line) {
  if (!lds.mixesRows())
    return line;
  return e.xori(line, e.andi(e.shru(line, LdsTile::kBlockShift), 1));
}

DirectCopy::DirectCopy(Emitter &e, const ViewAccess &access, LdsTile lds,
                       const ReductionWalk &walk, GlobalBuffer buffer,
                       int64_t threads, Value thread)
    : TileCopy(e, access, lds, walk, std::move(buffer)),
      loadBytes(getLoadBytes(e.device.getTarget())),
      loadsPerBase(getLoadsPerBase(e.device.getTarget())) {
  int64_t lanes = loadBytes / kChunkBytes, waves = threads / lanes;
  int64_t chunks = lds.getChunks(), rowsPerLoad = lanes / chunks;
  passes = lds.rows * chunks / threads;
  // Loads from a wave's one to its next.
  int64_t passLoads = loadsPerBase > 1 ? 1 : waves;
  int64_t waveLoads = loadsPerBase > 1 ? passes : 1;
  passBytes = passLoads * loadBytes;
  // M0 is a scalar register: the wave must be known to be uniform.
  Value wave = e.device.emitUniform(e, e.divu(thread, lanes));
  Value lane = e.remu(thread, lanes);
  place = e.device.emitDirectPlace(e, e.mul(wave, waveLoads * loadBytes), lane,
                                   kChunkBytes);
  Value first =
      e.add(e.mul(wave, waveLoads * rowsPerLoad), e.divu(lane, chunks));
  choosePlaces(passLoads * rowsPerLoad);
  for (unsigned pass = 0; pass < places; ++pass) {
    Value row =
        emitRowOfLine(e, lds, e.add(first, pass * passLoads * rowsPerLoad));
    Value chunk = lds.emitPlace(e, row, e.remu(lane, chunks));
    int64_t immediate = pass % loadsPerBase * loadBytes;
    addRow(row, e.add(e.mul(chunk, lds.getChunkElements()),
                      -immediate / access.getElementBytes()));
  }
}

/// Where all rows of a tile lie the same number of bytes apart and none can be
/// out of range, the passes whose swizzle is the same are told apart by a
/// constant.
void DirectCopy::choosePlaces(int64_t passRows) {
  places = passes;
  AccessSpace rows = access.getSpace(1);
  if (loadsPerBase > 1 || !rows.isLinear() || rows.sizes.empty() ||
      rows.getExtent() % lds.rows != 0)
    return;
  int64_t distinct = std::max<int64_t>(1, lds.getPeriod() / passRows);
  places = std::min<int64_t>(passes, distinct);
  repeatBytes = places * passRows * rows.getInnermostStep();
}

void DirectCopy::load(unsigned pass, unsigned, Value position, Value buffer,
                      SmallVectorImpl<Value> &) {
  Value pointer = emitLdsPointer(
      e, buffer, e.add(place, pass / loadsPerBase * loadsPerBase * passBytes));
  loadToLds(pass % places, pointer, position,
            loadsPerBase > 1 ? pass % loadsPerBase * loadBytes
                             : pass / places * repeatBytes);
}
