//===- TmaRing.cpp - The stages between producer and consumers ------------===//

#include "compiler/Conversion/Hopper/TmaRing.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tessera;

static constexpr int64_t kBarrierBytes = 8;

/// The full barriers of all stages, then the empty ones, then the ready ones.
Value TmaRing::getBarrier(Value stage, int64_t which) {
  const int64_t begin =
      shape.getOffsetBarriers() + which * shape.stages * kBarrierBytes;
  return addBytes(e, shared, e.add(e.mul(stage, kBarrierBytes), begin));
}

Value TmaRing::getBufferA(Value stage) {
  return addBytes(e, shared, e.mul(stage, shape.getBytesA()));
}

Value TmaRing::getBufferB(Value stage) {
  return addBytes(e, shared,
                  e.add(e.mul(stage, shape.getBytesB()), shape.getOffsetB()));
}

void TmaRing::initialize() {
  // Each consumer reads every stage, or, in turns, the stages of its tiles.
  const int64_t readers = shape.isPingPong ? 1 : shape.consumers;
  for (int64_t i = 0; i < shape.stages; ++i) {
    Value stage = e.constant(i);
    NVVM::MBarrierInitOp::create(e.b, e.loc, getFull(stage), e.constant(1),
                                 Value());
    NVVM::MBarrierInitOp::create(e.b, e.loc, getEmpty(stage),
                                 e.constant(readers), Value());
    if (shape.transposesPixels)
      NVVM::MBarrierInitOp::create(e.b, e.loc, getReady(stage),
                                   e.constant(HopperShape::kTransposers),
                                   Value());
  }
  NVVM::FenceMbarrierInitOp::create(e.b, e.loc);
}

void TmaRing::wait(Value barrier, Value parity) {
  constexpr int64_t kTicks = 10000000; // Of one try; the op tries for ever.
  NVVM::MBarrierTryWaitParityOp::create(e.b, e.loc, barrier, parity,
                                        e.constant(kTicks));
}

/// The place at `stage`, which may be of the round behind that of `parity`.
RingPlace TmaRing::wrap(Value stage, Value parity) {
  Value wraps = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::uge,
                                      stage, e.constant(shape.stages));
  Value wrapped =
      arith::SubIOp::create(e.b, e.loc, stage, e.constant(shape.stages));
  Value flip = arith::ExtUIOp::create(e.b, e.loc, e.b.getI32Type(), wraps);
  return {e.select(wraps, wrapped, stage), e.xori(parity, flip)};
}

RingPlace TmaRing::advance(const RingPlace &place) {
  return wrap(e.add(place.stage, 1), place.parity);
}

RingPlace TmaRing::advance(const RingPlace &place, Value steps) {
  Value rounds = e.andi(e.divu(steps, shape.stages), 1);
  return wrap(e.add(place.stage, e.remu(steps, shape.stages)),
              e.xori(place.parity, rounds));
}
