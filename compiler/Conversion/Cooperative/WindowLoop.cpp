//===- WindowLoop.cpp - A product whose factors are in LDS ----------------===//

#include "compiler/Conversion/Cooperative/WindowLoop.h"

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

HeldFragments tessera::holdFragments(TileMma &mma, Value bufferN) {
  // Registers of a lane, with its sums. On an H100 three workgroups of 128
  // threads then share a multiprocessor.
  constexpr int64_t kMaxRegisters = 128, kRegisterBytes = 4;
  const FragmentSide &n = mma.getN();
  const int64_t sums = mma.getAccumulators() * mma.getInstruction().accRegs;
  const int64_t reads =
      n.count * mma.getChunkReads() * n.splits * mma.getReadsPerFragment();
  HeldFragments held;
  if (sums + reads * kChunkBytes / kRegisterBytes > kMaxRegisters)
    return held;
  for (int64_t chunk = 0; chunk < mma.getChunkReads(); ++chunk) {
    held.emplace_back();
    for (int64_t j = 0; j < n.count; ++j)
      held.back().push_back(mma.readFragment(false, j, chunk, bufferN));
  }
  return held;
}

/// One instruction tile of m after the other, so that few sums are open at a
/// time: registers hold n.
static SmallVector<Value> emitHeldProduct(Emitter &e, TileMma &mma,
                                          Value bufferM,
                                          const HeldFragments &held) {
  int64_t countM = mma.getM().count, countN = mma.getN().count;
  int64_t chunks = mma.getChunkReads();
  SmallVector<Value> accumulators(mma.getAccumulators(),
                                  mma.makeZeroAccumulator());
  Value fragment = mma.readFragment(true, 0, 0, bufferM), next;
  for (int64_t step = 0; step < countM * chunks; ++step) {
    int64_t i = step / chunks, chunk = step % chunks;
    if (step + 1 < countM * chunks)
      next = mma.readFragment(true, (step + 1) / chunks, (step + 1) % chunks,
                              bufferM);
    e.device.emitOrderPin(e);
    for (int64_t part = 0; part < mma.getInstructionsPerChunk(); ++part)
      for (int64_t j = 0; j < countN; ++j) {
        Value &sum = accumulators[j * countM + i];
        sum = mma.multiply(fragment, held[chunk][j], sum, part);
      }
    e.device.emitOrderPin(e);
    fragment = next;
  }
  return accumulators;
}

SmallVector<Value> tessera::emitWholeProduct(Emitter &e, TileMma &mma,
                                             Value bufferM, Value bufferN,
                                             const HeldFragments &held) {
  if (!held.empty())
    return emitHeldProduct(e, mma, bufferM, held);
  int64_t countM = mma.getM().count, countN = mma.getN().count;
  SmallVector<Value> accumulators(mma.getAccumulators(),
                                  mma.makeZeroAccumulator());
  SmallVector<Value> fragments = readChunk(mma, 0, bufferM, bufferN);
  for (int64_t chunk = 0; chunk < mma.getChunkReads(); ++chunk) {
    SmallVector<Value> next;
    if (chunk + 1 < mma.getChunkReads())
      next = readChunk(mma, chunk + 1, bufferM, bufferN);
    // Left to itself, LLVM reads all chunks first, and has no registers.
    e.device.emitOrderPin(e);
    for (int64_t part = 0; part < mma.getInstructionsPerChunk(); ++part)
      for (int64_t j = 0; j < countN; ++j)
        for (int64_t i = 0; i < countM; ++i) {
          Value &sum = accumulators[j * countM + i];
          sum = mma.multiply(fragments[i], fragments[countM + j], sum, part);
        }
    e.device.emitOrderPin(e);
    fragments = std::move(next);
  }
  return accumulators;
}
