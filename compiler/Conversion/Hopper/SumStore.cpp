//===- SumStore.cpp - From sums to the result -----------------------------===//

#include "compiler/Conversion/Hopper/SumStore.h"
#include "compiler/Conversion/Cooperative/Epilogue.h"
#include "compiler/Conversion/Hopper/ColumnStore.h"
#include "compiler/Conversion/Hopper/RowTensor.h"
#include "compiler/Conversion/Nvidia/WarpMatrix.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tessera;

/// Of stmatrix that transposes, lanes 0 to 7 have the rows of a matrix of the
/// warp's first 8 columns, the next 8 those of its others, the last 16 the same
/// of 8 rows further.
static SmallVector<Value> getTurnedOffsets(Emitter &e, Value warp, Value lane) {
  constexpr int64_t kMatrix = 8, kBytes = 2;
  Value matrix = e.shru(lane, 3);
  Value row =
      e.add(e.mul(e.shru(matrix, 1), kMatrix), e.andi(lane, kMatrix - 1));
  Value column = e.mul(e.add(e.mul(warp, 2), e.andi(matrix, 1)), kMatrix);
  return {getStagedOffset(e, row, column, kBytes)};
}

/// Of f32, which stmatrix does not take, where a lane puts the first of its
/// sums: a pair in its row, and a pair in the row 8 below. Staged rows have the
/// rows of two warps.
static SmallVector<Value> getTurnedPairOffsets(Emitter &e, Value warp,
                                               Value lane) {
  constexpr int64_t kBytes = 4;
  SmallVector<Value> offsets;
  for (int64_t below : {0, 8})
    for (int64_t i : {0, 1}) {
      Value row = e.add(e.mul(e.andi(lane, 3), 2), i);
      Value column =
          e.add(e.add(e.mul(e.andi(warp, 1), 16), e.shru(lane, 2)), below);
      offsets.push_back(getStagedOffset(e, row, column, kBytes));
    }
  return offsets;
}

/// Where a lane of `thread` writes to (SumStore::offsets).
static SmallVector<Value> getOffsets(Emitter &e, const HopperShape &shape,
                                     const SumStore::Thread &thread,
                                     bool isF32) {
  if (shape.stagesTransposed())
    return isF32 ? getTurnedPairOffsets(e, thread.warp, thread.lane)
                 : getTurnedOffsets(e, thread.warp, thread.lane);
  return isF32 || shape.resultBytes == 1
             ? getPairOffsets(e, thread.lane, shape.storeRowBytes,
                              shape.resultBytes)
             : getFragmentOffsets(e, thread.lane, shape.storeRowBytes);
}

SumStore::SumStore(Emitter &e, const HopperShape &shape, Type element,
                   Region &epilogue, std::unique_ptr<WayOut> wayOut,
                   Extras extras, Value staging, const Thread &thread,
                   IRMapping scalars)
    : e(e), shape(shape), element(element), epilogue(epilogue),
      wayOut(std::move(wayOut)), extras(std::move(extras)), staging(staging),
      thread(thread), scalars(std::move(scalars)),
      offsets(getOffsets(e, shape, thread, element.isF32())) {}

/// Two neighbours, from number `i` on of those that a lane has in the columns
/// from `column` on, behind the epilogue.
Value SumStore::getPair(Value sums, int64_t column, int64_t i,
                        const Fetched &extraValues) {
  Value pair =
      LLVM::UndefOp::create(e.b, e.loc, VectorType::get(2, e.b.getF32Type()));
  for (int64_t j : {0, 1}) {
    SmallVector<Value> values = {
        LLVM::ExtractValueOp::create(e.b, e.loc, sums, column / 2 + i + j)};
    for (const StoreExtra::Values &extra : extraValues)
      values.push_back(extra[i + j]);
    Value value = applyEpilogue(e, epilogue, values, scalars);
    pair =
        LLVM::InsertElementOp::create(e.b, e.loc, pair, value, e.constant(j));
  }
  return pair;
}

/// Puts the columns of a piece of a warp's 16 rows into a staging buffer, as
/// they are.
void SumStore::stageSums(Value sums, int64_t column, const Fetched &extraValues,
                         Value buffer) {
  const int64_t below = 8 * shape.storeRowBytes;
  for (auto [piece, offset] : llvm::enumerate(offsets))
    for (int64_t half : {0, 1}) {
      Value pair = getPair(sums, column, piece * 4 + half * 2, extraValues);
      LLVM::StoreOp::create(e.b, e.loc, pair,
                            addBytes(e, buffer, e.add(offset, half * below)),
                            /*alignment=*/8);
    }
}

