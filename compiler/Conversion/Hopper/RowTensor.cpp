//===- RowTensor.cpp - A tensor whose rows a warp moves -------------------===//

#include "compiler/Conversion/Hopper/RowTensor.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

static constexpr int64_t kLanes = 32;
static constexpr int64_t kWidestBytes = 16; ///< Of a piece.
/// Coordinates of a view.
static constexpr unsigned kRow = 1, kColumn = 2;

RowTensor::RowTensor(Emitter &e, const HopperShape &shape, dnn::ViewOp view,
                     Value pointer, Value warp, Value lane)
    : e(e), shape(shape), access(view), pointer(pointer), warp(warp),
      lane(lane), bytes(shape.resultBytes) {
  width = access.getVectorWidth(shape.isColumnMajor ? kRow : kColumn,
                                kWidestBytes / bytes);
  lanesPerRow = std::min(kLanes, shape.getStagedElements() / width);
  constexpr int64_t kMostPieces = 4;
  batchPieces = std::min(kMostPieces, kStoreRows * lanesPerRow / kLanes);
  if (shape.isColumnMajor && width == 1)
    lines = findLines(access);
}

void RowTensor::begin(const ResultTile &place) {
  tile = place;
  tensor = makeBuffer(e, access, pointer, tile.group, tile.row);
}

/// Runs `body` with the first row, of the warp's 16, of each batch of the lane.
void RowTensor::forEachBatch(llvm::function_ref<void(Value)> body) {
  Value laneRow = e.divu(lane, lanesPerRow);
  const int64_t rows = kLanes / lanesPerRow * batchPieces;
  if (rows == kStoreRows)
    return body(laneRow);
  auto loop = scf::ForOp::create(e.b, e.loc, e.constant(0),
                                 e.constant(kStoreRows), e.constant(rows));
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  body(e.add(laneRow, loop.getInductionVar()));
}

/// Neighbours along staged rows are P. `row` and `column` are the first of the
/// lane in the tile.
StoreView RowTensor::getView(Value row, Value column) const {
  StoreSide rows{kRow, access.getSpace(kRow).getExtent(), shape.tileM, row,
                 tile.row};
  StoreSide columns{kColumn, access.getSpace(kColumn).getExtent(), shape.tileN,
                    column, tile.column};
  return {e, access, *tensor, shape.isColumnMajor ? rows : columns,
          shape.isColumnMajor ? columns : rows};
}

/// The pieces of a batch, and where they are in a staging buffer. Of what is
/// column-major, staged rows are columns.
void RowTensor::visit(Value batch, int64_t row, int64_t column,
                      Visitor visitor) {
  Value laneElement = e.mul(e.remu(lane, lanesPerRow), width);
  Value warpRow = e.add(e.mul(warp, kStoreRows), batch);
  const bool isTurned = shape.isColumnMajor;
  const StoreView view =
      isTurned ? getView(laneElement, warpRow) : getView(warpRow, laneElement);
  if (isTurned)
    std::swap(row, column);
  const int64_t rowsAtOnce = kLanes / lanesPerRow;
  for (int64_t i = 0; i < batchPieces * rowsAtOnce; i += rowsAtOnce) {
    StorePlace rowPlace = view.locateQ(row + i);
    for (int64_t j = 0; j < shape.getStagedElements(); j += lanesPerRow * width)
      visitor(view, view.locateP(column + j), rowPlace,
              getStagedOffset(e, e.add(batch, i), e.add(laneElement, j), bytes,
                              shape.storeRowBytes));
  }
}

RowTensor::Pieces RowTensor::load(Value batch, int64_t row, int64_t column) {
  Pieces pieces;
  visit(batch, row, column,
        [&](const StoreView &view, const StorePlace &p, const StorePlace &q,
            Value) { pieces.push_back(view.load(p, q, width)); });
  return pieces;
}

RowTensor::Pieces RowTensor::fetch(int64_t row, int64_t column) {
  if (width * bytes < kWidestBytes || !shape.hasSpareRegisters())
    return {};
  Pieces pieces;
  forEachBatch([&](Value batch) { pieces = load(batch, row, column); });
  return pieces;
}

void RowTensor::stage(const Pieces &fetched, int64_t row, int64_t column,
                      Value buffer) {
  forEachBatch([&](Value batch) {
    Pieces pieces = fetched.empty() ? load(batch, row, column) : fetched;
    const Value *next = pieces.begin();
    visit(batch, row, column,
          [&](const StoreView &, const StorePlace &, const StorePlace &,
              Value offset) {
            LLVM::StoreOp::create(e.b, e.loc, *next++,
                                  addBytes(e, buffer, offset), width * bytes);
          });
  });
}

/// Integers, as StoreView takes them.
Type RowTensor::getPieceType() const {
  constexpr int64_t kWordBytes = 4;
  const int64_t size = width * bytes;
  Type word = e.b.getIntegerType(std::min(size, kWordBytes) * 8);
  return size > kWordBytes ? VectorType::get(size / kWordBytes, word) : word;
}

//===----------------------------------------------------------------------===//
// Pairs of pixels
//===----------------------------------------------------------------------===//

