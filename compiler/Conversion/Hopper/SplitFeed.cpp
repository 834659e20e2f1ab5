//===- SplitFeed.cpp - f32 operands in terms of bf16 ----------------------===//

#include "compiler/Conversion/Hopper/FragmentFeed.h"
#include "compiler/Conversion/Hopper/PixelOperands.h"
#include "compiler/Conversion/Hopper/SplitOperands.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

namespace {
class SplitFeed final : public FragmentFeed {
public:
  using FragmentFeed::FragmentFeed;

protected:
  void prepare(Value buffer) override;
  SmallVector<Value> multiplyStage(Wgmma &wgmma, const RingPlace &at,
                                   ArrayRef<Value> sums, bool isFirst) override;

private:
  SmallVector<Value> loadA(Value stage);
};
} // namespace

/// The free warps share out the pieces, two at a time.
void SplitFeed::prepare(Value buffer) {
  constexpr int64_t kAtOnce = TermWriter::kPiecesAtOnce;
  TermWriter writer(e, shape, plan.b.isTransposed(), getLane());
  Value first = e.mul(e.add(context.warp, -1), kAtOnce);
  auto loop = scf::ForOp::create(
      e.b, e.loc, first, e.constant(writer.countPieces()),
      e.constant(kAtOnce * HopperShape::kPreparers), ValueRange{});
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  writer.emit(buffer, loop.getInductionVar());
}

/// f32s, as PixelFragments orders them.
SmallVector<Value> SplitFeed::loadA(Value stage) {
  Value buffer = getBufferA(stage);
  if (!plan.a.isTransposed())
    return ChannelFragments(e, shape, getGroupWarp(), getLane(), getFirstRow())
        .load(buffer);
  SmallVector<Value> values =
      PixelFragments(e, shape, getGroupWarp(), getLane(), getFirstRow())
          .load(buffer);
  for (Value &value : values)
    value = arith::BitcastOp::create(e.b, e.loc, e.b.getF32Type(), value);
  return values;
}

/// Consumers multiply in turns, so that the others split meanwhile.
SmallVector<Value> SplitFeed::multiplyStage(Wgmma &wgmma, const RingPlace &at,
                                            ArrayRef<Value> sums,
                                            bool isFirst) {
  constexpr int64_t kRegisters = 4, kValues = 2 * kRegisters;
  SmallVector<Value> values = loadA(at.stage);
  SmallVector<SmallVector<SplitPair>> fragments;
  for (int64_t share = 0; share < kSplitShares; ++share)
    for (int64_t block = 0; block < shape.blocks; ++block) {
      ArrayRef<Value> all = ArrayRef(values).slice(
          (block * kSplitShares + share) * kValues, kValues);
      SmallVector<SplitPair> &pairs = fragments.emplace_back();
      // Of each four values the rows g and g + 8 take turns.
      for (int64_t i = 0; i < kRegisters; ++i) {
        const int64_t low = i / 2 * 4 + i % 2;
        pairs.push_back(splitPair(e, all[low], all[low + 2]));
      }
    }
  ring.wait(ring.getReady(at.stage), at.parity);
  if (shape.takesTurns())
    emitTakeTurn(e, context.consumer);
  SmallVector<Value> results =
      wgmma.multiplyTerms(at.stage, fragments, sums, isFirst);
  if (shape.takesTurns())
    emitPassTurn(e, context.consumer, shape.consumers);
  return results;
}

std::unique_ptr<StepFeed>
tessera::makeSplitFeed(const StepFeed::Context &context) {
  return std::make_unique<SplitFeed>(context);
}