/// Two f32s as floats of 8 bits, in an i16. The instruction is for OCP's
/// formats.
Value SumStore::roundToBytes(Value pair) {
  if (isa<Float8E4M3FNType, Float8E5M2Type>(element)) {
    auto get = [&](int64_t i) {
      return LLVM::ExtractElementOp::create(e.b, e.loc, pair, e.constant(i));
    };
    return NVVM::ConvertF32x2ToF8x2Op::create(
        e.b, e.loc, e.b.getI16Type(), get(1), get(0), NVVM::FPRoundingMode::RN,
        NVVM::SaturationMode::SATFINITE, /*relu=*/false, element);
  }
  pair = arith::TruncFOp::create(e.b, e.loc, VectorType::get(2, element), pair);
  pair = vector::BitCastOp::create(e.b, e.loc,
                                   VectorType::get(1, e.b.getI16Type()), pair);
  return vector::ExtractOp::create(e.b, e.loc, pair, 0);
}

/// As stageSums(), of results of 8 bits: the lanes of 8 rows write to different
/// banks.
void SumStore::stageBytes(Value sums, int64_t column,
                          const Fetched &extraValues, Value buffer) {
  const int64_t below = 8 * shape.storeRowBytes;
  for (auto [piece, offset] : llvm::enumerate(offsets))
    for (int64_t half : {0, 1}) {
      Value pair = getPair(sums, column, piece * 4 + half * 2, extraValues);
      LLVM::StoreOp::create(e.b, e.loc, roundToBytes(pair),
                            addBytes(e, buffer, e.add(offset, half * below)),
                            /*alignment=*/2);
    }
}

/// Sums of a lane in 16 columns of wgmma: of each 8, two neighbours in the
/// lane's row, and two in the row 8 below.
static constexpr int64_t kPieceSums = 8;

/// Those from number `first` on behind `column`, rounded, in twos.
SmallVector<Value> SumStore::roundPairs(Value sums, int64_t column,
                                        int64_t first,
                                        const Fetched &extraValues) {
  auto rounded = VectorType::get(2, element);
  SmallVector<Value> words;
  for (int64_t i = first; i < first + kPieceSums; i += 2) {
    Value pair = getPair(sums, column, i, extraValues);
    pair = arith::TruncFOp::create(e.b, e.loc, rounded, pair);
    words.push_back(
        LLVM::BitcastOp::create(e.b, e.loc, e.b.getI32Type(), pair));
  }
  return words;
}

/// Rounds the columns of a piece of a warp's 16 rows into a staging buffer.
void SumStore::stageMatrices(Value sums, int64_t column,
                             const Fetched &extraValues, Value buffer) {
  for (auto [piece, offset] : llvm::enumerate(offsets))
    writeMatrices(e, addBytes(e, buffer, offset),
                  roundPairs(sums, column,
                             static_cast<int64_t>(piece) * kPieceSums,
                             extraValues),
                  /*isTransposed=*/false);
}

/// Rounds 16 columns of wgmma, of a warp's 16 rows, into rows of a buffer.
void SumStore::turnMatrices(Value sums, int64_t column, int64_t first,
                            const Fetched &extraValues, Value buffer) {
  writeMatrices(e, addBytes(e, buffer, offsets.front()),
                roundPairs(sums, column, first, extraValues),
                /*isTransposed=*/true);
}

/// The same of f32, one element at a time: lanes write to all banks.
void SumStore::turnSums(Value sums, int64_t column, int64_t first,
                        const Fetched &extraValues, Value buffer) {
  constexpr int64_t kFragmentSums = 4, kFragmentBytes = 8 * kRowBytes;
  for (int64_t i = 0; i < kPieceSums; i += 2) {
    Value pair = getPair(sums, column, first + i, extraValues);
    for (int64_t j : {0, 1}) {
      Value offset = e.add(offsets[i % kFragmentSums + j],
                           i / kFragmentSums * kFragmentBytes);
      LLVM::StoreOp::create(
          e.b, e.loc,
          LLVM::ExtractElementOp::create(e.b, e.loc, pair, e.constant(j)),
          addBytes(e, buffer, offset));
    }
  }
}

