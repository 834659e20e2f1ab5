//===- StepFeed.cpp - Steps that bring both operands ----------------------===//

#include "compiler/Conversion/Hopper/BothOperands.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

void tessera::emitRelease(Emitter &e, Value thread, TmaRing &ring, Value stage,
                          int64_t copiers) {
  Value number = e.andi(thread, kWarpgroup - 1);
  emitIf(e, e.ult(number, copiers), [&] {
    Value empty = ring.getEmpty(stage);
    if (copiers == 1) {
      emitArrival(e, empty);
      return;
    }
    // Products have read the stage, and nothing is written: a release of the
    // cluster's scope would wait for all memory in each step.
    constexpr unsigned kClusterSpace = 7;
    auto remote = LLVM::LLVMPointerType::get(e.b.getContext(), kClusterSpace);
    NVVM::MBarrierArriveOp::create(
        e.b, e.loc, Type(),
        NVVM::MapaOp::create(e.b, e.loc, remote, empty, number), Value());
  });
}

void tessera::emitArrival(Emitter &e, Value barrier) {
  NVVM::MBarrierArriveOp::create(e.b, e.loc, e.b.getI64Type(), barrier,
                                 Value());
}

RingPlace
tessera::forEachStage(Emitter &e, TmaRing &ring, Value count,
                      const RingPlace &begin,
                      llvm::function_ref<void(Value, const RingPlace &)> body) {
  auto loop =
      scf::ForOp::create(e.b, e.loc, e.constant(0), count, e.constant(1),
                         ValueRange{begin.stage, begin.parity});
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  RingPlace at{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
  body(loop.getInductionVar(), at);
  RingPlace next = ring.advance(at);
  scf::YieldOp::create(e.b, e.loc, ValueRange{next.stage, next.parity});
  return {loop.getResult(0), loop.getResult(1)};
}

void tessera::emitTakeTurn(Emitter &e, Value consumer) {
  NVVM::BarrierOp::create(e.b, e.loc, TypeRange(), e.add(consumer, 1),
                          e.constant(2 * kWarpgroup), nullptr, Value());
}

void tessera::emitPassTurn(Emitter &e, Value consumer, int64_t consumers) {
  Value next = e.add(consumer, 1);
  next = e.select(e.ult(next, consumers), next, e.constant(0));
  NVVM::BarrierArriveOp::create(e.b, e.loc, e.add(next, 1),
                                e.constant(2 * kWarpgroup));
}

/// Splits of the reduction are runs of groups. In a cluster the first
/// workgroups have one step more than the others, if not all have as many.
Value BothOperands::getFirstStep(Value group) {
  if (shape.cluster > 1) {
    const int64_t more = plan.steps % shape.cluster;
    Value before = e.mul(context.rank, plan.steps / shape.cluster);
    if (more == 0)
      return before;
    return e.add(before, arith::MinUIOp::create(e.b, e.loc, context.rank,
                                                e.constant(more)));
  }
  const int64_t groups = plan.groups / plan.splits;
  return plan.splits == 1 ? e.constant(0)
                          : e.mul(e.divu(group, groups), plan.steps);
}

Value BothOperands::countSteps(Value group) {
  if (shape.cluster == 1)
    return plan.walk.countSteps(e, group);
  const int64_t least = plan.steps / shape.cluster;
  const int64_t more = plan.steps % shape.cluster;
  if (more == 0)
    return e.constant(least);
  return e.select(e.ult(context.rank, more), e.constant(least + 1),
                  e.constant(least));
}

RingPlace BothOperands::copyTile(unsigned, const ResultTile &tile,
                                 const RingPlace &begin) {
  Value firstStep = getFirstStep(tile.group);
  Value rank = context.rank;
  SmallVector<Value> placeA = plan.a.locate(e, tile.group, tile.row, rank);
  SmallVector<Value> placeB = plan.b.locate(e, tile.group, tile.column, rank);
  auto copyStep = [&](Value stepOfPart, const RingPlace &at) {
    Value step = e.add(firstStep, stepOfPart);
    Value full =
        ring.claim(at, e.constant(plan.a.getBytes() + plan.b.getBytes()));
    Value toA = addBytes(e, context.shared, e.mul(at.stage, shape.getBytesA()));
    Value toB =
        addBytes(e, context.shared,
                 e.add(e.mul(at.stage, shape.getBytesB()), shape.getOffsetB()));
    plan.a.copy(e, context.mapA, castToCluster(e, toA), full, placeA, step,
                rank);
    plan.b.copy(e, context.mapB, castToCluster(e, toB), full, placeB, step,
                rank);
  };
  if (shape.cluster > 1)
    return forEachStage(e, ring, countSteps(tile.group), begin, copyStep);
  SmallVector<Value> end = plan.walk.forEachStep(
      e, tile.group, {begin.stage, begin.parity},
      [&](Value step, ValueRange carried) -> SmallVector<Value> {
        RingPlace at{carried[0], carried[1]};
        copyStep(step, at);
        RingPlace next = ring.advance(at);
        return {next.stage, next.parity};
      });
  return {end[0], end[1]};
}

/// Those that the other workgroup reads, too: until it has told so, this one's
/// barriers must be there.
void BothOperands::finishCopies(const RingPlace &end) {
  if (shape.multicast)
    forEachStage(e, ring, e.constant(shape.stages), end,
                 [&](Value, const RingPlace &at) { ring.awaitEmpty(at); });
}

/// Issues steps `first` to `last`, behind those in `state`: the next step's
/// stage, the last one's, and the sums.
SmallVector<Value> BothOperands::emitLoop(Wgmma &wgmma, Value first, Value last,
                                          std::optional<Wgmma::Shares> shares,
                                          ArrayRef<Value> state) {
  auto loop = scf::ForOp::create(e.b, e.loc, first, last, e.constant(1), state);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  auto args = loop.getRegionIterArgs();
  RingPlace at{args[0], args[1]};
  ring.awaitFull(at);
  SmallVector<Value> sums(args.begin() + 3, args.end());
  sums = wgmma.multiply(locate(at.stage), sums, /*isFirst=*/false, shares);
  wgmma.wait(1);
  emitRelease(e, context.thread, ring, args[2], shape.countSharers());
  RingPlace next = ring.advance(at);
  SmallVector<Value> yielded = {next.stage, next.parity, at.stage};
  llvm::append_range(yielded, sums);
  scf::YieldOp::create(e.b, e.loc, yielded);
  return loop.getResults();
}

/// A stage is given back when the products of the next one have been issued, so
/// that one group always runs.
SmallVector<Value>
BothOperands::emitSteps(Wgmma &wgmma, Value steps, RingPlace &place,
                        llvm::function_ref<void()> onIssued) {
  ring.awaitFull(place);
  SmallVector<Value> sums =
      wgmma.multiply(locate(place.stage), wgmma.makeSums(), /*isFirst=*/true);
  RingPlace second = ring.advance(place);
  SmallVector<Value> state = {second.stage, second.parity, place.stage};
  llvm::append_range(state, sums);
  const bool endsInside = plan.lastShares > 0;
  Value whole = endsInside ? e.constant(plan.a.countWholeSteps()) : steps;
  state = emitLoop(wgmma, e.constant(1), whole, {}, state);
  if (endsInside) {
    const int64_t all = shape.rowBytes / Wgmma::kReductionBytes;
    state =
        emitLoop(wgmma, whole, steps,
                 Wgmma::Shares{all - plan.lastShares, plan.lastShares}, state);
  }
  onIssued();
  wgmma.wait(0);
  emitRelease(e, context.thread, ring, state[2], shape.countSharers());
  place = {state[0], state[1]};
  return SmallVector<Value>(llvm::drop_begin(state, 3));
}

/// lhs + rhs, each the accumulators of one product.
static Value addAccumulators(Emitter &e, Value lhs, Value rhs) {
  auto type = cast<LLVM::LLVMStructType>(lhs.getType());
  Value sums = LLVM::UndefOp::create(e.b, e.loc, type);
  for (int64_t i = 0, count = type.getBody().size(); i < count; ++i) {
    Value sum = arith::AddFOp::create(
        e.b, e.loc, LLVM::ExtractValueOp::create(e.b, e.loc, lhs, ArrayRef(i)),
        LLVM::ExtractValueOp::create(e.b, e.loc, rhs, ArrayRef(i)));
    sums = LLVM::InsertValueOp::create(e.b, e.loc, sums, sum, ArrayRef(i));
  }
  return sums;
}

/// Accumulators begin anew after some steps, and what they have summed up until
/// then is added to sums that start as zeros.
SmallVector<Value>
BothOperands::emitPromoted(Wgmma &wgmma, Value steps, RingPlace &place,
                           llvm::function_ref<void()> onIssued) {
  Value zeros = LLVM::ZeroOp::create(e.b, e.loc, wgmma.getAccType());
  SmallVector<Value> state = {place.stage, place.parity};
  state.append(shape.blocks, zeros);
  auto loop = scf::ForOp::create(e.b, e.loc, e.constant(0), steps,
                                 e.constant(shape.promote), state);
  {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(loop.getBody());
    Value left =
        arith::SubIOp::create(e.b, e.loc, steps, loop.getInductionVar());
    Value count = e.constant(shape.promote);
    if (shape.promote > 1)
      count = arith::MinUIOp::create(e.b, e.loc, left, count);
    RingPlace at{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
    SmallVector<Value> added = emitSteps(wgmma, count, at, [] {});
    SmallVector<Value> yielded = {at.stage, at.parity};
    for (auto [sum, value] :
         llvm::zip(loop.getRegionIterArgs().drop_front(2), added))
      yielded.push_back(addAccumulators(e, sum, value));
    scf::YieldOp::create(e.b, e.loc, yielded);
  }
  onIssued();
  place = {loop.getResult(0), loop.getResult(1)};
  return SmallVector<Value>(llvm::drop_begin(loop.getResults(), 2));
}

/// The sums are zeros if the group has no tap.
SmallVector<Value> BothOperands::multiply(Wgmma &wgmma, Value group,
                                          Place &place,
                                          llvm::function_ref<void()> onIssued) {
  Value steps = countSteps(group);
  RingPlace at{place[0], place[1]};
  if (shape.promote > 0 || !plan.walk.canBeEmpty()) {
    SmallVector<Value> sums = shape.promote > 0
                                  ? emitPromoted(wgmma, steps, at, onIssued)
                                  : emitSteps(wgmma, steps, at, onIssued);
    place = {at.stage, at.parity};
    return sums;
  }
  SmallVector<Type> types(shape.blocks, wgmma.getAccType());
  types.append({at.stage.getType(), at.parity.getType()});
  auto branch = scf::IfOp::create(e.b, e.loc, types, e.ult(steps, 1),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  auto yield = [&](SmallVector<Value> sums, const RingPlace &end) {
    sums.append({end.stage, end.parity});
    scf::YieldOp::create(e.b, e.loc, sums);
  };
  e.b.setInsertionPointToStart(branch.thenBlock());
  onIssued();
  Value zeros = LLVM::ZeroOp::create(e.b, e.loc, wgmma.getAccType());
  yield(SmallVector<Value>(shape.blocks, zeros), at);
  e.b.setInsertionPointToStart(branch.elseBlock());
  RingPlace end = at;
  SmallVector<Value> sums = emitSteps(wgmma, steps, end, onIssued);
  yield(std::move(sums), end);
  place = {branch.getResult(shape.blocks), branch.getResult(shape.blocks + 1)};
  return SmallVector<Value>(branch.getResults().take_front(shape.blocks));
}

StepFeed::Place BothOperands::skipTile(const Place &place, Value group) {
  RingPlace next =
      ring.advance({place[0], place[1]}, plan.walk.countSteps(e, group));
  return {next.stage, next.parity};
}

std::unique_ptr<StepFeed>
tessera::makeStepFeed(const StepFeed::Context &context) {
  return std::make_unique<BothOperands>(context);
}
