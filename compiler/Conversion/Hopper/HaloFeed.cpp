//===- HaloFeed.cpp - Pixels that come once for all taps ------------------===//
//
// Two rings with a copier each: one of the filter, a stage for each tap of the
// channels of a step, and one of halos, a buffer for each block of taps that
// share pixels. A filter of which all tiles need all, and whose stages hold
// all, comes once and stays.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Hopper/StepFeed.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

namespace {
class HaloFeed final : public StepFeed {
public:
  explicit HaloFeed(const Context &context)
      : context(context), e(context.e), plan(context.plan), shape(plan.shape),
        halo(*plan.halo), taps(halo.countTaps()), blocks(halo.countBlocks()),
        filters(e, context.shared, shape.getOffsetBarriers(), shape.stages,
                shape.countReaders()),
        halos(e, context.shared, shape.getOffsetHaloBarriers(),
              shape.halo.buffers, shape.countReaders()) {}

  void initialize() override {
    filters.initialize();
    halos.initialize();
  }
  unsigned countCopiers() const override { return 2; }
  bool isOneCopy(unsigned copier) const override {
    return copier == Filter && filterStays();
  }
  RingPlace copyTile(unsigned copier, const ResultTile &tile,
                     const RingPlace &begin) override {
    return copier == Filter ? copyFilter(tile, begin) : copyHalos(tile, begin);
  }
  Place getBegin() override { return Place(4, e.constant(0)); }
  SmallVector<Value> multiply(Wgmma &wgmma, Value group, Place &place,
                              llvm::function_ref<void()> onIssued) override;
  Place skipTile(const Place &place, Value group) override;

private:
  enum Copier { Filter, Halo };

  bool filterStays() const {
    return plan.sharesColumns && shape.stages == taps * blocks;
  }
  RingPlace copyFilter(const ResultTile &tile, const RingPlace &begin);
  RingPlace copyHalos(const ResultTile &tile, const RingPlace &begin);
  void awaitFilter(const RingPlace &place);
  void releaseFilter(Value stage);
  Wgmma::Place locate(Value stage, Value buffer, Value tap);
  SmallVector<Value> emitSteps(Wgmma &wgmma, int64_t first, int64_t last,
                               Wgmma::Shares shares, ArrayRef<Value> state);

  /// Values before the sums in what steps pass on: of the filter's next stage
  /// and of the last one, and of the halo.
  static constexpr unsigned kPlaces = 5;

  Context context;
  Emitter &e;
  const HopperPlan &plan;
  const HopperShape &shape;
  const HaloOperand &halo;
  int64_t taps, blocks; ///< Of a tile's reduction: steps are their product.
  TmaRing filters, halos;
};
} // namespace

//===----------------------------------------------------------------------===//
// The copiers
//===----------------------------------------------------------------------===//

/// Taps run fastest, other than in the reduction's own order.
RingPlace HaloFeed::copyFilter(const ResultTile &tile, const RingPlace &begin) {
  SmallVector<Value> place = plan.b.locate(e, tile.group, tile.column);
  return forEachStage(
      e, filters, e.constant(taps * blocks), begin,
      [&](Value i, const RingPlace &at) {
        Value step = halo.getStep(e, e.divu(i, taps), e.remu(i, taps));
        Value full = filters.claim(at, e.constant(plan.b.getBytes()));
        Value to = addBytes(
            e, context.shared,
            e.add(e.mul(at.stage, shape.getBytesB()), shape.getOffsetB()));
        plan.b.copy(e, context.mapB, castToCluster(e, to), full, place, step);
      });
}

RingPlace HaloFeed::copyHalos(const ResultTile &tile, const RingPlace &begin) {
  return forEachStage(e, halos, e.constant(blocks), begin,
                      [&](Value block, const RingPlace &at) {
                        Value full =
                            halos.claim(at, e.constant(halo.getHaloBytes()));
                        Value to = addBytes(e, context.shared,
                                            e.mul(at.stage, shape.getBytesA()));
                        halo.copyHalo(e, context.mapA, castToCluster(e, to),
                                      full, tile.group, tile.row, block);
                      });
}

//===----------------------------------------------------------------------===//
// The consumers
//===----------------------------------------------------------------------===//

/// A filter that stays has come when its first round has.
void HaloFeed::awaitFilter(const RingPlace &place) {
  filters.awaitFull(
      {place.stage, filterStays() ? e.constant(0) : place.parity});
}

