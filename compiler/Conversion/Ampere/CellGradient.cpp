//===- CellGradient.cpp - Products of backward weights --------------------===//

#include "compiler/Conversion/Ampere/CellGradient.h"
#include "compiler/Conversion/Ampere/CellOperands.h"
#include "compiler/Conversion/Nvidia/SharedMemory.h"
#include "compiler/Conversion/Nvidia/WarpMatrix.h"

using namespace mlir;
using namespace tessera;

/// One sum of each lane of the warps that share a block of channels out.
static constexpr int64_t kSumRowBytes = kBlockWarps * kWarpSize * 4;

int64_t CellGradient::getPartialBytes() const {
  return (sharing - 1) * countSums() * kSumRowBytes;
}

//===----------------------------------------------------------------------===//
// What a program says
//===----------------------------------------------------------------------===//

static FailureOr<CellTile> matchResult(TileProgram &program, int64_t taps) {
  auto type = cast<MemRefType>(program.viewD.getSource().getType());
  if (!type.getElementType().isF32() || !program.extras.empty() ||
      !program.epilogue->empty())
    return program.opStore->emitOpError(
        "stores splits, which are of f32 and have no epilogue");
  FailureOr<CellTile> cells =
      matchCells(program, program.opStore, type.getShape().back(), taps);
  dnn::CoordsAttr coords = program.viewD.getCoords();
  if (succeeded(cells) &&
      (coords.getRanks()[1] != 2 || coords.getRanks()[2] != 4 ||
       !isDiagonal(coords, coords.getFirstDim(1), coords.getFirstDim(2) + 2,
                   cells->groupChannels)))
    return program.opStore->emitOpError(
        "needs a view in which what is not of one group is outside of the "
        "filter");
  return cells;
}

