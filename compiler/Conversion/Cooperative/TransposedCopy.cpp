//===- TransposedCopy.cpp - A factor in LDS as it lies in memory ----------===//

#include "compiler/Conversion/Cooperative/TransposedCopy.h"
#include "compiler/Conversion/Common/LdsPointer.h"

#include <map>

using namespace mlir;
using namespace tessera;

/// Rows of a chunk, lines of a matrix, and chunks that the swizzle spreads.
static constexpr int64_t kElementBytes = 2;
static constexpr int64_t kChunkRows = kChunkBytes / kElementBytes;
static constexpr int64_t kMatrixLines = 8;
static constexpr int64_t kSpread = 8;
static constexpr int64_t kSpreadRows = kSpread * kChunkRows;

/// Where chunk `chunk` of line `line` lies, in chunks of the line.
static Value emitPlace(Emitter &e, Value line, Value chunk) {
  return e.xori(chunk, e.andi(line, kSpread - 1));
}

//===----------------------------------------------------------------------===//
// To LDS
//===----------------------------------------------------------------------===//

bool TransposedCopy::isFor(const ViewAccess &access,
                           const MatrixInstruction &instruction) {
  return instruction.readsMatrices() &&
         access.getElementBytes() == kElementBytes &&
         access.getVectorWidth(/*index=*/1, kChunkRows) == kChunkRows &&
         access.getVectorWidth(/*index=*/2, kChunkRows) != kChunkRows;
}

bool TransposedCopy::divides(int64_t rows, int64_t step, int64_t threads) {
  int64_t chunks = rows / kChunkRows;
  return rows % kSpreadRows == 0 && llvm::isPowerOf2_64(rows) &&
         threads % chunks == 0 && step % (threads / chunks) == 0;
}

TransposedCopy::TransposedCopy(Emitter &e, const ViewAccess &access,
                               LdsTile lds, const ReductionWalk &walk,
                               GlobalBuffer buffer, int64_t threads,
                               Value thread)
    : TileCopy(e, access, lds, walk, std::move(buffer)),
      passBytes(threads * kChunkBytes) {
  int64_t chunks = lds.rows / kChunkRows, passLines = threads / chunks;
  passes = lds.step / passLines;
  int64_t distinct = std::max<int64_t>(1, kSpread / passLines);
  places = std::min<int64_t>(passes, distinct);
  repeatBytes = places * passLines * int64_t(getWalkStep());
  place = e.mul(thread, kChunkBytes);
  Value firstLine = e.divu(thread, chunks);
  for (unsigned pass = 0; pass < places; ++pass) {
    Value line = e.add(firstLine, pass * passLines);
    Value chunk = emitPlace(e, line, e.remu(thread, chunks));
    addRow(e.mul(chunk, kChunkRows), line);
  }
}

void TransposedCopy::load(unsigned pass, unsigned, Value position, Value buffer,
                          SmallVectorImpl<Value> &) {
  Value pointer = emitLdsPointer(e, buffer, e.add(place, pass * passBytes));
  loadToLds(pass % places, pointer, position, pass / places * repeatBytes);
}

//===----------------------------------------------------------------------===//
// To registers
//===----------------------------------------------------------------------===//

namespace {
class TransposedSource : public FragmentSource {
public:
  TransposedSource(Emitter &e, int64_t rows, const FragmentPlace &place,
                   bool isP, Value lane);

  Value read(int64_t index, int64_t part, int64_t q, int64_t t,
             Value buffer) override;

private:
  Emitter &e;
  int64_t lineBytes;
  FragmentPlace place;
  /// Bytes to the lane's line of the first matrices, for each row within those
  /// that the swizzle spreads.
  std::map<int64_t, Value> offsets;
};
} // namespace

/// The matrices of P are two chunks of a part's reduction, then those of the
/// next eight rows; those of Q eight rows and the next, then the next chunk.
TransposedSource::TransposedSource(Emitter &e, int64_t rows,
                                   const FragmentPlace &place, bool isP,
                                   Value lane)
    : e(e), lineBytes(rows * kElementBytes), place(place) {
  Value low = e.remu(e.divu(lane, kMatrixLines), 2);
  Value high = e.divu(lane, 2 * kMatrixLines);
  Value line =
      e.add(e.remu(lane, kMatrixLines), e.mul(isP ? low : high, kMatrixLines));
  Value chunk = e.add(e.divu(place.firstRow, kChunkRows), isP ? high : low);
  for (int64_t i = 0; i < place.count; ++i)
    for (int64_t part = 0; part < place.splits; ++part) {
      int64_t row = place.getRow(i, part) % kSpreadRows;
      Value &offset = offsets[row];
      if (offset)
        continue;
      Value at = emitPlace(e, line, e.add(chunk, row / kChunkRows));
      offset = e.add(e.mul(line, lineBytes), e.mul(at, kChunkBytes));
    }
}

Value TransposedSource::read(int64_t index, int64_t part, int64_t q, int64_t,
                             Value buffer) {
  int64_t row = place.getRow(index, part), spread = row % kSpreadRows;
  int64_t line = q * MatrixInstruction::kMatrixChunks * kChunkRows;
  Value offset =
      e.add(offsets[spread], line * lineBytes + (row - spread) * kElementBytes);
  return readTransposedMatrices(e, emitLdsPointer(e, buffer, offset),
                                VectorType::get(kChunkRows, place.elementType));
}

std::unique_ptr<FragmentSource>
tessera::readTransposed(Emitter &e, int64_t rows, const FragmentPlace &place,
                        bool isP, Value lane) {
  return std::make_unique<TransposedSource>(e, rows, place, isP, lane);
}
