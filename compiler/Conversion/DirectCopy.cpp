//===- DirectCopy.cpp - Loads a factor directly to LDS --------------------===//

#include "compiler/Conversion/DirectCopy.h"
#include "compiler/Conversion/LdsPointer.h"

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
  int64_t lanes = loadBytes / kChunkBytes;
  int64_t chunks = lds.getChunks(), rowsPerLoad = lanes / chunks;
  passes = lds.rows * chunks / threads;
  // M0 is a scalar register: the wave must be known to be uniform.
  Value wave = e.device.emitUniform(e, e.divu(thread, lanes));
  Value lane = e.remu(thread, lanes);
  place = e.device.emitDirectPlace(e, e.mul(wave, passes * loadBytes), lane,
                                   kChunkBytes);
  Value first = e.add(e.mul(wave, passes * rowsPerLoad), e.divu(lane, chunks));
  for (unsigned pass = 0; pass < passes; ++pass) {
    Value row = emitRowOfLine(e, lds, e.add(first, pass * rowsPerLoad));
    Value chunk = lds.emitPlace(e, row, e.remu(lane, chunks));
    int64_t immediate = pass % loadsPerBase * loadBytes;
    addRow(row, e.add(e.mul(chunk, lds.getChunkElements()),
                      -immediate / access.getElementBytes()));
  }
}

void DirectCopy::load(unsigned pass, unsigned, Value position, Value buffer,
                      SmallVectorImpl<Value> &) {
  Value pointer = emitLdsPointer(
      e, buffer, e.add(place, pass / loadsPerBase * loadsPerBase * loadBytes));
  loadToLds(pass, pointer, position, pass % loadsPerBase * loadBytes);
}

void DirectCopy::write(unsigned, unsigned, ArrayRef<Value>, Value) {
  llvm_unreachable("a direct copy has no write parts");
}
