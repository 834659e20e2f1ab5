//===- WindowLoop.cpp - A product whose factors are in LDS ----------------===//

#include "compiler/Conversion/WindowLoop.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace tessera;

/// Fragments of chunk `chunk`: of m, then of n.
static SmallVector<Value> readChunk(TileMma &mma, int64_t chunk, Value bufferM,
                                    Value bufferN) {
  SmallVector<Value> fragments;
  for (int64_t i = 0; i < mma.getM().count; ++i)
    fragments.push_back(mma.readFragment(true, i, chunk, bufferM));
  for (int64_t j = 0; j < mma.getN().count; ++j)
    fragments.push_back(mma.readFragment(false, j, chunk, bufferN));
  return fragments;
}

SmallVector<Value> tessera::emitWholeProduct(Emitter &e, TileMma &mma,
                                             Value bufferM, Value bufferN) {
  int64_t countM = mma.getM().count, countN = mma.getN().count;
  SmallVector<Value> accumulators(mma.getAccumulators(),
                                  mma.makeZeroAccumulator());
  SmallVector<Value> fragments = readChunk(mma, 0, bufferM, bufferN);
  for (int64_t chunk = 0; chunk < mma.getChunkReads(); ++chunk) {
    SmallVector<Value> next;
    if (chunk + 1 < mma.getChunkReads())
      next = readChunk(mma, chunk + 1, bufferM, bufferN);
    // Left to itself, LLVM reads all chunks first, and has no registers.
    ROCDL::SchedBarrier::create(e.b, e.loc, 0);
    for (int64_t part = 0; part < mma.getInstructionsPerChunk(); ++part)
      for (int64_t j = 0; j < countN; ++j)
        for (int64_t i = 0; i < countM; ++i) {
          Value &sum = accumulators[j * countM + i];
          sum = mma.multiply(fragments[i], fragments[countM + j], sum, part);
        }
    ROCDL::SchedBarrier::create(e.b, e.loc, 0);
    fragments = std::move(next);
  }
  return accumulators;
}
