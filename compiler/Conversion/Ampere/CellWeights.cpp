//===- CellWeights.cpp - Narrow groups, backward weights ------------------===//
//
// A workgroup has the filter of 64 output channels and a run of blocks of
// pixels; each warp has 16 of the channels and the sums of all pieces that they
// meet. Several warps may have the same channels and share the pixels, which
// leaves fewer parts than as many workgroups would; at last one of them adds
// their sums. Both factors are transposed on their way out of shared memory:
// the pieces are rows, the channels columns, and 16 pixels a reduction. Of
// f32, which no ldmatrix transposes, lanes load their elements; of tf32 8
// pixels are a reduction.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Ampere/CellKernel.h"
#include "compiler/Conversion/Ampere/CellOperands.h"
#include "compiler/Conversion/Nvidia/SharedMemory.h"
#include "compiler/Conversion/Nvidia/WarpMatrix.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numeric>

using namespace mlir;
using namespace tessera;

namespace {
constexpr int64_t kSums = 4; ///< Of one instruction, in a lane.
constexpr int64_t kBuffers = 2;
constexpr int64_t kMostSharing = 2; ///< Warps, of the pixels of a block.
/// One sum of each lane of the warps that share a block of channels out.
constexpr int64_t kSumRowBytes = kBlockWarps * kWarpSize * 4;

/// Everything that is known before the kernel is written.
struct Plan {
  ImageTile input, output; ///< With taps; of the channels of the result.
  CellTile cells;
  int64_t blocks; ///< Of pixels, of all parts.
  int64_t splits;
  int64_t sharing; ///< Warps of the same channels.
  /// Whether every block is full, and fills its last instruction.
  bool isEven;
  int64_t perUnit; ///< Workgroups of a multiprocessor.

  /// Of a block; the next is copied while one is multiplied.
  int64_t getBlockBytes() const { return input.getBytes() + output.getBytes(); }
  int64_t getSharedBytes() const {
    return std::max(kBuffers * getBlockBytes(),
                    (sharing - 1) * countSums() * kSumRowBytes);
  }
  int64_t getThreads() const { return sharing * kBlockWarps * kWarpSize; }
  /// Of a thread, about: sums, what it carries of the next block, and the rest.
  int64_t countRegisters() const {
    constexpr int64_t kRest = 48, kTerms = 80, kPerChunk = 4;
    return kRest + (cells.isSplit ? kTerms : 0) + countSums() +
           kPerChunk * (countThreadChunks(input, getThreads()) +
                        countThreadChunks(output, getThreads()));
  }
  /// Whether the next block comes through registers, if there are as many for
  /// all of a multiprocessor's workgroups: these kernels write next to nothing.
  bool isStreamed() const {
    constexpr int64_t kMost = 216, kRegisters = 65536;
    return countRegisters() <= kMost &&
           perUnit * getThreads() * countRegisters() <= kRegisters;
  }
  /// Of a lane.
  int64_t countSums() const { return kCells * countPairs() * kSums; }
  /// Instructions for a cell: two pieces each.
  int64_t countPairs() const {
    return llvm::divideCeilSigned(cells.countPieces(), 2);
  }
};

/// Emits the body of one kernel.
class WeightsWriter {
public:
  WeightsWriter(CellKernel &kernel, const Plan &plan)
      : k(kernel), e(kernel.e), plan(plan), warp(e.remu(k.warp, kBlockWarps)),
        share(e.divu(k.warp, kBlockWarps)) {}
  void emit();

private:
  /// Of [cell][pair][sum], flat.
  using Sums = SmallVector<Value>;

  Sums emitBlocks(const Sums &begin);
  void copyBlock(Value block, Value end);
  ImageCopy copyInput(Value block) {
    return k.copyTo(k.program.loadN.getView(), getBuffer(block));
  }
  ImageCopy copyOutput(Value block) {
    return k.copyTo(k.program.loadM.getView(),
                    e.add(getBuffer(block), plan.input.getBytes()));
  }
  Value emitExists(Value block, Value end) {
    return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult, block,
                                 end);
  }
  /// A block of both tensors on its way through registers.
  struct BlockChunks {
    ImageChunks input, output;
  };
  BlockChunks fetchBlock(Value block, Value end);
  void putBlock(const BlockChunks &chunks, Value block);
  Sums emitStreamed(Value first, Value end, const Sums &begin);
  Value getBuffer(Value block) {
    return e.mul(e.remu(block, kBuffers), plan.getBlockBytes());
  }
  Sums emitFragments(Value block, const Sums &begin);
  Sums multiply(Value fragment, Value block, const Sums &sums);
  SmallVector<Value> emitMasks(Value fragment, Value block);
  Value emitIsPixel(Value pixel, ArrayRef<Value> origin);
  /// Where a lane's pixels lie: of f32 two neighbours of each 8; of 16 bits
  /// those that it points ldmatrix to.
  struct PixelPlaces {
    SmallVector<Value> input, output;
  };
  PixelPlaces locatePixels(Value fragment, Value buffer);
  Value loadElement(Value place);
  SmallVector<Value> readChannels(const PixelPlaces &places);
  SmallVector<Value> readPieces(const PixelPlaces &places, int64_t cell,
                                int64_t pair);
  Value getSumPlace(Value sharer, int64_t sum);
  void addShares(const Sums &sums);
  void store(const Sums &sums);
  /// A loop that carries sums.
  Sums loop(Value begin, Value end, int64_t step, const Sums &sums,
            llvm::function_ref<Sums(Value, const Sums &)> body);

