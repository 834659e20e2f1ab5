//===- TileMma.cpp - One wave's share of a tile product -------------------===//

#include "compiler/Conversion/TileMma.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace tessera;

TileMma::TileMma(Emitter &e, const MatrixInstruction &instruction,
                 int64_t waveSize, LdsTile ldsM, LdsTile ldsN, int64_t wavesM,
                 int64_t wavesN, bool lanesAlongN, Value lane, Value waveM,
                 Value waveN, Type elementType)
    : e(e), instruction(instruction), lanesAlongN(lanesAlongN),
      elementType(elementType), laneChunks(instruction.getLaneChunks(waveSize)),
      chunkReads(ldsM.getChunks() / laneChunks) {
  Value pRow =
      e.remu(e.divu(lane, instruction.getPDivisor()), instruction.rows);
  Value qRow = e.remu(lane, instruction.columns);
  Value laneChunk =
      laneChunks > 1 ? e.divu(lane, instruction.rows) : e.constant(0);
  auto makeSide = [&](LdsTile lds, int64_t waves, Value wave, bool isP) {
    FragmentSide side{lds,
                      0,
                      isP ? instruction.rows : instruction.columns,
                      e.mul(wave, lds.rows / waves),
                      isP ? pRow : qRow,
                      {}};
    side.count = lds.rows / waves / side.rows;
    makeOffsets(side, laneChunk);
    return side;
  };
  m = makeSide(ldsM, wavesM, waveM, !lanesAlongN);
  n = makeSide(ldsN, wavesN, waveN, lanesAlongN);
}

/// The swizzle repeats after some rows, so fragments that lie a multiple of
/// them apart share one address register.
void TileMma::makeOffsets(FragmentSide &side, Value laneChunk) {
  bool isShared = side.rows % side.lds.getPeriod() == 0;
  Value row = e.add(side.firstRow, side.laneRow);
  for (int64_t i = 0; i < side.count; ++i) {
    if (i > 0 && isShared) {
      side.offsets.push_back(side.offsets.front());
      continue;
    }
    SmallVector<Value> offsets;
    for (int64_t q = 0; q < chunkReads; ++q) {
      Value fragmentRow = isShared ? row : e.add(row, i * side.rows);
      offsets.push_back(e.toIndex(side.lds.emitOffset(
          e, fragmentRow, e.add(laneChunk, q * laneChunks))));
    }
    side.offsets.push_back(std::move(offsets));
  }
}

int64_t TileMma::getInstructionsPerChunk() const {
  return m.lds.getChunkElements() / instruction.kPerLane;
}

Type TileMma::getAccumulatorType() const {
  Type f32 = e.b.getF32Type();
  return instruction.accRegs == 1 ? f32
                                  : VectorType::get(instruction.accRegs, f32);
}

Type TileMma::getFragmentType() const {
  return VectorType::get(m.lds.getChunkElements(), elementType);
}

Value TileMma::makeZeroAccumulator() {
  return e.constant(cast<TypedAttr>(e.b.getZeroAttr(getAccumulatorType())));
}

Value TileMma::readFragment(bool isM, int64_t index, int64_t chunk,
                            Value buffer) {
  const FragmentSide &side = isM ? m : n;
  Value offset = side.offsets[index][chunk];
  bool isShared = side.rows % side.lds.getPeriod() == 0;
  if (isShared && index > 0)
    offset = arith::AddIOp::create(
        e.b, e.loc, offset, e.indexConstant(index * side.rows * side.lds.step));
  return vector::LoadOp::create(e.b, e.loc, cast<VectorType>(getFragmentType()),
                                buffer, offset);
}

/// Elements [part * count, part * count + count) of a chunk.
static Value extractPart(Emitter &e, Value chunk, int64_t part, int64_t count) {
  auto type = cast<VectorType>(chunk.getType());
  if (count == type.getNumElements())
    return chunk;
  if (count == 1)
    return vector::ExtractOp::create(e.b, e.loc, chunk, part);
  SmallVector<int64_t> mask(count);
  std::iota(mask.begin(), mask.end(), part * count);
  return vector::ShuffleOp::create(e.b, e.loc, chunk, chunk, mask);
}

/// Each part is used with every fragment of the other side, within one block:
/// made once. The fma row computes in f32.
Value TileMma::takePart(Value fragment, int64_t part) {
  Value &cached = parts[{fragment, part}];
  if (cached)
    return cached;
  Value taken = extractPart(e, fragment, part, instruction.kPerLane);
  if (instruction.isFma && !elementType.isF32())
    taken = arith::ExtFOp::create(
        e.b, e.loc, cast<VectorType>(taken.getType()).clone(e.b.getF32Type()),
        taken);
  return cached = taken;
}

Value TileMma::multiply(Value fragmentM, Value fragmentN, Value accumulator,
                        int64_t part) {
  Value p = takePart(lanesAlongN ? fragmentN : fragmentM, part);
  Value q = takePart(lanesAlongN ? fragmentM : fragmentN, part);
  if (instruction.isFma)
    return multiplyFma(p, q, accumulator);
  return amdgpu::MFMAOp::create(e.b, e.loc, accumulator.getType(),
                                instruction.rows, instruction.columns,
                                instruction.k, /*blocks=*/1, p, q, accumulator);
}

Value TileMma::multiplyFma(Value p, Value q, Value accumulator) {
  if (!isa<VectorType>(p.getType()))
    return math::FmaOp::create(e.b, e.loc, p, q, accumulator);
  for (int64_t i = 0; i < instruction.kPerLane; ++i)
    accumulator = math::FmaOp::create(
        e.b, e.loc, vector::ExtractOp::create(e.b, e.loc, p, i),
        vector::ExtractOp::create(e.b, e.loc, q, i), accumulator);
  return accumulator;
}
