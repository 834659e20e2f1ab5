//===- SlidingFeed.cpp - Backward weights whose taps share pixels ---------===//
//
// Two rings with a copier each: one of the gradient, 64 positions a stage, and
// one of the input, whose chunks of 64 positions stay for as many steps as taps
// reach. A consumer's share of a step may begin in any row of the ring. Behind
// its last chunk is a mirror of the first, for what begins before its end.
//
// The input is B, and a consumer has all taps of a filter row; or it is A, and
// a consumer has some lines of windows.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Hopper/StepFeed.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

static constexpr int64_t kChunkRows = 64;
/// Of one instruction's reduction.
static constexpr int64_t kShareRows = 16;

namespace {
class SlidingFeed final : public StepFeed {
public:
  explicit SlidingFeed(const Context &context)
      : context(context), e(context.e), plan(context.plan), shape(plan.shape),
        halo(*plan.sliding), isOfB(shape.halo.isOfB),
        gradient(isOfB ? plan.a : plan.b), ahead(halo.countAhead()),
        rowBytes(isOfB ? shape.halo.rowBytes : shape.rowBytes),
        chunkBytes(kChunkRows * rowBytes),
        gradients(e, context.shared, shape.getOffsetBarriers(), shape.stages,
                  shape.consumers),
        chunks(e, context.shared, shape.getOffsetHaloBarriers(),
               shape.halo.buffers, shape.consumers) {}

  void initialize() override {
    gradients.initialize();
    chunks.initialize();
  }
  unsigned countCopiers() const override { return 2; }
  RingPlace copyTile(unsigned copier, const ResultTile &tile,
                     const RingPlace &begin) override {
    return copier == 0 ? copyGradient(tile, begin) : copyChunks(tile, begin);
  }
  Place getBegin() override { return Place(4, e.constant(0)); }
  SmallVector<Value> multiply(Wgmma &wgmma, Value group, Place &place) override;

private:
  RingPlace copyGradient(const ResultTile &tile, const RingPlace &begin);
  RingPlace copyChunks(const ResultTile &tile, const RingPlace &begin);
  Value getFirstStep(Value group) {
    const int64_t groups = plan.groups / plan.splits;
    return plan.splits == 1 ? e.constant(0)
                            : e.mul(e.divu(group, groups), plan.steps);
  }
  Value getGradient(Value stage) {
    return e.mul(stage, isOfB ? shape.getBytesA() : shape.getBytesB());
  }
  Value locateShare(Value chunk, Value line, int64_t k);
  Wgmma::Place locate(Value stage, Value chunk);
  void release(TmaRing &ring, Value stage) {
    emitRelease(e, context.thread, ring, stage);
  }

  Context context;
  Emitter &e;
  const HopperPlan &plan;
  const HopperShape &shape;
  const SlidingHalo &halo;
  bool isOfB; ///< What slides; else of A.
  const TmaOperand &gradient;
  int64_t ahead; ///< Chunks that a step reads behind its own.
  int64_t rowBytes, chunkBytes;
  TmaRing gradients, chunks;
};
} // namespace

RingPlace SlidingFeed::copyGradient(const ResultTile &tile,
                                    const RingPlace &begin) {
  Value first = getFirstStep(tile.group);
  SmallVector<Value> place =
      gradient.locate(e, tile.group, isOfB ? tile.row : tile.column);
  return forEachStage(
      e, gradients, e.constant(plan.steps), begin,
      [&](Value i, const RingPlace &at) {
        Value full = gradients.claim(at, e.constant(gradient.getBytes()));
        Value to = addBytes(
            e, context.shared,
            e.add(getGradient(at.stage), isOfB ? 0 : shape.getOffsetB()));
        gradient.copy(e, isOfB ? context.mapA : context.mapB,
                      castToCluster(e, to), full, place, e.add(first, i));
      });
}

/// A tile needs the chunks behind its last step's, too, and so begins anew
/// where another has ended.
RingPlace SlidingFeed::copyChunks(const ResultTile &tile,
                                  const RingPlace &begin) {
  Value first = getFirstStep(tile.group);
  SmallVector<Value> place =
      halo.locateChannels(e, tile.group, isOfB ? tile.column : tile.row);
  return forEachStage(
      e, chunks, e.constant(plan.steps + ahead), begin,
      [&](Value i, const RingPlace &at) {
        Value isFirst = e.ult(at.stage, 1);
        Value full =
            chunks.claim(at, e.select(isFirst, e.constant(2 * chunkBytes),
                                      e.constant(chunkBytes)));
        auto copyTo = [&](Value bytes) {
          Value to = addBytes(e, context.shared,
                              e.add(bytes, isOfB ? shape.getOffsetB() : 0));
          halo.copy(e, isOfB ? context.mapB : context.mapA,
                    castToCluster(e, to), full, place, e.add(first, i));
        };
        copyTo(e.mul(at.stage, chunkBytes));
        emitIf(e, isFirst,
               [&] { copyTo(e.constant(shape.halo.buffers * chunkBytes)); });
      });
}

