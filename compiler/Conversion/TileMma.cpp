//===- TileMma.cpp - One wave's share of a tile product -------------------===//

#include "compiler/Conversion/TileMma.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace tessera;

/// What sums of products of `element` are held in.
static Type getSumType(OpBuilder &b, Type element) {
  if (element.isInteger())
    return b.getI32Type();
  return element.isF64() ? element : b.getF32Type();
}

namespace {
/// Fragments of a tile that lies as LdsTile.h says.
class SwizzledSource : public FragmentSource {
public:
  SwizzledSource(Emitter &e, const LdsTile &lds, int64_t chunkReads,
                 const FragmentPlace &place);

  Value read(int64_t index, int64_t q, int64_t t, Value buffer) override;

private:
  Emitter &e;
  LdsTile lds;
  FragmentPlace place;
  /// The swizzle repeats after some rows, so fragments that lie a multiple of
  /// them apart share one address register.
  bool isShared;
  /// Element offset for [fragment][LDS read], before the constant of the row.
  SmallVector<SmallVector<Value>> offsets;
};
} // namespace

SwizzledSource::SwizzledSource(Emitter &e, const LdsTile &lds,
                               int64_t chunkReads, const FragmentPlace &place)
    : e(e), lds(lds), place(place),
      isShared(place.rows % lds.getPeriod() == 0) {
  Value row = e.add(place.firstRow, place.laneRow);
  for (int64_t i = 0; i < place.count; ++i) {
    if (i > 0 && isShared) {
      offsets.push_back(offsets.front());
      continue;
    }
    SmallVector<Value> reads;
    Value fragmentRow = isShared ? row : e.add(row, i * place.rows);
    Value first = e.mul(place.laneChunk, place.reads);
    for (int64_t q = 0; q < chunkReads; ++q)
      for (int64_t t = 0; t < place.reads; ++t)
        reads.push_back(e.toIndex(lds.emitOffset(
            e, fragmentRow,
            e.add(first, q * place.laneChunks * place.reads + t))));
    offsets.push_back(std::move(reads));
  }
}

Value SwizzledSource::read(int64_t index, int64_t q, int64_t t, Value buffer) {
  Value offset = offsets[index][q * place.reads + t];
  if (isShared && index > 0)
    offset = arith::AddIOp::create(
        e.b, e.loc, offset, e.indexConstant(index * place.rows * lds.step));
  auto type = VectorType::get(lds.getChunkElements(), place.elementType);
  return vector::LoadOp::create(e.b, e.loc, type, buffer, offset);
}

TileMma::TileMma(Emitter &e, const MatrixInstruction &instruction,
                 const GpuTarget &target, LdsTile ldsM, LdsTile ldsN,
                 int64_t wavesM, int64_t wavesN, bool lanesAlongN, Value lane,
                 Value waveM, Value waveN, Type elementType,
                 const SourceFactory &makeSourceM,
                 const SourceFactory &makeSourceN)
    : e(e), instruction(instruction), byteDot(target.byteDot),
      lanesAlongN(lanesAlongN), elementType(elementType),
      laneChunks(instruction.getLaneChunks()),
      readsPerFragment(
          std::max<int64_t>(1, instruction.kPerLane / ldsM.getChunkElements())),
      chunkReads(ldsM.getChunks() / laneChunks / readsPerFragment) {
  Value pRow =
      e.remu(e.divu(lane, instruction.getPDivisor()), instruction.rows);
  Value qRow = e.remu(lane, instruction.columns);
  Value laneChunk =
      laneChunks > 1 ? e.divu(lane, instruction.rows) : e.constant(0);
  auto makeSide = [&](LdsTile lds, int64_t waves, Value wave, bool isP,
                      const SourceFactory &makeSource) {
    int64_t rows = isP ? instruction.rows : instruction.columns;
    FragmentPlace place{rows,
                        lds.rows / waves / rows,
                        e.mul(wave, lds.rows / waves),
                        isP ? pRow : qRow,
                        laneChunk,
                        laneChunks,
                        readsPerFragment,
                        elementType};
    auto source =
        makeSource
            ? makeSource(place)
            : std::make_unique<SwizzledSource>(e, lds, chunkReads, place);
    return FragmentSide{place, lds, std::move(source)};
  };
  m = makeSide(ldsM, wavesM, waveM, !lanesAlongN, makeSourceM);
  n = makeSide(ldsN, wavesN, waveN, lanesAlongN, makeSourceN);
}

int64_t TileMma::getInstructionsPerChunk() const {
  return readsPerFragment * m.lds.getChunkElements() / instruction.kPerLane;
}

