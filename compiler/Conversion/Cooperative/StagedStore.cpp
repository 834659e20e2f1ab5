//===- StagedStore.cpp - Results that are stored while the next come ------===//

#include "compiler/Conversion/Cooperative/StagedStore.h"
#include "compiler/Conversion/Common/LdsPointer.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numeric>

using namespace mlir;
using namespace tessera;

/// Rows that mix() tells apart.
static constexpr int64_t kMixedRows = 8;

static constexpr int64_t kWordBytes = 4;

static bool isOfAmd(Emitter &e) {
  return e.device.getTarget().vendor == Vendor::Amd;
}

/// Bits 0, 1, 2 of a row as bits 2, 0, 1; on AMD's chips, where lanes of two or
/// of four rows read at once, as they are.
static Value emitMix(Emitter &e, Value row) {
  if (isOfAmd(e))
    return e.andi(row, kMixedRows - 1);
  Value low = e.mul(e.andi(row, 1), 4), high = e.andi(e.shru(row, 1), 3);
  return e.add(low, high);
}

/// Whether the halves of a row's chunks change places: on AMD's chips lanes put
/// half a chunk of each of 32 rows, which else would be one half of the banks.
static Value emitSwap(Emitter &e, Value row) {
  return e.andi(e.shru(row, llvm::Log2_64(kMixedRows)), 1);
}

StagedTile tessera::makeStagedTile(int64_t rowsM, int64_t rowsN,
                                   dnn::ViewOp view, int64_t threads,
                                   bool lanesAlongN) {
  if (!lanesAlongN)
    std::swap(rowsM, rowsN);
  return {rowsM, rowsN, ViewAccess(view).getElementBytes(), threads,
          lanesAlongN};
}

int64_t StagedTile::getWidth(const ViewAccess &access) const {
  return access.getVectorWidth(hasRowsOfView ? 2 : 1, getChunkElements());
}

/// Threads have whole rows of chunks, in eights, of which places repeat.
bool StagedTile::isDivided() const {
  return getRowChunks() % kMixedRows == 0 && threads % getRowChunks() == 0 &&
         getPieceRows() % kMixedRows == 0 && rows % getPieceRows() == 0;
}

bool StagedTile::isFor(dnn::ViewOp view) const {
  constexpr int64_t kStagedBytes = 2, kLeastOfPlanes = 2;
  const ViewAccess access(view);
  return elementBytes == kStagedBytes &&
         getWidth(access) >= (hasRowsOfView     ? getChunkElements()
                              : access.isOpen() ? 1
                                                : kLeastOfPlanes) &&
         isDivided();
}

bool StagedTile::isForWords(dnn::ViewOp view) const {
  constexpr int64_t kLeastOfPlanes = 1;
  return elementBytes == kWordBytes &&
         getWidth(ViewAccess(view)) >=
             (hasRowsOfView ? getChunkElements() : kLeastOfPlanes) &&
         isDivided();
}

Value StagedStore::getRow() { return e.divu(thread, tile.getRowChunks()); }

Value StagedStore::getColumn() {
  return e.mul(e.remu(thread, tile.getRowChunks()), tile.getChunkElements());
}

/// The byte of LDS of element `column` of row `row`.
Value StagedStore::getOffset(Value row, Value column) {
  Value chunk = e.divu(column, tile.getChunkElements());
  Value rest = e.remu(column, tile.getChunkElements());
  Value place = e.xori(chunk, emitMix(e, row));
  return e.add(
      e.mul(row, tile.columns * tile.elementBytes),
      e.add(e.mul(place, kChunkBytes), e.mul(rest, tile.elementBytes)));
}

/// Whether the chunks of position `p` are bits that no lane's first column has,
/// nor where its row begins: then they change an offset by the same bits.
bool StagedStore::hasOwnBits(const TileMma &mma, int64_t p) const {
  constexpr int kMostLanes = 64;
  const int64_t chunk = tile.getChunkElements();
  const int64_t ofWave = mma.getP().count * mma.getInstruction().rows;
  if (p % chunk != 0 || !llvm::isPowerOf2_64(ofWave) ||
      !llvm::isPowerOf2_64(tile.columns))
    return false;
  return llvm::all_of(llvm::seq(kMostLanes), [&](int lane) {
    return (mma.getInstruction().getFirstResult().at(lane) & p) == 0;
  });
}

void StagedStore::put(const TileMma &mma, Value words, int64_t p, int64_t q) {
  // Of other places along Q the rows are mixed alike.
  int64_t rows = mma.getPlaceOfQ(q);
  assert(rows % kMixedRows == 0 && "rows of an instruction are eights");
  const bool isOwn = hasOwnBits(mma, p);
  Value row = mma.emitFirstOfQ();
  Value column = e.add(mma.emitFirstOfP(), isOwn ? 0 : p);
  if (isOfAmd(e) && tile.elementBytes < kWordBytes) {
    Value swap = emitSwap(e, e.add(row, rows & kMixedRows));
    column = e.xori(column, e.mul(swap, tile.getChunkElements() / 2));
  }
  Value offset = getOffset(row, column);
  if (isOwn && p > 0)
    offset = e.xori(offset, e.constant(p * tile.elementBytes));
  offset = e.add(offset, rows * tile.columns * tile.elementBytes);
  LLVM::StoreOp::create(e.b, e.loc, words, emitLdsPointer(e, lds, offset));
}