FailureOr<CellGradient> CellGradient::match(TileProgram &program) {
  FailureOr<ImageTile> output = matchImageTile(program.opM, program.viewM,
                                               /*pixels=*/2, /*hasTaps=*/false);
  FailureOr<ImageTile> input = matchImageTile(program.opN, program.viewN,
                                              /*pixels=*/2, /*hasTaps=*/true);
  if (failed(output) || failed(input))
    return failure();
  FailureOr<CellTile> cells = matchResult(program, input->countTaps());
  if (failed(cells))
    return failure();
  const int64_t columns = input->countTaps() * kBlockChannels;
  ArrayRef<int64_t> extents = program.viewD.getType().getShape();
  if (program.rowsM != kBlockChannels || program.rowsN != columns ||
      extents[1] != kBlockChannels || extents[2] != columns ||
      program.waves[0] != kBlockWarps || program.waves[1] > kMostSharing ||
      program.buffers != kBuffers || program.step != output->countResults())
    return program.opLoop->emitOpError()
           << "has splits, which needs two buffers for steps "
              "of a block of pixels, tiles of "
           << kBlockChannels << " channels by all taps of as many, and "
           << kBlockWarps << " by at most " << kMostSharing << " waves";
  if (failed(checkReach(program.opStore, program.viewD, program.rowsM)))
    return failure();
  return CellGradient{*input, *output, *cells, program.waves[1]};
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

GradientProduct::GradientProduct(CellKernel &kernel, const CellGradient &plan)
    : k(kernel), e(kernel.e), plan(plan), warp(e.remu(k.warp, kBlockWarps)),
      share(e.divu(k.warp, kBlockWarps)) {}

/// Which pixel of f32 is which k is ours to say, if both operands agree: lanes
/// with two neighbours of each 8 meet all banks.
GradientProduct::PixelPlaces GradientProduct::locatePixels(Value first,
                                                           Value slot) {
  const int64_t results = plan.output.countResults();
  const int64_t perInstruction = plan.cells.getReduction();
  auto locate = [&](const ImageTile &image, Value lanePixel) {
    Value pixel = e.add(first, lanePixel);
    if (results % perInstruction != 0)
      pixel =
          arith::MinUIOp::create(e.b, e.loc, pixel, e.constant(results - 1));
    return e.add(image.emitResultBytes(e, pixel), slot);
  };
  Value lane = k.place.lane;
  if (!plan.cells.isF32) {
    // B: pixels 0 to 7 and 8 to 15. A: both pieces of pixels 0 to 7, then of
    // the others.
    Value rows = e.add(e.remu(lane, 8), e.mul(e.divu(lane, 16), 8));
    return {{locate(plan.input, rows)},
            {locate(plan.output, e.remu(lane, 16))}};
  }
  PixelPlaces places;
  for (int64_t eight = 0; eight < perInstruction; eight += 8)
    for (int64_t i : {eight, eight + 1}) {
      Value pixel = e.add(k.place.pair, i);
      places.input.push_back(locate(plan.input, pixel));
      places.output.push_back(locate(plan.output, pixel));
    }
  return places;
}

Value GradientProduct::loadElement(Value place) {
  return LLVM::LoadOp::create(e.b, e.loc, e.b.getI32Type(), k.getShared(place),
                              4);
}

/// B of mma.sync, of f32 as it was loaded: the registers of the first cell,
/// then of the second.
SmallVector<Value> GradientProduct::readChannels(const PixelPlaces &places) {
  const ImageTile &output = plan.output;
  if (!plan.cells.isF32) {
    Value chunk = e.add(e.mul(warp, kCells), e.divu(k.place.lane, 16));
    Value place = e.add(places.output[0], e.mul(chunk, output.getPieceBytes()));
    return readMatrices(e, k.getShared(e.add(place, plan.input.getBytes())),
                        /*isTransposed=*/true);
  }
  Value channel = e.add(e.mul(warp, kWarpChannels), k.place.row);
  SmallVector<Value> b;
  for (int64_t cell = 0; cell < kCells; ++cell)
    for (Value pixel : places.output)
      b.push_back(loadElement(
          e.add(e.add(pixel, e.mul(channel, output.elementBytes)),
                plan.input.getBytes() + cell * output.getPieceBytes())));
  return b;
}

/// A of mma.sync, transposed, of f32 as it was loaded: pieces 2 `pair` and the
/// next. Of the last piece without a next, what the second half gives is not
/// stored.
SmallVector<Value> GradientProduct::readPieces(const PixelPlaces &places,
                                               int64_t cell, int64_t pair) {
  const CellTile &cells = plan.cells;
  const ImageTile &input = plan.input;
  const int64_t first = 2 * pair;
  const int64_t last = std::min(first + 1, cells.countPieces() - 1);
  const int64_t bytes = cells.getPieceBytes(first, input);
  const int64_t step = cells.getPieceBytes(last, input) - bytes;
  Value chunk =
      e.mul(cells.emitFirstChunk(e, warp, cell), input.getPieceBytes());
  if (!cells.isF32) {
    Value second = e.mul(e.remu(e.divu(k.place.lane, 8), 2), step);
    Value place = e.add(e.add(e.add(places.input[0], chunk), second), bytes);
    return readMatrices(e, k.getShared(place), /*isTransposed=*/true);
  }
  chunk = e.add(chunk, e.mul(k.place.row, input.elementBytes));
  SmallVector<Value> a;
  for (Value pixel : places.input)
    for (int64_t piece : {bytes, bytes + step})
      a.push_back(loadElement(e.add(e.add(pixel, chunk), piece)));
  return a;
}

/// Whether pixel `pixel` of the block is one of the image. `origin`: of the
/// block.
Value GradientProduct::emitIsPixel(Value pixel, ArrayRef<Value> origin) {
  const ImageTile &o = plan.output;
  Value line = e.add(origin[1], e.divu(pixel, o.width));
  Value column = e.add(origin[2], e.remu(pixel, o.width));
  return e.both(e.both(e.ult(pixel, o.countResults()), e.ult(line, o.numLines)),
                e.ult(column, o.numColumns));
}

/// Ones where a register belongs to a pixel (of 16 bits, its halves), for each
/// register of B, and two of A: zeros must multiply zeros.
SmallVector<Value> GradientProduct::emitMasks(Value pixel, Value block) {
  const ImageTile &o = plan.output;
  SmallVector<Value> origin = o.groupSpace.evaluate(e, k.group);
  for (auto [form, other, constant] :
       llvm::zip(origin, o.blockSpace.evaluate(e, block), o.constants))
    form = e.add(e.add(form, other), constant);
  Value first = e.add(pixel, k.place.pair);
  auto mask = [&](int64_t pixel, int64_t ones) {
    return e.select(emitIsPixel(e.add(first, pixel), origin), e.constant(ones),
                    e.constant(0));
  };
  SmallVector<Value> masks;
  if (plan.cells.isF32) {
    for (int64_t eight = 0; eight < plan.cells.getReduction(); eight += 8)
      masks.append({mask(eight, -1), mask(eight + 1, -1)});
    return masks;
  }
  for (int64_t half : {0, 8}) {
    Value low = mask(half, 0xffff), high = mask(half + 1, -0x10000);
    masks.push_back(arith::OrIOp::create(e.b, e.loc, low, high));
  }
  return masks;
}

static void applyMask(Emitter &e, Value &value, ArrayRef<Value> masks,
                      int64_t index) {
  if (!masks.empty())
    value = arith::AndIOp::create(e.b, e.loc, value, masks[index]);
}

GradientProduct::Sums
GradientProduct::multiply(Value pixel, llvm::function_ref<Value()> findSlot,
                          Value block, const Sums &sums) {
  SmallVector<Value> masks;
  if (block)
    masks = emitMasks(pixel, block);
  const PixelPlaces places = locatePixels(pixel, findSlot());
  SmallVector<Value> channels = readChannels(places);
  const size_t perCell = channels.size() / kCells;
  SmallVector<SmallVector<Value>> b;
  for (auto [i, value] : llvm::enumerate(channels))
    applyMask(e, value, masks, i % perCell);
  for (int64_t cell = 0; cell < kCells; ++cell)
    b.push_back(plan.cells.prepare(
        e, ArrayRef(channels).slice(cell * perCell, perCell), /*perPiece=*/2));
  Type element = k.program.viewM.getType().getElementType();
  Sums next = sums;
  for (int64_t pair = 0; pair < plan.countPairs(); ++pair) {
    SmallVector<Value> a;
    for (int64_t cell = 0; cell < kCells; ++cell) {
      if (a.empty() || plan.cells.hasOwnPieces()) {
        a = readPieces(places, cell, pair);
        for (auto [i, value] : llvm::enumerate(a))
          applyMask(e, value, masks, i / 2);
        a = plan.cells.prepare(e, a, /*perPiece=*/4);
      }
      MutableArrayRef<Value> place = MutableArrayRef(next).slice(
          (cell * plan.countPairs() + pair) * CellGradient::kSums,
          CellGradient::kSums);
      llvm::copy(plan.cells.multiply(e, element, a, b[cell], place),
                 place.begin());
    }
  }
  return next;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// A lane has rows l / 4 of both pieces of a pair, and two neighbouring output
/// channels of each.
void GradientProduct::store(const Sums &sums) {
  const CellTile &cells = plan.cells;
  for (int64_t cell = 0; cell < kCells; ++cell) {
    Value chunk = cells.emitFirstChunk(e, warp, cell);
    Value column = e.add(e.mul(chunk, kCellChannels), k.place.row);
    Value row = e.add(e.add(e.mul(warp, kWarpChannels), k.place.pair),
                      cell * kCellChannels);
    StoreView result = k.viewStored(k.program.viewD, column, row);
    std::array<StorePlace, 2> rows = {result.locateQ(0), result.locateQ(1)};
    for (int64_t i = 0; i < cells.countPieces(); ++i) {
      Piece piece = cells.getPiece(i);
      StorePlace place = result.locateP(piece.tap * kBlockChannels +
                                        piece.chunk * kCellChannels);
      const int64_t first =
          (cell * plan.countPairs() + i / 2) * CellGradient::kSums + i % 2 * 2;
      for (int64_t n = 0; n < 2; ++n)
        result.store(arith::BitcastOp::create(e.b, e.loc, e.b.getI32Type(),
                                              sums[first + n]),
                     place, rows[n]);
    }
  }
}

Value GradientProduct::getSumPlace(Value sharer, int64_t sum) {
  Value lane = e.add(e.mul(warp, kWarpSize), k.place.lane);
  Value row = e.add(e.mul(sharer, plan.countSums()), sum);
  Value bytes = e.add(e.mul(row, kSumRowBytes), e.mul(lane, 4));
  return k.getShared(e.add(bytes, plan.partialBegin));
}

/// All but the first of the warps that share pixels write their sums.
void GradientProduct::sendShares(const Sums &sums) {
  emitIf(e,
         arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ne, share,
                               e.constant(0)),
         [&] {
           for (auto [i, sum] : llvm::enumerate(sums))
             LLVM::StoreOp::create(e.b, e.loc, sum,
                                   getSumPlace(e.add(share, -1), i), 4);
         });
  e.device.emitLdsBarrier(e);
}

/// The first one adds the others' sums, in their order, and stores.
void GradientProduct::storeAll(const Sums &sums) {
  emitIf(e, e.ult(share, 1), [&] {
    Sums all = sums;
    for (int64_t other = 0; other + 1 < plan.sharing; ++other)
      for (auto [i, sum] : llvm::enumerate(all)) {
        Value place = getSumPlace(e.constant(other), i);
        Value value = LLVM::LoadOp::create(e.b, e.loc, sum.getType(), place, 4);
        sum = arith::AddFOp::create(e.b, e.loc, sum, value);
      }
    store(all);
  });
}