  CellKernel &k;
  Emitter &e;
  const Plan &plan;
  Value warp;  ///< Which 16 channels.
  Value share; ///< Which pixels of a block.
};
} // namespace

WeightsWriter::Sums
WeightsWriter::loop(Value begin, Value end, int64_t step, const Sums &sums,
                    llvm::function_ref<Sums(Value, const Sums &)> body) {
  auto loop =
      scf::ForOp::create(e.b, e.loc, begin, end, e.constant(step), sums);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  Sums next = body(loop.getInductionVar(), Sums(loop.getRegionIterArgs()));
  scf::YieldOp::create(e.b, e.loc, next);
  return Sums(loop.getResults());
}

/// Which pixel of f32 is which k is ours to say, if both operands agree: lanes
/// with two neighbours of each 8 meet all banks.
WeightsWriter::PixelPlaces WeightsWriter::locatePixels(Value fragment,
                                                       Value buffer) {
  const int64_t results = plan.output.countResults();
  const int64_t perInstruction = plan.cells.getReduction();
  auto locate = [&](const ImageTile &image, Value lanePixel) {
    Value pixel = e.add(e.mul(fragment, perInstruction), lanePixel);
    if (results % perInstruction != 0)
      pixel =
          arith::MinUIOp::create(e.b, e.loc, pixel, e.constant(results - 1));
    return e.add(image.emitResultBytes(e, pixel), buffer);
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

Value WeightsWriter::loadElement(Value place) {
  return LLVM::LoadOp::create(e.b, e.loc, e.b.getI32Type(), k.getShared(place),
                              4);
}

/// B of mma.sync, of f32 as it was loaded: the registers of the first cell,
/// then of the second.
SmallVector<Value> WeightsWriter::readChannels(const PixelPlaces &places) {
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
SmallVector<Value> WeightsWriter::readPieces(const PixelPlaces &places,
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
Value WeightsWriter::emitIsPixel(Value pixel, ArrayRef<Value> origin) {
  const ImageTile &o = plan.output;
  Value line = e.add(origin[1], e.divu(pixel, o.width));
  Value column = e.add(origin[2], e.remu(pixel, o.width));
  return e.both(e.both(e.ult(pixel, o.countResults()), e.ult(line, o.numLines)),
                e.ult(column, o.numColumns));
}

/// Ones where a register belongs to a pixel (of 16 bits, its halves), for each
/// register of B, and two of A: zeros must multiply zeros.
SmallVector<Value> WeightsWriter::emitMasks(Value fragment, Value block) {
  if (plan.isEven)
    return {};
  const ImageTile &o = plan.output;
  SmallVector<Value> origin = o.groupSpace.evaluate(e, k.group);
  for (auto [form, other, constant] :
       llvm::zip(origin, o.blockSpace.evaluate(e, block), o.constants))
    form = e.add(e.add(form, other), constant);
  Value first = e.add(e.mul(fragment, plan.cells.getReduction()), k.place.pair);
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

WeightsWriter::Sums WeightsWriter::multiply(Value fragment, Value block,
                                            const Sums &sums) {
  SmallVector<Value> masks = emitMasks(fragment, block);
  const PixelPlaces places = locatePixels(fragment, getBuffer(block));
  SmallVector<Value> channels = readChannels(places);
  const size_t perCell = channels.size() / kCells;
  SmallVector<SmallVector<Value>> b;
  for (auto [i, value] : llvm::enumerate(channels))
    applyMask(e, value, masks, i % perCell);
  for (int64_t cell = 0; cell < kCells; ++cell)
    b.push_back(plan.cells.prepare(
        e, ArrayRef(channels).slice(cell * perCell, perCell), /*perPiece=*/2));
  Type element = k.program.loadM.getType().getElementType();
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
          (cell * plan.countPairs() + pair) * kSums, kSums);
      llvm::copy(plan.cells.multiply(e, element, a, b[cell], place),
                 place.begin());
    }
  }
  return next;
}

/// Begins to copy what the part has of `block`: all of it, or nothing behind
/// its end.
void WeightsWriter::copyBlock(Value block, Value end) {
  emitIf(e, emitExists(block, end), [&] {
    copyImageTile(e, plan.input, copyInput(block), k.group, block);
    copyImageTile(e, plan.output, copyOutput(block), k.group, block);
  });
}

WeightsWriter::BlockChunks WeightsWriter::fetchBlock(Value block, Value end) {
  Value exists = emitExists(block, end);
  return {
      fetchImageTile(e, plan.input, copyInput(block), k.group, block, exists),
      fetchImageTile(e, plan.output, copyOutput(block), k.group, block,
                     exists)};
}

void WeightsWriter::putBlock(const BlockChunks &chunks, Value block) {
  putImageTile(e, plan.input, copyInput(block), chunks.input);
  putImageTile(e, plan.output, copyOutput(block), chunks.output);
}

WeightsWriter::Sums WeightsWriter::emitFragments(Value block,
                                                 const Sums &begin) {
  const int64_t fragments = llvm::divideCeilSigned(plan.output.countResults(),
                                                   plan.cells.getReduction());
  return loop(share, e.constant(fragments), plan.sharing, begin,
              [&](Value fragment, const Sums &carried) {
                return multiply(fragment, block, carried);
              });
}

/// The next block is on its way while one is multiplied, and is put where the
/// one before was, with which all are done.
WeightsWriter::Sums WeightsWriter::emitStreamed(Value first, Value end,
                                                const Sums &begin) {
  putBlock(fetchBlock(first, end), first);
  e.device.emitLdsBarrier(e);
  return loop(first, end, 1, begin, [&](Value block, const Sums &carried) {
    Value next = e.add(block, 1);
    BlockChunks chunks = fetchBlock(next, end);
    Sums sums = emitFragments(block, carried);
    putBlock(chunks, next);
    e.device.emitLdsBarrier(e);
    return sums;
  });
}

/// The part's share of the blocks.
WeightsWriter::Sums WeightsWriter::emitBlocks(const Sums &begin) {
  const int64_t share = llvm::divideCeilSigned(plan.blocks, plan.splits);
  const int64_t perPart = k.program.tiles.getCounts()[0] / plan.splits;
  Value first = e.mul(e.divu(k.group, perPart), share);
  Value end = arith::MinUIOp::create(e.b, e.loc, e.add(first, share),
                                     e.constant(plan.blocks));
  if (plan.isStreamed())
    return emitStreamed(first, end, begin);
  copyBlock(first, end);
  e.device.endDirectGroup(e);
  return loop(first, end, 1, begin, [&](Value block, const Sums &carried) {
    copyBlock(e.add(block, 1), end);
    k.waitForCopies(/*groups=*/kBuffers - 1);
    Sums sums = emitFragments(block, carried);
    // The block behind the next is copied over this one.
    e.device.emitBareBarrier(e);
    return sums;
  });
}

/// A lane has rows l / 4 of both pieces of a pair, and two neighbouring output
/// channels of each.
void WeightsWriter::store(const Sums &sums) {
  const CellTile &cells = plan.cells;
  for (int64_t cell = 0; cell < kCells; ++cell) {
    Value chunk = cells.emitFirstChunk(e, warp, cell);
    Value column = e.add(e.mul(chunk, kCellChannels), k.place.row);
    Value row = e.add(e.add(e.mul(warp, kWarpChannels), k.place.pair),
                      cell * kCellChannels);
    StoreView result = k.viewStored(k.program.store.getView(), column, row);
    std::array<StorePlace, 2> rows = {result.locateQ(0), result.locateQ(1)};
    for (int64_t i = 0; i < cells.countPieces(); ++i) {
      Piece piece = cells.getPiece(i);
      StorePlace place = result.locateP(piece.tap * kBlockChannels +
                                        piece.chunk * kCellChannels);
      const int64_t first =
          (cell * plan.countPairs() + i / 2) * kSums + i % 2 * 2;
      for (int64_t n = 0; n < 2; ++n)
        result.store(arith::BitcastOp::create(e.b, e.loc, e.b.getI32Type(),
                                              sums[first + n]),
                     place, rows[n]);
    }
  }
}

Value WeightsWriter::getSumPlace(Value sharer, int64_t sum) {
  Value lane = e.add(e.mul(warp, kWarpSize), k.place.lane);
  Value row = e.add(e.mul(sharer, plan.countSums()), sum);
  return k.getShared(e.add(e.mul(row, kSumRowBytes), e.mul(lane, 4)));
}

/// The first of the warps that share pixels adds the others' sums, in their
/// order, and stores.
void WeightsWriter::addShares(const Sums &sums) {
  emitIf(e,
         arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ne, share,
                               e.constant(0)),
         [&] {
           for (auto [i, sum] : llvm::enumerate(sums))
             LLVM::StoreOp::create(e.b, e.loc, sum,
                                   getSumPlace(e.add(share, -1), i), 4);
         });
  e.device.emitLdsBarrier(e);
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

void WeightsWriter::emit() {
  if (plan.isStreamed() && plan.perUnit > 1)
    e.device.setKernelAttributes(k.function, /*accumulatorRegisters=*/0,
                                 plan.perUnit);
  k.group = e.device.emitBlockId(e, k.program.tiles.getCounts()[0]);
  k.row0 = e.constant(0);
  Value zero = e.constant(cast<TypedAttr>(e.b.getF32FloatAttr(0)));
  Sums sums = emitBlocks(Sums(plan.countSums(), zero));
  if (plan.sharing > 1)
    addShares(sums);
  else
    store(sums);
}

/// Channels of the filter's group: the result's last dimension.
static FailureOr<CellTile> matchResult(TileProgram &program, int64_t taps) {
  auto type = cast<MemRefType>(
      TileProgram::getView(program.store.getView()).getSource().getType());
  if (!type.getElementType().isF32() || !program.store.getExtras().empty() ||
      !program.store.getEpilogue().empty())
    return program.store.emitOpError(
        "stores splits, which are of f32 and have no epilogue");
  FailureOr<CellTile> cells =
      matchCells(program, program.store, type.getShape().back(), taps);
  dnn::CoordsAttr coords =
      TileProgram::getView(program.store.getView()).getCoords();
  if (succeeded(cells) &&
      (coords.getRanks()[1] != 2 || coords.getRanks()[2] != 4 ||
       !isDiagonal(coords, coords.getFirstDim(1), coords.getFirstDim(2) + 2,
                   cells->groupChannels)))
    return program.store.emitOpError(
        "needs a view in which what is not of one group is outside of the "
        "filter");
  return cells;
}

static FailureOr<Plan> makePlan(TileProgram &program, const GpuTarget &target) {
  auto pipeline = program.pipeline;
  FailureOr<ImageTile> output =
      matchImageTile(program.loadM, /*pixels=*/2, /*hasTaps=*/false);
  FailureOr<ImageTile> input =
      matchImageTile(program.loadN, /*pixels=*/2, /*hasTaps=*/true);
  if (failed(output) || failed(input))
    return failure();
  FailureOr<CellTile> cells = matchResult(program, input->countTaps());
  if (failed(cells))
    return failure();
  ArrayRef<int64_t> waves = program.mma.getWaves();
  ArrayRef<int64_t> tile = program.tiles.getTile();
  const int64_t columns = input->countTaps() * kBlockChannels;
  if (tile[0] != kBlockChannels || tile[1] != columns ||
      program.tiles.getPersistent() || program.tiles.getCounts()[1] != 1 ||
      program.tiles.getCounts()[2] != 1 || waves[0] != kBlockWarps ||
      waves[1] > kMostSharing || pipeline.getBuffers() != kBuffers ||
      static_cast<int64_t>(pipeline.getStep()) != output->countResults())
    return pipeline.emitOpError()
           << "has copy cp_async and splits, which needs two buffers for steps "
              "of a block of pixels, tiles of "
           << kBlockChannels << " channels by all taps of as many, and "
           << kBlockWarps << " by at most " << kMostSharing << " waves";
  if (failed(checkReach(program.store, program.store.getView(), tile[0])))
    return failure();
  ArrayRef<int64_t> reduce = pipeline.getReduce();
  const int64_t blocks = std::accumulate(reduce.begin(), reduce.end() - 2,
                                         int64_t(1), std::multiplies<>());
  const bool isEven = output->countResults() % cells->getReduction() == 0 &&
                      output->numLines % output->height == 0 &&
                      output->numColumns % output->width == 0;
  return Plan{*input,
              *output,
              *cells,
              blocks,
              static_cast<int64_t>(*pipeline.getSplits()),
              waves[1],
              isEven,
              llvm::divideCeilSigned(program.tiles.getCounts()[0],
                                     target.computeUnits)};
}

LogicalResult tessera::lowerCellWeights(TileProgram &program,
                                        const DeviceOps &device) {
  FailureOr<Plan> plan = makePlan(program, device.getTarget());
  if (failed(plan))
    return failure();
  return emitCellKernel(
      program, device,
      {program.tiles.getCounts()[0], plan->getThreads(),
       plan->getSharedBytes()},
      [&](CellKernel &kernel) { WeightsWriter(kernel, *plan).emit(); });
}
