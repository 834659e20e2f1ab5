//===- FragmentFeed.cpp - Steps of which B is changed on its way ----------===//

#include "compiler/Conversion/Hopper/FragmentFeed.h"
#include "compiler/Conversion/Hopper/TileOrder.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

RingPlace FragmentFeed::copyTile(unsigned, const ResultTile &tile,
                                 const RingPlace &begin) {
  Value firstStep = getFirstStep(e, plan, tile.group, context.rank);
  SmallVector<Value> placeA = plan.a.locate(e, tile.group, tile.row);
  SmallVector<Value> placeB = plan.b.locate(e, tile.group, tile.column);
  auto copyStep = [&](Value stepOfPart, const RingPlace &at) {
    Value step = e.add(firstStep, stepOfPart);
    Value full =
        ring.claim(at, e.constant(plan.a.getBytes() + plan.b.getBytes()));
    Value toA = addBytes(e, context.shared, e.mul(at.stage, shape.getBytesA()));
    Value toB =
        addBytes(e, context.shared,
                 e.add(e.mul(at.stage, shape.getBytesB()), shape.getOffsetB()));
    plan.a.copy(e, context.mapA, castToCluster(e, toA), full, placeA, step);
    plan.b.copy(e, context.mapB, castToCluster(e, toB), full, placeB, step);
  };
  if (shape.cluster > 1)
    return forEachStage(e, ring, countSteps(e, plan, tile.group, context.rank),
                        begin, copyStep);
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

RingPlace FragmentFeed::prepareTile(const ResultTile &tile,
                                    const RingPlace &begin) {
  Value steps = countSteps(e, plan, tile.group, context.rank);
  auto loop =
      scf::ForOp::create(e.b, e.loc, e.constant(0), steps, e.constant(1),
                         ValueRange{begin.stage, begin.parity});
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  RingPlace at{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
  ring.awaitFull(at);
  prepare(
      addBytes(e, context.shared,
               e.add(e.mul(at.stage, shape.getBytesB()), shape.getOffsetB())));
  // What was written is read by wgmma, not by threads.
  NVVM::FenceProxyOp::create(
      e.b, e.loc, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(e.b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
  emitWarpSync(e);
  emitIf(e, e.ult(getLane(), 1),
         [&] { emitArrival(e, ring.getReady(at.stage)); });
  RingPlace next = ring.advance(at);
  scf::YieldOp::create(e.b, e.loc, ValueRange{next.stage, next.parity});
  return {loop.getResult(0), loop.getResult(1)};
}

/// While a consumer loads its fragments, the products of the others run.
SmallVector<Value> FragmentFeed::emitSteps(Wgmma &wgmma, Value steps,
                                           RingPlace &place) {
  auto multiplyStep = [&](const RingPlace &at, ArrayRef<Value> sums,
                          bool isFirst) {
    ring.awaitFull(at);
    SmallVector<Value> next = multiplyStage(wgmma, at, sums, isFirst);
    wgmma.wait(0);
    emitRelease(e, context.thread, ring, at.stage);
    return next;
  };
  SmallVector<Value> sums =
      multiplyStep(place, wgmma.makeSums(), /*isFirst=*/true);
  RingPlace second = ring.advance(place);
  if (getConstantIntValue(steps) == 1) {
    place = second;
    return sums;
  }
  SmallVector<Value> state = {second.stage, second.parity};
  llvm::append_range(state, sums);
  auto loop = scf::ForOp::create(e.b, e.loc, e.constant(1), steps,
                                 e.constant(1), state);
  {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(loop.getBody());
    auto args = loop.getRegionIterArgs();
    RingPlace at{args[0], args[1]};
    SmallVector<Value> carried(args.begin() + 2, args.end());
    carried = multiplyStep(at, carried, /*isFirst=*/false);
    RingPlace next = ring.advance(at);
    SmallVector<Value> yielded = {next.stage, next.parity};
    llvm::append_range(yielded, carried);
    scf::YieldOp::create(e.b, e.loc, yielded);
  }
  place = {loop.getResult(0), loop.getResult(1)};
  return SmallVector<Value>(llvm::drop_begin(loop.getResults(), 2));
}

/// Accumulators begin anew after some steps, and what they have summed up until
/// then is added to sums that start as zeros.
SmallVector<Value> FragmentFeed::emitPromoted(Wgmma &wgmma, Value steps,
                                              RingPlace &place) {
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
    SmallVector<Value> added = emitSteps(wgmma, count, at);
    SmallVector<Value> yielded = {at.stage, at.parity};
    for (auto [sum, value] :
         llvm::zip(loop.getRegionIterArgs().drop_front(2), added))
      yielded.push_back(addAccumulators(e, sum, value));
    scf::YieldOp::create(e.b, e.loc, yielded);
  }
  place = {loop.getResult(0), loop.getResult(1)};
  return SmallVector<Value>(llvm::drop_begin(loop.getResults(), 2));
}

/// The sums are zeros if the group has no tap.
SmallVector<Value> FragmentFeed::multiply(Wgmma &wgmma, Value group,
                                          Place &place) {
  Value steps = countSteps(e, plan, group, context.rank);
  RingPlace at{place[0], place[1]};
  if (shape.promote > 0 || !plan.walk.canBeEmpty()) {
    SmallVector<Value> sums = shape.promote > 0 ? emitPromoted(wgmma, steps, at)
                                                : emitSteps(wgmma, steps, at);
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
  Value zeros = LLVM::ZeroOp::create(e.b, e.loc, wgmma.getAccType());
  yield(SmallVector<Value>(shape.blocks, zeros), at);
  e.b.setInsertionPointToStart(branch.elseBlock());
  RingPlace end = at;
  SmallVector<Value> sums = emitSteps(wgmma, steps, end);
  yield(std::move(sums), end);
  place = {branch.getResult(shape.blocks), branch.getResult(shape.blocks + 1)};
  return SmallVector<Value>(branch.getResults().take_front(shape.blocks));
}
