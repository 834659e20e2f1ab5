//===- TileMma.cpp - One wave's share of a tile product -------------------===//

#include "compiler/Conversion/Cooperative/TileMma.h"
#include "compiler/Conversion/Common/LdsPointer.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <map>
#include <numeric>

using namespace mlir;
using namespace tessera;

/// What sums of products of `element` are held in.
static Type getAccType(OpBuilder &b, Type element) {
  if (element.isInteger())
    return b.getI32Type();
  return element.isF64() ? element : b.getF32Type();
}

namespace {
/// Fragments of a tile that lies as LdsTile.h says, read by chunks or by
/// matrices.
class SwizzledSource : public FragmentSource {
public:
  SwizzledSource(Emitter &e, const LdsTile &lds, int64_t chunkReads,
                 const FragmentPlace &place);

  Value read(int64_t index, int64_t part, int64_t q, int64_t t,
             Value buffer) override;

private:
  Emitter &e;
  LdsTile lds;
  FragmentPlace place;
  /// Element offset (of matrices, in bytes) for [row][LDS read]. The swizzle
  /// repeats after some rows, so rows that lie a multiple of them apart share
  /// one address register.
  std::map<int64_t, SmallVector<Value>> offsets;
};
} // namespace

SwizzledSource::SwizzledSource(Emitter &e, const LdsTile &lds,
                               int64_t chunkReads, const FragmentPlace &place)
    : e(e), lds(lds), place(place) {
  Value row = e.add(place.firstRow, place.laneRow);
  Value first = e.mul(place.laneChunk, place.reads);
  for (int64_t i = 0; i < place.count; ++i)
    for (int64_t part = 0; part < place.splits; ++part) {
      int64_t repeated = place.getRow(i, part) % lds.getPeriod();
      SmallVector<Value> &reads = offsets[repeated];
      if (!reads.empty())
        continue;
      Value fragmentRow = e.add(row, repeated);
      for (int64_t q = 0; q < chunkReads; ++q)
        for (int64_t t = 0; t < place.reads; ++t) {
          Value offset = lds.emitOffset(e, fragmentRow,
                                        e.add(first, place.getChunk(q, t)));
          reads.push_back(lds.readsMatrices ? e.mul(offset, lds.elementBytes)
                                            : e.toIndex(offset));
        }
    }
}

Value SwizzledSource::read(int64_t index, int64_t part, int64_t q, int64_t t,
                           Value buffer) {
  int64_t row = place.getRow(index, part), repeated = row % lds.getPeriod();
  Value offset = offsets[repeated][q * place.reads + t];
  int64_t constant = (row - repeated) * lds.step;
  auto type = VectorType::get(lds.getChunkElements(), place.elementType);
  if (lds.readsMatrices)
    return e.device.readMatrices(
        e,
        emitLdsPointer(e, buffer, e.add(offset, constant * lds.elementBytes)),
        type);
  if (constant != 0)
    offset =
        arith::AddIOp::create(e.b, e.loc, offset, e.indexConstant(constant));
  return vector::LoadOp::create(e.b, e.loc, type, buffer, offset);
}

/// What `map` says of the lane.
static Value emitLaneMap(Emitter &e, const LaneMap &map, Value lane) {
  Value sum = e.constant(0);
  for (const LaneMap::Digit &digit : map.digits) {
    if (digit.factor == 0)
      continue;
    Value value = e.divu(lane, digit.divisor);
    if (digit.modulus != 0)
      value = e.remu(value, digit.modulus);
    sum = e.add(sum, e.mul(value, digit.factor));
  }
  return sum;
}

static int64_t countLaneChunks(const MatrixInstruction &instruction,
                               const LdsTile &lds) {
  return lds.readsMatrices ? MatrixInstruction::kMatrixChunks
                           : instruction.getLaneChunks();
}

static int64_t countReads(const MatrixInstruction &instruction,
                          const LdsTile &lds) {
  return std::max<int64_t>(1, instruction.kPerLane / lds.getChunkElements());
}

int64_t TileMma::countChunkReads(const MatrixInstruction &instruction,
                                 const LdsTile &lds) {
  return lds.getChunks() / countLaneChunks(instruction, lds) /
         countReads(instruction, lds);
}