/// Of an instruction's 16 positions, the first in the ring that `line` sees.
Value SlidingFeed::locateShare(Value chunk, Value line, int64_t k) {
  const int64_t rows = shape.halo.buffers * kChunkRows;
  Value at = e.add(
      e.add(e.mul(chunk, kChunkRows), e.mul(line, halo.getFilterRows())), k);
  Value wrapped = e.add(at, -rows);
  return e.mul(e.select(e.ult(at, rows), at, wrapped), rowBytes);
}

/// Of B a line is a consumer's filter row; of A each block of a consumer's rows
/// is one.
Wgmma::Place SlidingFeed::locate(Value stage, Value chunk) {
  Value gradient = getGradient(stage);
  Wgmma::Place place{isOfB ? gradient : Value(), isOfB ? Value() : gradient};
  Value first = e.mul(context.consumer, shape.blocks);
  for (int64_t k = 0; k < kChunkRows; k += kShareRows) {
    if (isOfB)
      place.sharesB.push_back(locateShare(chunk, context.consumer, k));
    for (int64_t block = 0; !isOfB && block < shape.blocks; ++block)
      place.sharesA.push_back(locateShare(chunk, e.add(first, block), k));
  }
  return place;
}

/// A stage and a chunk are given back when the products of the next step have
/// been issued, so that one group always runs.
SmallVector<Value> SlidingFeed::multiply(Wgmma &wgmma, Value, Place &place) {
  RingPlace stage{place[0], place[1]}, chunk{place[2], place[3]};
  RingPlace front = chunk;
  chunks.awaitFull(front);
  for (int64_t i = 0; i < ahead; ++i) {
    front = chunks.advance(front);
    chunks.awaitFull(front);
  }
  gradients.awaitFull(stage);
  SmallVector<Value> sums = wgmma.multiply(locate(stage.stage, chunk.stage),
                                           wgmma.makeSums(), /*isFirst=*/true);
  RingPlace second = gradients.advance(stage);
  SmallVector<Value> state = {second.stage, second.parity, front.stage,
                              front.parity, stage.stage,   chunk.stage};
  const size_t places = state.size();
  llvm::append_range(state, sums);
  auto loop = scf::ForOp::create(e.b, e.loc, e.constant(1),
                                 e.constant(plan.steps), e.constant(1), state);
  {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(loop.getBody());
    auto args = loop.getRegionIterArgs();
    RingPlace at{args[0], args[1]};
    RingPlace ends = chunks.advance({args[2], args[3]});
    Value now = chunks.advance({args[5], e.constant(0)}).stage;
    chunks.awaitFull(ends);
    gradients.awaitFull(at);
    SmallVector<Value> carried(args.begin() + places, args.end());
    carried = wgmma.multiply(locate(at.stage, now), carried, /*isFirst=*/false);
    wgmma.wait(1);
    release(gradients, args[4]);
    release(chunks, args[5]);
    RingPlace next = gradients.advance(at);
    SmallVector<Value> yielded = {next.stage,  next.parity, ends.stage,
                                  ends.parity, at.stage,    now};
    llvm::append_range(yielded, carried);
    scf::YieldOp::create(e.b, e.loc, yielded);
  }
  wgmma.wait(0);
  release(gradients, loop.getResult(4));
  RingPlace last{loop.getResult(5), e.constant(0)};
  for (int64_t i = 0; i <= ahead; ++i) {
    release(chunks, last.stage);
    last = chunks.advance(last);
  }
  RingPlace behind = chunks.advance({loop.getResult(2), loop.getResult(3)});
  place = {loop.getResult(0), loop.getResult(1), behind.stage, behind.parity};
  return SmallVector<Value>(llvm::drop_begin(loop.getResults(), places));
}

std::unique_ptr<StepFeed>
tessera::makeSlidingFeed(const StepFeed::Context &context) {
  return std::make_unique<SlidingFeed>(context);
}