/// Rows are positions of lines, of which one check, of the pixel alone, leaves
/// an even number; and these begin at whole words.
std::optional<RowTensor::Lines> RowTensor::findLines(const ViewAccess &access) {
  constexpr int64_t kElement = 2, kWord = 4;
  const AccessSpace rows = access.getSpace(kRow);
  if (access.getElementBytes() != kElement || rows.sizes.empty() ||
      rows.getInnermostStep() != kElement || access.getConstant(0) % kWord != 0)
    return std::nullopt;
  for (unsigned index = 0; index < 3; ++index) {
    const AccessSpace space = access.getSpace(index);
    for (int64_t step : ArrayRef(space.coefs[0]).drop_back(index == kRow))
      if (step % kWord != 0)
        return std::nullopt;
  }
  unsigned form = 0;
  for (unsigned f = 1; f < access.getNumForms(); ++f)
    if (rows.coefs[f].back() != 0) {
      if (form != 0)
        return std::nullopt;
      form = f;
    }
  auto isOfPixelAlone = [&](unsigned index) {
    const AccessSpace space = access.getSpace(index);
    return llvm::all_of(ArrayRef(space.coefs[form]).drop_back(index == kRow),
                        [](int64_t factor) { return factor == 0; });
  };
  if (form == 0 || rows.coefs[form].back() != 1 ||
      access.getConstant(form) != 0 || access.getBound(form) % 2 != 0 ||
      !llvm::all_of(ArrayRef<unsigned>{0, kRow, kColumn}, isOfPixelAlone))
    return std::nullopt;
  return Lines{rows.sizes.back(), access.getBound(form)};
}

/// Which of its line's positions a staged one is, counted from the tile's first
/// row.
Value RowTensor::getPixel(Value staged) const {
  return e.remu(e.add(tile.row, staged), lines->positions);
}

/// Two bytes of a staged row.
Value RowTensor::loadStaged(Value buffer, Value row, Value element) {
  Value offset = getStagedOffset(e, row, element, bytes, shape.storeRowBytes);
  return LLVM::LoadOp::create(e.b, e.loc, e.b.getI16Type(),
                              addBytes(e, buffer, offset), bytes);
}

/// A lane has two neighbours of each of the warp's 16 rows: the two that begin
/// at its even element, or, if that is an odd pixel, one further. In front of
/// a line, that is one where an odd number of positions is left before it.
void RowTensor::storePairs(Value buffer, int64_t row, int64_t column) {
  constexpr int64_t kBatch = 4;
  Value even = e.mul(lane, 2);
  Value pixel = getPixel(e.add(even, row));
  Value left = e.add(e.mul(pixel, -1), lines->positions);
  Value shift =
      e.select(e.ult(pixel, lines->pixels), e.andi(pixel, 1), e.andi(left, 1));
  Value element = e.add(even, shift);
  StorePlace pair = getView(element, e.mul(warp, kStoreRows)).locateP(row);
  // The second of the last one may be of the next staged row.
  pair.valid =
      e.both(pair.valid, e.ult(element, shape.getStagedElements() - 1));
  auto batches = scf::ForOp::create(e.b, e.loc, e.constant(0),
                                    e.constant(kStoreRows), e.constant(kBatch));
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(batches.getBody());
  Value batch = batches.getInductionVar();
  const StoreView view =
      getView(element, e.add(e.mul(warp, kStoreRows), batch));
  Pieces words;
  for (int64_t i = 0; i < kBatch; ++i) {
    auto load = [&](Value at) -> Value {
      return arith::ExtUIOp::create(e.b, e.loc, e.b.getI32Type(),
                                    loadStaged(buffer, e.add(batch, i), at));
    };
    constexpr int64_t kUpper = 1 << 16;
    Value upper = e.mul(load(e.add(element, 1)), kUpper);
    words.push_back(e.add(load(element), upper));
  }
  for (auto [i, word] : llvm::enumerate(words))
    view.store(word, pair, view.locateQ(column + static_cast<int64_t>(i)));
}

/// What no pair has of a staged row: its first element, if that is an odd
/// pixel, and its last one, if even. Half of the lanes has each.
void RowTensor::storeEnds(Value buffer, int64_t row, int64_t column) {
  Value stagedRow = e.andi(lane, kStoreRows - 1);
  Value isFirst = e.ult(lane, kStoreRows);
  Value element = e.select(isFirst, e.constant(0),
                           e.constant(shape.getStagedElements() - 1));
  Value isOdd = e.andi(getPixel(e.add(element, row)), 1);
  Value isLeft =
      arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, isOdd,
                            e.select(isFirst, e.constant(1), e.constant(0)));
  const StoreView view =
      getView(element, e.add(e.mul(warp, kStoreRows), stagedRow));
  StorePlace end = view.locateP(row);
  end.valid = e.both(end.valid, isLeft);
  view.store(loadStaged(buffer, stagedRow, element), end, view.locateQ(column));
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// Reads all pieces first, since no read passes a store.
void RowTensor::store(Value buffer, int64_t row, int64_t column) {
  if (lines) {
    storePairs(buffer, row, column);
    storeEnds(buffer, row, column);
    return;
  }
  forEachBatch([&](Value batch) {
    Pieces pieces;
    visit(batch, row, column,
          [&](const StoreView &, const StorePlace &, const StorePlace &,
              Value offset) {
            pieces.push_back(LLVM::LoadOp::create(e.b, e.loc, getPieceType(),
                                                  addBytes(e, buffer, offset),
                                                  width * bytes));
          });
    const Value *next = pieces.begin();
    visit(batch, row, column,
          [&](const StoreView &view, const StorePlace &p, const StorePlace &q,
              Value) { view.store(*next++, p, q); });
  });
}

//===----------------------------------------------------------------------===//
// The way out
//===----------------------------------------------------------------------===//

/// Where buffers take turns, the other one's barrier of the warp lies between.
void RowStore::awaitBuffer(int64_t buffers) {
  if (buffers == 1)
    emitWarpSync(e);
}

void RowStore::copyOut(Value buffer, int64_t row, int64_t column) {
  emitWarpSync(e);
  result.store(buffer, row, column);
}