TileMma::TileMma(Emitter &e, const MatrixInstruction &instruction, LdsTile ldsM,
                 LdsTile ldsN, int64_t wavesM, int64_t wavesN, bool lanesAlongN,
                 Value lane, Value waveM, Value waveN, Type elementType,
                 const SourceFactory &makeSourceM,
                 const SourceFactory &makeSourceN)
    : e(e), instruction(instruction), lane(lane),
      hasByteDot(e.device.getTarget().byteDot != IntegerDot::None),
      lanesAlongN(lanesAlongN), elementType(elementType),
      laneChunks(countLaneChunks(instruction, ldsM)),
      readsPerFragment(countReads(instruction, ldsM)),
      chunkReads(countChunkReads(instruction, ldsM)) {
  auto makeSide = [&](LdsTile lds, int64_t waves, Value wave, bool isP,
                      const SourceFactory &makeSource) {
    int64_t rows = isP ? instruction.rows : instruction.columns;
    FragmentPlace place{};
    place.rows = rows;
    place.count = lds.rows / waves / rows;
    place.firstRow = e.mul(wave, lds.rows / waves);
    place.laneChunks = laneChunks;
    place.reads = readsPerFragment;
    place.elementType = elementType;
    if (lds.readsMatrices)
      placeMatrices(place, isP);
    else
      placeChunks(place, isP);
    auto source =
        makeSource
            ? makeSource(place)
            : std::make_unique<SwizzledSource>(e, lds, chunkReads, place);
    return FragmentSide{place, lds, std::move(source)};
  };
  m = makeSide(ldsM, wavesM, waveM, !lanesAlongN, makeSourceM);
  n = makeSide(ldsN, wavesN, waveN, lanesAlongN, makeSourceN);
}

/// A lane reads chunks of its own rows.
void TileMma::placeChunks(FragmentPlace &place, bool isP) {
  place.laneRow = emitLaneMap(
      e, isP ? instruction.getRowOfP() : instruction.getRowOfQ(), lane);
  place.laneChunk = emitLaneMap(e, instruction.getChunkOfLane(), lane);
  place.splits = isP ? instruction.pRows : instruction.qRows;
  place.partStep = isP ? instruction.pStep : instruction.qStep;
}

/// A lane says where a row of a matrix is.
void TileMma::placeMatrices(FragmentPlace &place, bool isP) {
  const MatrixInstruction &row = instruction;
  place.laneRow =
      emitLaneMap(e, isP ? row.getMatrixRowOfP() : row.getMatrixRowOfQ(), lane);
  place.laneChunk = emitLaneMap(
      e, isP ? row.getMatrixChunkOfP() : row.getMatrixChunkOfQ(), lane);
  place.splits = isP ? row.getMatrixReadsOfP() : 1;
  place.partStep = 2 * row.pStep;
}

int64_t TileMma::getInstructionsPerChunk() const {
  return laneChunks * readsPerFragment * m.lds.getChunkElements() /
         instruction.k;
}

Type TileMma::getAccumulatorType() const {
  Type sum = getAccType(e.b, elementType);
  return instruction.accRegs == 1 ? sum
                                  : VectorType::get(instruction.accRegs, sum);
}

Value TileMma::makeZeroAccumulator() {
  return e.constant(cast<TypedAttr>(e.b.getZeroAttr(getAccumulatorType())));
}

Value TileMma::emitFirstOfP() const {
  return e.add(getP().firstRow,
               emitLaneMap(e, instruction.getFirstResult(), lane));
}

Value TileMma::emitFirstOfQ() const {
  return e.add(getQ().firstRow, emitLaneMap(e, instruction.getRowOfQ(), lane));
}

Type TileMma::getSumsType() const {
  Type sum = getAccType(e.b, elementType);
  int64_t count = instruction.getColumnRegs();
  return count == 1 ? sum : VectorType::get(count, sum);
}

/// Elements [first, first + count) of a vector.
static Value takeElements(Emitter &e, Value vector, int64_t first,
                          int64_t count) {
  SmallVector<int64_t> mask(count);
  std::iota(mask.begin(), mask.end(), first);
  return vector::ShuffleOp::create(e.b, e.loc, vector, vector, mask);
}

