//===- SplitOperands.cpp - f32 operands in terms of bf16 ------------------===//

#include "compiler/Conversion/Hopper/SplitOperands.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

/// f32s of 16 bytes.
static constexpr int64_t kPerChunk = 4;
/// Bytes of 8 rows of 128.
static constexpr int64_t kGroupBytes = 8 * kRowBytes;
/// Of two blocks of 32 columns, which become one of 64 of a term, twice.
static constexpr int64_t kColumnsBytes = 2 * kPixelBlockBytes;

/// Each 8 rows of 128 bytes become 8 rows of 64 bytes of the first term and of
/// the second; of columns that lie together, each two blocks of 32 become one
/// of 64 of either. The other two terms are as far behind all of that.
int64_t tessera::getTermOffset(const HopperShape &shape, SplitPair::Term term,
                               bool isTransposed) {
  const int64_t behind = shape.getBytesB() / 2;
  const int64_t within = isTransposed ? kPixelBlockBytes : kGroupBytes / 2;
  switch (term) {
  case SplitPair::First:
    return 0;
  case SplitPair::FirstFinite:
    return behind;
  case SplitPair::Second:
    return within;
  case SplitPair::Third:
    return behind + within;
  }
  llvm_unreachable("every term has a case");
}

static Value loadFour(Emitter &e, Value pointer) {
  return LLVM::LoadOp::create(e.b, e.loc,
                              VectorType::get(kPerChunk, e.b.getF32Type()),
                              pointer, /*alignment=*/kChunkBytes);
}

static Value extract(Emitter &e, Value vector, int64_t index) {
  return LLVM::ExtractElementOp::create(e.b, e.loc, vector, e.constant(index));
}

//===----------------------------------------------------------------------===//
// A, in registers
//===----------------------------------------------------------------------===//

/// Lane 4 g + t has the rows g and g + 8 of its warp's 16, and of each 8 k the
/// places 2 t and 2 t + 1 (PTX ISA 8.6, "Register Fragments" of wgmma).
ChannelFragments::ChannelFragments(Emitter &e, const HopperShape &shape,
                                   Value warp, Value lane, Value firstRow)
    : e(e), shape(shape) {
  constexpr int64_t kWarpRows = 16, kPairBytes = 8, kEightChunks = 2;
  Value g = e.shru(lane, 2), t = e.andi(lane, 3);
  Value row = e.add(e.add(firstRow, e.mul(warp, kWarpRows)), g);
  Value begin = e.add(e.mul(row, kRowBytes), e.mul(e.andi(t, 1), kPairBytes));
  Value chunk = e.xori(e.shru(t, 1), g);
  for (int64_t i = 0; i < kEights; ++i)
    offsets[i] = e.add(
        begin, e.mul(e.xori(chunk, e.constant(i * kEightChunks)), kChunkBytes));
}

SmallVector<Value> ChannelFragments::load(Value buffer) const {
  auto loadPair = [&](Value place) {
    return LLVM::LoadOp::create(e.b, e.loc,
                                VectorType::get(2, e.b.getF32Type()), place,
                                /*alignment=*/8);
  };
  SmallVector<Value> values;
  for (int64_t block = 0; block < shape.blocks; ++block)
    for (Value offset : offsets) {
      Value place = addBytes(e, addBytes(e, buffer, offset),
                             e.constant(block * kWgmmaRows * kRowBytes));
      Value upper = loadPair(place);
      // The row 8 below is swizzled alike.
      Value lower = loadPair(addBytes(e, place, e.constant(kGroupBytes)));
      for (int64_t i = 0; i < 2; ++i)
        for (Value pair : {upper, lower})
          values.push_back(extract(e, pair, i));
    }
  return values;
}

/// f32s, as PixelFragments orders them.
static SmallVector<Value> loadValues(Emitter &e, const HopperShape &shape,
                                     bool isTransposed, Value warp, Value lane,
                                     Value firstRow, Value buffer) {
  if (!isTransposed)
    return ChannelFragments(e, shape, warp, lane, firstRow).load(buffer);
  SmallVector<Value> values =
      PixelFragments(e, shape, warp, lane, firstRow).load(buffer);
  for (Value &value : values)
    value = arith::BitcastOp::create(e.b, e.loc, e.b.getF32Type(), value);
  return values;
}

SmallVector<SmallVector<SplitPair>>
tessera::loadTerms(Emitter &e, const HopperShape &shape, bool isTransposed,
                   Value warp, Value lane, Value firstRow, Value buffer) {
  constexpr int64_t kRegisters = 4, kValues = 2 * kRegisters;
  SmallVector<Value> values =
      loadValues(e, shape, isTransposed, warp, lane, firstRow, buffer);
  SmallVector<SmallVector<SplitPair>> terms;
  for (int64_t share = 0; share < kSplitShares; ++share)
    for (int64_t block = 0; block < shape.blocks; ++block) {
      ArrayRef<Value> all = ArrayRef(values).slice(
          (block * kSplitShares + share) * kValues, kValues);
      SmallVector<SplitPair> &pairs = terms.emplace_back();
      // Of each four values the rows g and g + 8 take turns.
      for (int64_t i = 0; i < kRegisters; ++i) {
        const int64_t low = i / 2 * 4 + i % 2;
        pairs.push_back(splitPair(e, all[low], all[low + 2]));
      }
    }
  return terms;
}

