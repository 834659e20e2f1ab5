//===- StepFeed.cpp - What feeds have in common ---------------------------===//

#include "compiler/Conversion/Hopper/StepFeed.h"

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

/// lhs + rhs, each the accumulators of one product.
Value tessera::addAccumulators(Emitter &e, Value lhs, Value rhs) {
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
