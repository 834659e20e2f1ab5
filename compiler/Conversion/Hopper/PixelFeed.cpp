//===- PixelFeed.cpp - tf32 factors that are read by pixels ---------------===//
//
// Between the copies and the products of a step B is transposed, by warps that
// the producer leaves free; A goes through registers (PixelFactors.h).
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Hopper/BothFactors.h"
#include "compiler/Conversion/Hopper/PixelFactors.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

namespace {
class PixelFeed final : public BothFactors {
public:
  using BothFactors::BothFactors;

  bool transposes() const override { return true; }
  RingPlace transposeTile(const ResultTile &tile,
                          const RingPlace &begin) override;
  SmallVector<Value> multiply(Wgmma &wgmma, Value group, Place &place,
                              llvm::function_ref<void()> onIssued) override;

private:
  void transposeStage(Value stage);
};
} // namespace

/// The free warps of the producer's group share out the blocks of each stage.
void PixelFeed::transposeStage(Value stage) {
  Value lane = e.andi(context.thread, 31);
  PixelTranspose transpose(e, lane);
  Value buffer =
      addBytes(e, context.shared,
               e.add(e.mul(stage, shape.getBytesB()), shape.getOffsetB()));
  const int64_t blocks = shape.tileN / kPixelBlock;
  for (int64_t i = 0; i < blocks; i += HopperShape::kTransposers) {
    Value block = e.add(context.warp, i - 1);
    emitIf(e, e.ult(block, blocks), [&] {
      transpose.emit(addBytes(e, buffer, e.mul(block, kPixelBlockBytes)));
    });
  }
  // What was written is read by wgmma, not by threads.
  NVVM::FenceProxyOp::create(
      e.b, e.loc, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(e.b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
  emitWarpSync(e);
  emitIf(e, e.ult(lane, 1), [&] { emitArrival(e, ring.getReady(stage)); });
}

RingPlace PixelFeed::transposeTile(const ResultTile &tile,
                                   const RingPlace &begin) {
  Value steps = plan.walk.countSteps(e, tile.group);
  auto loop =
      scf::ForOp::create(e.b, e.loc, e.constant(0), steps, e.constant(1),
                         ValueRange{begin.stage, begin.parity});
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  RingPlace at{loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
  ring.awaitFull(at);
  transposeStage(at.stage);
  RingPlace next = ring.advance(at);
  scf::YieldOp::create(e.b, e.loc, ValueRange{next.stage, next.parity});
  return {loop.getResult(0), loop.getResult(1)};
}

/// While a consumer loads its fragments, the products of the others run.
SmallVector<Value> PixelFeed::multiply(Wgmma &wgmma, Value group, Place &place,
                                       llvm::function_ref<void()>) {
  Value steps = plan.walk.countSteps(e, group);
  PixelFragments fragments(e, shape, e.andi(context.warp, kWarpgroup / 32 - 1),
                           e.andi(context.thread, 31),
                           e.mul(context.consumer, shape.getRows()));
  auto multiplyStep = [&](const RingPlace &at, ArrayRef<Value> sums,
                          bool isFirst) -> SmallVector<Value> {
    ring.awaitFull(at);
    SmallVector<Value> a = fragments.load(
        addBytes(e, context.shared, e.mul(at.stage, shape.getBytesA())));
    ring.wait(ring.getReady(at.stage), at.parity);
    SmallVector<Value> next =
        wgmma.multiplyFragments(at.stage, a, sums, isFirst);
    wgmma.wait(0);
    emitRelease(e, context.thread, ring, at.stage);
    return next;
  };
  RingPlace first{place[0], place[1]};
  SmallVector<Value> sums =
      multiplyStep(first, wgmma.makeSums(), /*isFirst=*/true);
  RingPlace second = ring.advance(first);
  SmallVector<Value> state = {second.stage, second.parity};
  llvm::append_range(state, sums);
  auto loop = scf::ForOp::create(e.b, e.loc, e.constant(1), steps,
                                 e.constant(1), state);
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
  place = {loop.getResult(0), loop.getResult(1)};
  return SmallVector<Value>(llvm::drop_begin(loop.getResults(), 2));
}

std::unique_ptr<StepFeed>
tessera::makePixelFeed(const StepFeed::Context &context) {
  return std::make_unique<PixelFeed>(context);
}