Value StagedStore::read(Value piece) {
  Value last = e.constant(tile.countPieces() - 1);
  piece = arith::MinUIOp::create(e.b, e.loc, piece, last);
  Value offset = e.add(getOffset(getRow(), getColumn()),
                       e.mul(piece, tile.threads * kChunkBytes));
  auto type = VectorType::get(kChunkBytes / 4, e.b.getI32Type());
  Value words =
      LLVM::LoadOp::create(e.b, e.loc, type, emitLdsPointer(e, lds, offset));
  if (!isOfAmd(e) || tile.elementBytes == kWordBytes)
    return words;
  Value swapped = vector::ShuffleOp::create(e.b, e.loc, words, words,
                                            ArrayRef<int64_t>{2, 3, 0, 1});
  Value row = e.add(getRow(), e.mul(piece, tile.getPieceRows()));
  Value isSwapped = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ne,
                                          emitSwap(e, row), e.constant(0));
  return arith::SelectOp::create(e.b, e.loc, isSwapped, swapped, words);
}

/// Elements [first, first + count) of a chunk: one, or whole words.
static Value takeElements(Emitter &e, Value chunk, int64_t bytes, int64_t first,
                          int64_t count) {
  if (count * bytes < kWordBytes) {
    Type type =
        VectorType::get(kChunkBytes / bytes, e.b.getIntegerType(bytes * 8));
    Value all = vector::BitCastOp::create(e.b, e.loc, type, chunk);
    return vector::ExtractOp::create(e.b, e.loc, all, first);
  }
  first = first * bytes / kWordBytes;
  count = count * bytes / kWordBytes;
  if (count == 1)
    return vector::ExtractOp::create(e.b, e.loc, chunk, first);
  if (count * kWordBytes == kChunkBytes)
    return chunk;
  SmallVector<int64_t> mask(count);
  std::iota(mask.begin(), mask.end(), first);
  return vector::ShuffleOp::create(e.b, e.loc, chunk, chunk, mask);
}

/// The pixels of a plane of unknown size, which neighbours of a chunk are: if
/// their number is a multiple of those of one store, these are in one plane.
static std::optional<OpenNumber> findOpenPlane(const StagedTile &tile,
                                               const ViewAccess &access) {
  const AccessSpace rows = access.getSpace(1);
  const bool arePixels =
      !tile.hasRowsOfView && !rows.sizes.empty() &&
      !rows.sizes.back().isKnown() &&
      rows.coefs[0].back() == access.getElementBytes() &&
      llvm::all_of(llvm::drop_begin(rows.coefs),
                   [](const auto &form) { return form.back() == 0; });
  return arePixels ? std::optional(rows.sizes.back()) : std::nullopt;
}

void StagedStore::store(Value words, const StagedPlace &place, Value piece) {
  Value row = e.add(getRow(), e.mul(piece, tile.getPieceRows()));
  const OpenNumber rows = access.getSpace(1).getExtent();
  const OpenNumber columns = access.getSpace(2).getExtent();
  StoreSide p{2, columns, tile.columns, getColumn(), place.column0};
  StoreSide q{1, rows, tile.rows, row, place.row0};
  if (!tile.hasRowsOfView) {
    p = {1, rows, tile.columns, getColumn(), place.row0};
    q = {2, columns, tile.rows, row, place.column0};
  }
  StoreView view(e, access, place.buffer, p, q);
  StorePlace placeQ = view.locateQ(0);
  placeQ.valid = e.both(placeQ.valid, place.exists);
  placeQ.valid = e.both(placeQ.valid, e.ult(piece, tile.countPieces()));
  const auto storeBy = [&](int64_t width) {
    for (int64_t first = 0; first < tile.getChunkElements(); first += width)
      view.store(takeElements(e, words, tile.elementBytes, first, width),
                 view.locateP(first), placeQ);
  };
  constexpr int64_t kTogether = 4;
  const int64_t width = tile.getWidth(access);
  const std::optional<OpenNumber> plane = findOpenPlane(tile, access);
  if (width > 1 || !plane)
    return storeBy(width);
  Value isWhole = arith::CmpIOp::create(
      e.b, e.loc, arith::CmpIPredicate::eq,
      e.andi(e.constant(*plane), kTogether - 1), e.constant(0));
  auto choice = scf::IfOp::create(e.b, e.loc, isWhole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(&choice.getThenRegion().front());
  storeBy(kTogether);
  e.b.setInsertionPointToStart(&choice.getElseRegion().front());
  storeBy(1);
}
