//===- ChunkCopy.cpp - Brings 16-byte chunks of rows to LDS ---------------===//

#include "compiler/Conversion/Cooperative/ChunkCopy.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace tessera;

ChunkCopy::ChunkCopy(Emitter &e, const ViewAccess &access, LdsTile lds,
                     const ReductionWalk &walk, GlobalBuffer buffer,
                     int64_t threads, Value thread)
    : TileCopy(e, access, lds, walk, std::move(buffer)),
      width(access.getVectorWidth(/*index=*/2, lds.getChunkElements())),
      rowsPerPass(threads / lds.getChunks()) {
  // Neighbouring threads take what lies closer in memory: neighbouring chunks
  // of a row, or neighbouring rows (the pixels of NCHW).
  // An unknown stride is that of channels.
  const OpenNumber ofChunk = access.getSpace(2).getInnermostStep();
  const OpenNumber ofRow = access.getSpace(1).getInnermostStep();
  const bool isChunkFirst =
      ofChunk.isKnown() &&
      (!ofRow.isKnown() || int64_t(ofChunk) <= int64_t(ofRow));
  Value row = isChunkFirst ? e.divu(thread, lds.getChunks())
                           : e.remu(thread, rowsPerPass);
  chunk = isChunkFirst ? e.remu(thread, lds.getChunks())
                       : e.divu(thread, rowsPerPass);
  passes = lds.rows / rowsPerPass;
  for (int64_t first = 0; first < std::min(lds.rows, lds.getPeriod());
       first += rowsPerPass)
    ldsOffsets.push_back(
        e.toIndex(lds.emitOffset(e, e.add(row, first), chunk)));
  for (unsigned pass = 0; pass < passes; ++pass)
    addRow(e.add(row, pass * rowsPerPass),
           e.mul(chunk, lds.getChunkElements()));
}

void ChunkCopy::load(unsigned pass, unsigned, Value position, Value,
                     SmallVectorImpl<Value> &pieces) {
  Type type = getIntegerType(width);
  if (walk.hasTaps()) {
    for (int64_t first = 0; first < lds.getChunkElements(); first += width)
      pieces.push_back(loadAtTap(pass, type, position, first));
    return;
  }
  Value element = e.add(e.divu(position, access.getElementBytes()),
                        e.mul(chunk, lds.getChunkElements()));
  for (int64_t first = 0; first < lds.getChunkElements(); first += width)
    pieces.push_back(loadAtElement(pass, type, e.add(element, first)));
}

/// The pieces of a chunk as one vector of the element type.
static Value joinPieces(Emitter &e, ArrayRef<Value> pieces, VectorType type) {
  Value chunk = pieces.front();
  if (pieces.size() > 1) {
    // Scalars become a vector; two short vectors are joined.
    if (isa<VectorType>(chunk.getType())) {
      SmallVector<int64_t> mask(4);
      std::iota(mask.begin(), mask.end(), 0);
      chunk = vector::ShuffleOp::create(e.b, e.loc, pieces[0], pieces[1], mask);
    } else {
      auto joined = VectorType::get(pieces.size(), chunk.getType());
      chunk = vector::FromElementsOp::create(e.b, e.loc, joined, pieces);
    }
  }
  return vector::BitCastOp::create(e.b, e.loc, type, chunk);
}

void ChunkCopy::store(unsigned pass, Value value, Value buffer) {
  size_t within = pass % ldsOffsets.size();
  Value offset = ldsOffsets[within];
  if (pass != within)
    offset = arith::AddIOp::create(
        e.b, e.loc, offset,
        e.indexConstant((pass - within) * rowsPerPass * lds.step));
  vector::StoreOp::create(e.b, e.loc, value, buffer, offset);
}

void ChunkCopy::write(unsigned pass, unsigned, ArrayRef<Value> pieces,
                      Value buffer) {
  auto type = VectorType::get(lds.getChunkElements(), access.getElementType());
  store(pass, joinPieces(e, pieces, type), buffer);
}
