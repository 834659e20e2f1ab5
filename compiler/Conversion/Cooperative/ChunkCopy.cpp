//===- ChunkCopy.cpp - Brings 16-byte chunks of rows to LDS ---------------===//

#include "compiler/Conversion/Cooperative/ChunkCopy.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
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
  bool isChunkFirst = access.getSpace(2).getInnermostStep() <=
                      access.getSpace(1).getInnermostStep();
  Value row = isChunkFirst ? e.divu(thread, lds.getChunks())
                           : e.remu(thread, rowsPerPass);
  chunk = isChunkFirst ? e.remu(thread, lds.getChunks())
                       : e.divu(thread, rowsPerPass);
  passes = lds.rows / rowsPerPass;
  for (int64_t first = 0; first < std::min(lds.rows, lds.getPeriod());
       first += rowsPerPass)
    ldsOffsets.push_back(
        e.toIndex(lds.emitOffset(e, e.add(row, first), chunk)));
  for (int64_t step = 0; step < (walk.hasRows ? walk.inner : lds.step);
       step += lds.step)
    for (unsigned pass = 0; pass < passes; ++pass) {
      Value passRow = e.add(row, pass * rowsPerPass);
      if (walk.hasRows)
        addChunk(passRow, chunk, step);
      else
        addRow(passRow, e.mul(chunk, lds.getChunkElements()));
    }
  if (walk.hasRows)
    width = lds.getChunkElements();
}

void ChunkCopy::load(unsigned pass, unsigned, Value position, Value,
                     SmallVectorImpl<Value> &pieces) {
  Type type = getIntegerType(width);
  if (walk.hasRows) {
    // The steps of a turn have places of their own.
    int64_t step =
        getConstantIntValue(position).value() / (lds.step * lds.elementBytes);
    pieces.push_back(
        loadAtTap(step * passes + pass, type, /*position=*/e.constant(0), 0));
    return;
  }
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

/// A chunk of a row of pixels as its tap sees it.
Value ChunkCopy::moveChunk(Value chunk, const ChunkMoves &moves) {
  auto type = cast<VectorType>(chunk.getType());
  const int64_t count = type.getNumElements();
  SmallVector<Value> words;
  for (int64_t i = 0; i < count; ++i)
    words.push_back(vector::ExtractOp::create(e.b, e.loc, chunk, i));
  auto permute = [&](Value upper, Value lower, Value selector) {
    return callIntrinsic(e, "llvm.amdgcn.perm", type.getElementType(),
                         {upper, lower, selector});
  };
  if (auto [first, others] = moves[0]; first)
    for (int64_t i = count - 1; i >= 0; --i)
      words[i] = permute(words[i], words[std::max<int64_t>(i - 1, 0)],
                         i == 0 ? first : others);
  if (auto [last, others] = moves[1]; last)
    for (int64_t i = 0; i < count; ++i)
      words[i] = permute(words[std::min(i + 1, count - 1)], words[i],
                         i == count - 1 ? last : others);
  return vector::FromElementsOp::create(e.b, e.loc, type, words);
}

void ChunkCopy::write(unsigned pass, unsigned, unsigned step,
                      ArrayRef<Value> pieces, Value buffer) {
  auto type = VectorType::get(lds.getChunkElements(), access.getElementType());
  Value chunk = pieces.front();
  if (walk.hasRows)
    chunk = moveChunk(chunk, getChunkMoves(step * passes + pass));
  Value value = walk.hasRows
                    ? vector::BitCastOp::create(e.b, e.loc, type, chunk)
                    : joinPieces(e, pieces, type);
  size_t within = pass % ldsOffsets.size();
  Value offset = ldsOffsets[within];
  if (pass != within)
    offset = arith::AddIOp::create(
        e.b, e.loc, offset,
        e.indexConstant((pass - within) * rowsPerPass * lds.step));
  vector::StoreOp::create(e.b, e.loc, value, buffer, offset);
}