Type TileMma::getAccumulatorType() const {
  Type sum = getSumType(e.b, elementType);
  return instruction.accRegs == 1 ? sum
                                  : VectorType::get(instruction.accRegs, sum);
}

Type TileMma::getFragmentType() const {
  return VectorType::get(readsPerFragment * m.lds.getChunkElements(),
                         elementType);
}

Value TileMma::makeZeroAccumulator() {
  return e.constant(cast<TypedAttr>(e.b.getZeroAttr(getAccumulatorType())));
}

Value TileMma::readFragment(bool isM, int64_t index, int64_t chunk,
                            Value buffer) {
  const FragmentSide &side = isM ? m : n;
  SmallVector<Value> read;
  for (int64_t t = 0; t < readsPerFragment; ++t)
    read.push_back(side.source->read(index, chunk, t, buffer));
  if (readsPerFragment == 1)
    return read.front();
  SmallVector<int64_t> mask(2 * m.lds.getChunkElements());
  std::iota(mask.begin(), mask.end(), 0);
  return vector::ShuffleOp::create(e.b, e.loc, read[0], read[1], mask);
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
/// made once. The fma row computes in the accumulator's type, and hands bytes
/// to dot products four in a register.
Value TileMma::takePart(Value fragment, int64_t part) {
  Value &cached = parts[{fragment, part}];
  if (cached)
    return cached;
  Value taken = extractPart(e, fragment, part, instruction.kPerLane);
  if (instruction.isFma()) {
    auto type = dyn_cast<VectorType>(taken.getType());
    if (elementType.isInteger() && byteDot != IntegerDot::None)
      taken = vector::ExtractOp::create(
          e.b, e.loc,
          vector::BitCastOp::create(
              e.b, e.loc, VectorType::get(1, e.b.getI32Type()), taken),
          0);
    else if (elementType.isInteger())
      taken = arith::ExtSIOp::create(e.b, e.loc, type.clone(e.b.getI32Type()),
                                     taken);
    else if (elementType.getIntOrFloatBitWidth() < 32)
      taken = arith::ExtFOp::create(e.b, e.loc, type.clone(e.b.getF32Type()),
                                    taken);
  }
  return cached = taken;
}

Value TileMma::multiply(Value fragmentM, Value fragmentN, Value accumulator,
                        int64_t part) {
  Value p = takePart(lanesAlongN ? fragmentN : fragmentM, part);
  Value q = takePart(lanesAlongN ? fragmentM : fragmentN, part);
  switch (instruction.kind) {
  case MatrixKind::Fma:
    return elementType.isInteger() ? multiplyBytes(p, q, accumulator)
                                   : multiplyFma(p, q, accumulator);
  case MatrixKind::Mfma:
    return amdgpu::MFMAOp::create(
        e.b, e.loc, accumulator.getType(), instruction.rows,
        instruction.columns, instruction.k, /*blocks=*/1, p, q, accumulator);
  case MatrixKind::Wmma:
    return amdgpu::WMMAOp::create(e.b, e.loc, accumulator.getType(),
                                  instruction.rows, instruction.columns,
                                  instruction.k, p, q, accumulator);
  }
  llvm_unreachable("every kind of row is multiplied");
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

/// accumulator + the dot product of four signed bytes.
Value TileMma::multiplyBytes(Value p, Value q, Value accumulator) {
  Type i32 = e.b.getI32Type();
  auto call = [&](StringRef name, ValueRange operands) -> Value {
    return LLVM::CallIntrinsicOp::create(e.b, e.loc, i32,
                                         e.b.getStringAttr(name), operands)
        .getResult(0);
  };
  Value no = e.constant(e.b.getBoolAttr(false));
  Value yes = e.constant(e.b.getBoolAttr(true));
  switch (byteDot) {
  case IntegerDot::Signed:
    return call("llvm.amdgcn.sdot4", {p, q, accumulator, no});
  case IntegerDot::Mixed:
    return call("llvm.amdgcn.sudot4", {yes, p, yes, q, accumulator, no});
  case IntegerDot::None:
    break;
  }
  for (int64_t i = 0; i < instruction.kPerLane; ++i) {
    Value product = arith::MulIOp::create(
        e.b, e.loc, vector::ExtractOp::create(e.b, e.loc, p, i),
        vector::ExtractOp::create(e.b, e.loc, q, i));
    accumulator = arith::AddIOp::create(e.b, e.loc, accumulator, product);
  }
  return accumulator;
}