void HaloFeed::releaseFilter(Value stage) {
  if (!filterStays())
    emitRelease(e, context.thread, filters, stage);
}

Wgmma::Place HaloFeed::locate(Value stage, Value buffer, Value tap) {
  Value row = halo.locateTap(e, tap);
  return {e.add(e.mul(buffer, shape.getBytesA()), e.mul(row, shape.rowBytes)),
          e.mul(stage, shape.getBytesB())};
}

/// Issues steps `first` to `last`, behind those in `state`.
SmallVector<Value> HaloFeed::emitSteps(Wgmma &wgmma, int64_t first,
                                       int64_t last, Wgmma::Shares shares,
                                       ArrayRef<Value> state) {
  auto loop = scf::ForOp::create(e.b, e.loc, e.constant(first),
                                 e.constant(last), e.constant(1), state);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  auto args = loop.getRegionIterArgs();
  RingPlace at{args[0], args[1]}, before{args[3], args[4]}, now = before;
  Value tap = e.remu(loop.getInductionVar(), taps);
  Value isNext = e.ult(tap, 1);
  if (blocks > 1) {
    RingPlace next = halos.advance(before);
    now = {e.select(isNext, next.stage, before.stage),
           e.select(isNext, next.parity, before.parity)};
    emitIf(e, isNext, [&] { halos.awaitFull(now); });
  }
  awaitFilter(at);
  SmallVector<Value> sums(args.begin() + kPlaces, args.end());
  sums = wgmma.multiply(locate(at.stage, now.stage, tap), sums,
                        /*isFirst=*/false, shares);
  wgmma.wait(1);
  releaseFilter(args[2]);
  if (blocks > 1)
    emitIf(e, isNext,
           [&] { emitRelease(e, context.thread, halos, before.stage); });
  RingPlace next = filters.advance(at);
  SmallVector<Value> yielded = {next.stage, next.parity, at.stage, now.stage,
                                now.parity};
  llvm::append_range(yielded, sums);
  scf::YieldOp::create(e.b, e.loc, yielded);
  return loop.getResults();
}

/// A stage is given back when the products of the next one have been issued, so
/// that one group always runs; so is a halo.
SmallVector<Value> HaloFeed::multiply(Wgmma &wgmma, Value, Place &place,
                                      llvm::function_ref<void()> onIssued) {
  RingPlace filter{place[0], place[1]}, pixels{place[2], place[3]};
  halos.awaitFull(pixels);
  awaitFilter(filter);
  // Past the last channel both operands are zero, if they reach there.
  const Wgmma::Shares whole{0, shape.rowBytes / Wgmma::kReductionBytes};
  Wgmma::Shares last{
      0, llvm::divideCeilSigned(halo.getLastBytes(), Wgmma::kReductionBytes)};
  if (plan.lastShares > 0)
    last.first = whole.count - last.count;
  const bool hasOthers = blocks > halo.countDepthTaps();
  SmallVector<Value> sums = wgmma.multiply(
      locate(filter.stage, pixels.stage, e.constant(0)), wgmma.makeSums(),
      /*isFirst=*/true, hasOthers ? whole : last);
  RingPlace second = filters.advance(filter);
  SmallVector<Value> state = {second.stage, second.parity, filter.stage,
                              pixels.stage, pixels.parity};
  llvm::append_range(state, sums);
  const int64_t steps = taps * blocks;
  const int64_t others =
      last.count == whole.count ? steps : steps - taps * halo.countDepthTaps();
  if (others > 1)
    state = emitSteps(wgmma, 1, others, whole, state);
  if (others < steps)
    state = emitSteps(wgmma, std::max<int64_t>(others, 1), steps, last, state);
  onIssued();
  wgmma.wait(0);
  releaseFilter(state[2]);
  pixels = {state[3], state[4]};
  emitRelease(e, context.thread, halos, pixels.stage);
  pixels = halos.advance(pixels);
  place = {state[0], state[1], pixels.stage, pixels.parity};
  return SmallVector<Value>(llvm::drop_begin(state, kPlaces));
}

StepFeed::Place HaloFeed::skipTile(const Place &place, Value) {
  RingPlace filter =
      filters.advance({place[0], place[1]}, e.constant(taps * blocks));
  RingPlace pixels = halos.advance({place[2], place[3]}, e.constant(blocks));
  return {filter.stage, filter.parity, pixels.stage, pixels.parity};
}

std::unique_ptr<StepFeed>
tessera::makeHaloFeed(const StepFeed::Context &context) {
  return std::make_unique<HaloFeed>(context);
}
