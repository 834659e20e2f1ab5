//===- FragmentFeed.cpp - Steps of which B is changed on its way ----------===//

#include "compiler/Conversion/Hopper/FragmentFeed.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

RingPlace FragmentFeed::prepareTile(const ResultTile &tile,
                                    const RingPlace &begin) {
  Value steps = countSteps(tile.group);
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
SmallVector<Value>
FragmentFeed::emitSteps(Wgmma &wgmma, Value steps, RingPlace &place,
                        llvm::function_ref<void()> onIssued) {
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
    onIssued();
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
  onIssued();
  place = {loop.getResult(0), loop.getResult(1)};
  return SmallVector<Value>(llvm::drop_begin(loop.getResults(), 2));
}
