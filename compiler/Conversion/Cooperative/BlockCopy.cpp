//===- BlockCopy.cpp - Transposes a factor on its way to LDS --------------===//

#include "compiler/Conversion/Cooperative/BlockCopy.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace tessera;

/// Bytes of one LDS write of a block's row, and how many of them a chunk takes.
static constexpr int64_t kWriteBytes = 8;
static constexpr int64_t kWritesPerChunk = kChunkBytes / kWriteBytes;

/// Rows of a pair, which fills a register.
static constexpr int64_t kPairRows = 2;

/// Blocks that neighbouring lanes take one after the other along the rows, for
/// each half of a chunk: sixteen lanes then write each bank once (LdsTile.h).
static constexpr int64_t kNeighbours = 8;

int64_t BlockCopy::chooseBlockRows(const ViewAccess &access, const LdsTile &lds,
                                   int64_t threads) {
  // The layout spreads rows of four chunks and more.
  if (lds.getChunks() < 4)
    return 1;
  int64_t width = access.getVectorWidth(/*index=*/1, 4);
  for (int64_t rows : {4, 2})
    if (rows <= width && rows * lds.elementBytes <= kChunkBytes &&
        lds.rows % rows == 0 &&
        lds.rows / rows * lds.getChunks() * kWritesPerChunk % threads == 0)
      return rows;
  return 1;
}

bool BlockCopy::copiesPairs(const ViewAccess &access, const LdsTile &lds,
                            int64_t threads) {
  constexpr int64_t kElementBytes = 2, kLeastChunks = 4;
  unsigned form = 0;
  return lds.elementBytes == kElementBytes && access.hasRowPairs(form) &&
         access.getTensorBytes() < kOutOfRange &&
         lds.getChunks() >= kLeastChunks && lds.rows % kPairRows == 0 &&
         lds.rows / kPairRows * lds.getChunks() % threads == 0;
}

BlockCopy::BlockCopy(Emitter &e, const ViewAccess &access, LdsTile lds,
                     const ReductionWalk &walk, GlobalBuffer buffer,
                     int64_t threads, Value thread)
    : TileCopy(e, access, lds, walk, std::move(buffer)),
      writeBytes(lds.hasPairs ? kChunkBytes : kWriteBytes),
      depth(writeBytes / lds.elementBytes) {
  passes = lds.rows / lds.blockRows * lds.step / depth / threads;
  for (unsigned pass = 0; pass < passes; ++pass)
    addPass(e.add(thread, pass * threads));
}

/// Lanes: neighbouring blocks of rows, the halves of a chunk, further blocks,
/// the chunks.
void BlockCopy::addPass(Value block) {
  int64_t perColumn = lds.rows / lds.blockRows;
  int64_t neighbours = std::gcd(perColumn, kNeighbours);
  int64_t halves = kChunkBytes / writeBytes;
  Value near = e.remu(block, neighbours);
  block = e.divu(block, neighbours);
  Value half = e.remu(block, halves);
  block = e.divu(block, halves);
  Value far = e.remu(block, perColumn / neighbours);
  Value chunk = e.divu(block, perColumn / neighbours);

  Value row = e.mul(e.add(near, e.mul(far, neighbours)), lds.blockRows);
  Value first = e.add(e.mul(chunk, lds.getChunkElements()), e.mul(half, depth));
  firstElement.push_back(first);
  for (int64_t place = 0; place < (lds.hasPairs ? 1 : depth); ++place)
    addRow(row, e.add(first, place));
  SmallVector<Value> offsets;
  for (int64_t i = 0; i < lds.blockRows; ++i)
    offsets.push_back(e.toIndex(
        e.add(lds.emitOffset(e, e.add(row, i), chunk), e.mul(half, depth))));
  ldsOffsets.push_back(std::move(offsets));
}

void BlockCopy::load(unsigned pass, unsigned part, Value position, Value,
                     SmallVectorImpl<Value> &pieces) {
  if (lds.hasPairs) {
    pieces.push_back(loadPairAtTap(pass, position, part));
    // They are of the tap that is loaded, and pieces are written a step later.
    if (part + 1 == depth)
      llvm::append_range(pieces, getPairSelectors(pass));
    return;
  }
  Type type = getIntegerType(lds.blockRows);
  unsigned place = pass * depth + part;
  if (walk.hasTaps()) {
    pieces.push_back(loadAtTap(place, type, position, 0));
    return;
  }
  Value element = e.add(e.divu(position, access.getElementBytes()),
                        e.add(firstElement[pass], part));
  pieces.push_back(loadAtElement(place, type, element));
}

/// By pairs, so that each step is one byte permute where elements are shorter
/// than a register.
Value tessera::gatherElement(Emitter &e, ArrayRef<Value> pieces,
                             int64_t index) {
  auto type = cast<VectorType>(pieces.front().getType());
  if (pieces.size() == 1)
    return vector::ShuffleOp::create(e.b, e.loc, pieces[0], pieces[0],
                                     ArrayRef<int64_t>{index});
  if (pieces.size() == 2)
    return vector::ShuffleOp::create(
        e.b, e.loc, pieces[0], pieces[1],
        ArrayRef<int64_t>{index, type.getNumElements() + index});
  size_t half = pieces.size() / 2;
  Value low = gatherElement(e, pieces.take_front(half), index);
  Value high = gatherElement(e, pieces.drop_front(half), index);
  SmallVector<int64_t> mask(pieces.size());
  std::iota(mask.begin(), mask.end(), 0);
  return vector::ShuffleOp::create(e.b, e.loc, low, high, mask);
}

/// Row `part` of the pairs of a chunk.
Value BlockCopy::choosePairs(unsigned part, ArrayRef<Value> pieces) {
  Type i32 = e.b.getI32Type();
  SmallVector<Value> words;
  for (int64_t i = 0; i < depth; i += kPairRows)
    words.push_back(
        callIntrinsic(e, "llvm.amdgcn.perm", i32,
                      {pieces[i + 1], pieces[i], pieces[depth + part]}));
  Value chunk = vector::FromElementsOp::create(
      e.b, e.loc, VectorType::get(words.size(), i32), words);
  return vector::BitCastOp::create(
      e.b, e.loc, VectorType::get(depth, access.getElementType()), chunk);
}

void BlockCopy::write(unsigned pass, unsigned part, ArrayRef<Value> pieces,
                      Value buffer) {
  if (lds.hasPairs) {
    vector::StoreOp::create(e.b, e.loc, choosePairs(part, pieces), buffer,
                            ldsOffsets[pass][part]);
    return;
  }
  auto type = VectorType::get(lds.blockRows, access.getElementType());
  SmallVector<Value> columns;
  for (Value piece : pieces) {
    if (!isa<VectorType>(piece.getType()))
      piece = vector::BroadcastOp::create(
          e.b, e.loc, VectorType::get(1, piece.getType()), piece);
    columns.push_back(vector::BitCastOp::create(e.b, e.loc, type, piece));
  }
  vector::StoreOp::create(e.b, e.loc, gatherElement(e, columns, part), buffer,
                          ldsOffsets[pass][part]);
}