//===----------------------------------------------------------------------===//
// B, in shared memory
//===----------------------------------------------------------------------===//

/// Lane 4 r + j has a share of row r of a piece.
///
/// Where the reduction lies together, that is the j-th of four 8 k. Rows of
/// terms have 64 bytes, of which each wgmma reads 32; their chunks are swizzled
/// by r / 2.
///
/// Where columns lie together, it is 16 columns, of which half of the lanes
/// read the last 8 first, so that every 8 lanes read and write all banks.
TermWriter::TermWriter(Emitter &e, const HopperShape &shape, bool isTransposed,
                       Value lane)
    : e(e), shape(shape), isTransposed(isTransposed) {
  Value r = e.shru(lane, 2), j = e.andi(lane, 3);
  Value row = e.mul(r, kRowBytes);
  auto addChunk = [&](Value begin, Value chunk) {
    return e.add(begin, e.mul(chunk, kChunkBytes));
  };
  // Eight f32 are two chunks, which become one.
  auto addReads = [&](Value begin, Value eight) {
    for (int64_t i = 0; i < 2; ++i)
      reads.push_back(addChunk(begin, e.xori(e.add(e.mul(eight, 2), i), r)));
  };
  if (!isTransposed) {
    addReads(row, j);
    writes.push_back(
        addChunk(e.mul(r, kRowBytes / 2), e.xori(j, e.shru(r, 1))));
    return;
  }
  Value block = e.shru(j, 1);
  Value begin = e.add(row, e.mul(block, kPixelBlockBytes));
  for (int64_t half = 0; half < 2; ++half) {
    Value which = e.xori(block, e.constant(half));
    addReads(begin, e.add(e.mul(e.andi(j, 1), 2), which));
    writes.push_back(addChunk(row, e.xori(e.add(e.mul(j, 2), which), r)));
  }
}

int64_t TermWriter::countPieces() const {
  constexpr int64_t kRows = 8, kBlock = 64;
  // Of an odd number of blocks the last has a neighbour that nobody reads.
  return isTransposed ? llvm::divideCeilSigned(shape.tileN, kBlock) *
                            (kPixelBlock / kRows)
                      : shape.tileN / kRows;
}

Value TermWriter::getPiece(Value buffer, Value piece) const {
  if (!isTransposed)
    return addBytes(e, buffer, e.mul(piece, kGroupBytes));
  constexpr int64_t kPerColumns = kPixelBlockBytes / kGroupBytes;
  return addBytes(e, buffer,
                  e.add(e.mul(e.divu(piece, kPerColumns), kColumnsBytes),
                        e.mul(e.remu(piece, kPerColumns), kGroupBytes)));
}

void TermWriter::store(Value piece, ArrayRef<SplitPair> pairs) const {
  constexpr int64_t kPairs = 4; // Of eight.
  auto type = VectorType::get(kPairs, e.b.getI32Type());
  for (auto [eight, offset] : llvm::enumerate(writes))
    for (unsigned term = 0; term < SplitPair::kTerms; ++term) {
      Value chunk = LLVM::UndefOp::create(e.b, e.loc, type);
      for (int64_t i = 0; i < kPairs; ++i)
        chunk = LLVM::InsertElementOp::create(
            e.b, e.loc, chunk, pairs[eight * kPairs + i].terms[term],
            e.constant(i));
      Value place = addBytes(e, addBytes(e, piece, offset),
                             e.constant(getTermOffset(
                                 shape, SplitPair::Term(term), isTransposed)));
      LLVM::StoreOp::create(e.b, e.loc, chunk, place,
                            /*alignment=*/kChunkBytes);
    }
}

void TermWriter::emit(Value buffer, Value first) const {
  SmallVector<Value> pieces;
  SmallVector<SmallVector<Value>> loaded;
  for (int64_t i = 0; i < kPiecesAtOnce; ++i) {
    pieces.push_back(getPiece(buffer, e.add(first, i)));
    SmallVector<Value> &fours = loaded.emplace_back();
    for (Value offset : reads)
      fours.push_back(loadFour(e, addBytes(e, pieces.back(), offset)));
  }
  emitWarpSync(e); // Terms are written where others read.
  for (auto [piece, fours] : llvm::zip(pieces, loaded)) {
    SmallVector<SplitPair> pairs;
    for (Value four : fours)
      for (int64_t i = 0; i < kPerChunk; i += 2)
        pairs.push_back(
            splitPair(e, extract(e, four, i), extract(e, four, i + 1)));
    store(piece, pairs);
  }
}

void TermWriter::emitShare(Value buffer, const WarpShare &share) const {
  Value first = e.mul(e.add(share.warp, -share.first), kPiecesAtOnce);
  auto loop =
      scf::ForOp::create(e.b, e.loc, first, e.constant(countPieces()),
                         e.constant(kPiecesAtOnce * share.count), ValueRange{});
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  emit(buffer, loop.getInductionVar());
}