/// Puts 64 columns of wgmma, from `column` on, into the buffers of the
/// warpgroup as rows, 16 each, `bufferBytes` behind the first of each warp: of
/// the rows of all warps, or, of f32, of the two that have what is staged from
/// `row` on.
void SumStore::stageTransposed(Value sums, int64_t row, int64_t column,
                               const Fetched &extraValues,
                               int64_t bufferBytes) {
  constexpr int64_t kWarps = kWarpgroup / 32, kBuffer = kStoreRows * kRowBytes;
  const int64_t buffers =
      shape.isColumnMajor ? shape.countStoringWarps() : kWarps;
  auto stage = [&] {
    for (int64_t warp = 0; warp < buffers; ++warp) {
      const int64_t bytes = warp * shape.stagers * kBuffer + bufferBytes;
      auto turn =
          element.isF32() ? &SumStore::turnSums : &SumStore::turnMatrices;
      (this->*turn)(sums, column, warp * kPieceSums, extraValues,
                    addBytes(e, staging, e.constant(bytes)));
    }
  };
  awaitGroup();
  const int64_t warps = shape.getStagedElements() / kStoreRows;
  if (warps == kWarps) {
    stage();
  } else {
    Value pair = e.shru(thread.warp, 1);
    Value isStaged = arith::CmpIOp::create(
        e.b, e.loc, arith::CmpIPredicate::eq, pair,
        e.constant(row % kWgmmaRows / kStoreRows / warps));
    emitIf(e, isStaged, stage);
  }
  // Each warp's copies read what others wrote.
  NVVM::FenceProxyOp::create(
      e.b, e.loc, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(e.b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
  awaitGroup();
}

/// Waits for the warps of the consumer, at a barrier behind those of the turns
/// (Wgmma.h).
void SumStore::awaitGroup() {
  constexpr int64_t kFirstBarrier = 4; // Three consumers may take turns.
  NVVM::BarrierOp::create(e.b, e.loc, TypeRange(),
                          e.add(thread.consumer, kFirstBarrier),
                          e.constant(kWarpgroup), nullptr, Value());
}

SumStore::Fetched SumStore::fetchPiece(int64_t piece) {
  const int64_t columns = shape.getStoreColumns();
  const int64_t perBlock = shape.countPieces(columns);
  const int64_t row = shape.getPieceRow(piece / perBlock);
  const int64_t column = shape.getPieceColumn(piece % perBlock, columns);
  Fetched fetched;
  for (const auto &extra : extras)
    fetched.push_back(extra->fetch(row, column));
  return fetched;
}

/// Fetches for the partials what memory has of pieces up to the one behind
/// `piece`, once `staged` pieces have left their registers; those that are
/// needed now, whether there are registers for them or not.
void SumStore::fetchForPartials(int64_t piece, int64_t staged) {
  // What a loop over tiles keeps, and what a row of a piece takes.
  constexpr int64_t kOthers = 72, kVariables = 2, kLanes = 32;
  if (!partials || partials->countFetched() == 0)
    return;
  const int64_t columns = shape.getStoreColumns();
  const int64_t perBlock = shape.countPieces(columns);
  const int64_t pieces = perBlock * shape.countRowPieces();
  const int64_t ofPiece = kStoreRows * columns / kLanes;
  const int64_t ofExtras =
      llvm::count_if(next, [](const auto &v) { return !v.empty(); }) * ofPiece /
      2;
  const int64_t free = shape.getConsumerRegisters() - kOthers -
                       kVariables * 2 * perBlock - ofExtras -
                       (pieces - staged) * ofPiece;
  for (; fetched < pieces && fetched <= piece + 1; ++fetched) {
    const bool isNeeded = fetched == piece && staged > piece;
    const int64_t ahead = fetched + 1 - piece;
    if (!isNeeded && ahead * partials->countFetched() > free)
      return;
    partials->fetch(fetched / perBlock, fetched % perBlock);
  }
}

void SumStore::begin(const ResultTile &tile) {
  wayOut->begin(tile);
  if (partials)
    partials->begin(tile);
  for (const auto &extra : extras)
    extra->begin(tile);
  if (shape.hasSpareRegisters())
    next = fetchPiece(0);
  fetched = 0;
  fetchForPartials(/*piece=*/0, /*staged=*/0);
}

void SumStore::emit(ArrayRef<Value> sums) {
  const int64_t columns = shape.getStoreColumns();
  const int64_t perBlock = shape.countPieces(columns);
  const int64_t pieces = perBlock * shape.countRowPieces();
  Value ofWarp = e.mul(thread.warp, shape.stagers * kStoreRows * kRowBytes);
  if (!shape.hasSpareRegisters())
    next = fetchPiece(0);
  for (int64_t piece = 0; piece < pieces; ++piece) {
    if (partials && piece % perBlock == 0)
      partials->beginRows(piece / perBlock);
    Fetched values = std::move(next);
    if (piece + 1 < pieces)
      next = fetchPiece(piece + 1);
    const int64_t row = shape.getPieceRow(piece / perBlock);
    const int64_t column = shape.getPieceColumn(piece % perBlock, columns);
    const int64_t bytes = piece % shape.stagers * kStoreRows * kRowBytes;
    Value buffer = addBytes(e, staging, e.add(ofWarp, bytes));
    wayOut->awaitBuffer(shape.stagers);
    for (auto [extra, fetched] : llvm::zip_equal(extras, values))
      fetched = extra->unpack(fetched, row, column, buffer);
    // Of wgmma.
    const int64_t productRow = shape.isSwapped ? column : row;
    const int64_t productColumn = shape.isSwapped ? row : column;
    Value ofBlock =
        sums[shape.sumSlots > 0 ? piece / perBlock : productRow / kWgmmaRows];
    if (shape.stagesTransposed())
      stageTransposed(ofBlock, productRow, productColumn, values, bytes);
    else if (element.isF32())
      stageSums(ofBlock, productColumn, values, buffer);
    else if (shape.resultBytes == 1)
      stageBytes(ofBlock, productColumn, values, buffer);
    else
      stageMatrices(ofBlock, productColumn, values, buffer);
    fetchForPartials(piece, piece + 1);
    if (partials)
      partials->change(buffer, piece % perBlock);
    auto copyOut = [&] { wayOut->copyOut(buffer, row, column); };
    constexpr int64_t kWarps = kWarpgroup / 32;
    if (shape.countStoringWarps() == kWarps)
      copyOut();
    else
      emitIf(e, e.ult(thread.warp, shape.countStoringWarps()), copyOut);
    if (partials)
      partials->add(buffer, piece % perBlock);
  }
  if (partials)
    partials->endTile();
}

void SumStore::finish() {
  wayOut->finish();
  if (partials)
    partials->finish();
}

//===----------------------------------------------------------------------===//
// The store of a kernel
//===----------------------------------------------------------------------===//

static std::unique_ptr<WayOut> makeWayOut(Emitter &e, const HopperShape &stored,
                                          StoredTile tile,
                                          const StoringThread &at,
                                          Value groupWarp, Value lane) {
  const bool hasGroups = tile.view.getType().getShape().front() > 1;
  if (tile.map && stored.isColumnMajor)
    return std::make_unique<ColumnStore>(e, at.map, hasGroups, tile.map->runs,
                                         groupWarp, lane);
  if (tile.map)
    return std::make_unique<TmaStore>(e, at.map, hasGroups, tile.map->taps,
                                      groupWarp, lane);
  return std::make_unique<RowStore>(
      e, RowTensor(e, stored, tile.view, at.getArgument(tile.view.getSource()),
                   groupWarp, lane));
}

SumStore tessera::makeSumStore(Emitter &e, const HopperShape &stored,
                               StoredTile tile, const StoringThread &at) {
  constexpr int64_t kGroupWarps = kWarpgroup / 32;
  Value lane = e.andi(at.thread, 31);
  Value groupWarp = e.andi(at.warp, kGroupWarps - 1);
  Value rows = e.mul(groupWarp, stored.getWarpRows() / kStoreRows);
  const int64_t buffers = stored.stagers * kStoreRows * kRowBytes;
  Value staging = addBytes(e, at.shared,
                           e.add(e.mul(at.consumer, kGroupWarps * buffers),
                                 stored.getOffsetStaging()));
  SumStore::Extras extras;
  for (dnn::ViewOp extra : tile.extras)
    extras.push_back(makeStoreExtra(
        e, stored, extra, at.getArgument(extra.getSource()), rows, lane));
  IRMapping scalars =
      mapEpilogueScalars(e, tile.epilogue, e.b.getF32Type(), at.getArgument);
  return SumStore(e, stored, tile.view.getType().getElementType(),
                  tile.epilogue, makeWayOut(e, stored, tile, at, rows, lane),
                  std::move(extras), staging, {at.consumer, groupWarp, lane},
                  std::move(scalars));
}