Value TileMma::takeSums(ArrayRef<Value> accumulators, int64_t j,
                        int64_t i) const {
  int64_t splits = instruction.qRows, tile = i / splits;
  Value all =
      accumulators[lanesAlongN ? j * m.count + tile : tile * m.count + j];
  if (splits == 1)
    return all;
  int64_t count = instruction.getColumnRegs();
  return takeElements(e, all, i % splits * count, count);
}

/// One vector of the elements of all `pieces`, a power of two of them.
static Value joinVectors(Emitter &e, SmallVector<Value> pieces) {
  while (pieces.size() > 1) {
    auto type = cast<VectorType>(pieces.front().getType());
    SmallVector<int64_t> mask(2 * type.getNumElements());
    std::iota(mask.begin(), mask.end(), 0);
    for (size_t i = 0; i < pieces.size() / 2; ++i)
      pieces[i] = vector::ShuffleOp::create(e.b, e.loc, pieces[2 * i],
                                            pieces[2 * i + 1], mask);
    pieces.truncate(pieces.size() / 2);
  }
  return pieces.front();
}

Value TileMma::readFragment(bool isM, int64_t index, int64_t chunk,
                            Value buffer) {
  const FragmentSide &side = isM ? m : n;
  SmallVector<Value> read;
  for (int64_t part = 0; part < side.splits; ++part)
    for (int64_t t = 0; t < readsPerFragment; ++t)
      read.push_back(side.source->read(index, part, chunk, t, buffer));
  return joinVectors(e, std::move(read));
}

/// Elements [part * count, part * count + count) of each of the `rows` rows of
/// a fragment; in `pieces`, of each those of all rows before the next.
static Value extractPart(Emitter &e, Value fragment, int64_t rows,
                         int64_t pieces, int64_t part, int64_t count) {
  auto type = cast<VectorType>(fragment.getType());
  int64_t perRow = type.getNumElements() / rows, width = count / pieces;
  if (count == perRow && pieces == 1)
    return fragment;
  if (rows == 1 && count == 1)
    return vector::ExtractOp::create(e.b, e.loc, fragment, part);
  SmallVector<int64_t> mask;
  for (int64_t piece = 0; piece < pieces; ++piece)
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t i = 0; i < width; ++i)
        mask.push_back(row * perRow + part * count + piece * width + i);
  return vector::ShuffleOp::create(e.b, e.loc, fragment, fragment, mask);
}

/// Each part is used with every fragment of the other side, within one block:
/// made once. The fma row computes in the accumulator's type, and hands bytes
/// to dot products four in a register.
Value TileMma::takePart(Value fragment, bool isP, int64_t part) {
  Value &cached = splits[{fragment, part}];
  if (cached)
    return cached;
  // The registers of Q as A of mma.sync has them, by halves of the reduction,
  // which is how matrices are read.
  int64_t rows = isP ? instruction.pRows : instruction.qRows;
  const bool isOrdered = isP || m.lds.readsMatrices;
  int64_t pieces =
      isOrdered ? 1 : std::min<int64_t>(rows, instruction.kPerLane);
  Value taken =
      extractPart(e, fragment, rows, pieces, part, instruction.kPerLane);
  if (instruction.isFma()) {
    auto type = dyn_cast<VectorType>(taken.getType());
    if (elementType.isInteger() && hasByteDot)
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
  Value p = takePart(lanesAlongN ? fragmentN : fragmentM, /*isP=*/true, part);
  Value q = takePart(lanesAlongN ? fragmentM : fragmentN, /*isP=*/false, part);
  if (!instruction.isFma())
    return e.device.multiply(e, instruction, p, q, accumulator);
  return elementType.isInteger() ? multiplyBytes(p, q, accumulator)
                                 : multiplyFma(p, q, accumulator);
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
  if (hasByteDot)
    return e.device.dotBytes(e, p, q, accumulator);
  for (int64_t i = 0; i < instruction.kPerLane; ++i) {
    Value product = arith::MulIOp::create(
        e.b, e.loc, vector::ExtractOp::create(e.b, e.loc, p, i),
        vector::ExtractOp::create(e.b, e.loc, q, i));
    accumulator = arith::AddIOp::create(e.b, e.loc, accumulator, product);
  }
  return accumulator;
}
