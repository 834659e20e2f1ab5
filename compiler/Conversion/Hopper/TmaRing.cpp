//===- TmaRing.cpp - The stages between producer and consumers ------------===//

#include "compiler/Conversion/Hopper/TmaRing.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

/// The full barriers of all stages, then the empty ones, then the ready ones.
Value TmaRing::getBarrier(Value stage, int64_t which) {
  return addBytes(e, shared,
                  e.add(e.mul(stage, kBarrierBytes),
                        barrierOffset + which * stages * kBarrierBytes));
}

void TmaRing::initialize() {
  for (int64_t i = 0; i < stages; ++i) {
    Value stage = e.constant(i);
    NVVM::MBarrierInitOp::create(e.b, e.loc, getFull(stage), e.constant(1),
                                 Value());
    if (readers > 0)
      NVVM::MBarrierInitOp::create(e.b, e.loc, getEmpty(stage),
                                   e.constant(readers), Value());
    if (preparers > 0)
      NVVM::MBarrierInitOp::create(e.b, e.loc, getReady(stage),
                                   e.constant(preparers), Value());
  }
  NVVM::FenceMbarrierInitOp::create(e.b, e.loc);
}

Value TmaRing::claim(const RingPlace &place, Value bytes) {
  if (readers > 0)
    awaitEmpty(place);
  Value full = getFull(place.stage);
  NVVM::MBarrierArriveExpectTxOp::create(
      e.b, e.loc, TypeRange(), full, bytes, NVVM::MemScopeKind::CTA,
      /*relaxed=*/false, /*predicate=*/Value());
  return full;
}

void TmaRing::wait(Value barrier, Value parity) {
  constexpr int64_t kTicks = 10000000; // Of one try; the op tries for ever.
  NVVM::MBarrierTryWaitParityOp::create(e.b, e.loc, barrier, parity,
                                        e.constant(kTicks));
}

/// The place at `stage`, which may be of the round behind that of `parity`.
RingPlace TmaRing::wrap(Value stage, Value parity) {
  Value wraps = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::uge,
                                      stage, e.constant(stages));
  Value wrapped = arith::SubIOp::create(e.b, e.loc, stage, e.constant(stages));
  Value flip = arith::ExtUIOp::create(e.b, e.loc, e.b.getI32Type(), wraps);
  return {e.select(wraps, wrapped, stage), e.xori(parity, flip)};
}

RingPlace TmaRing::advance(const RingPlace &place) {
  return wrap(e.add(place.stage, 1), place.parity);
}

RingPlace TmaRing::advance(const RingPlace &place, Value steps) {
  Value rounds = e.andi(e.divu(steps, stages), 1);
  return wrap(e.add(place.stage, e.remu(steps, stages)),
              e.xori(place.parity, rounds));
}

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
