//===- PixelFeed.cpp - tf32 operands that are read by pixels --------------===//
//
// B is transposed by the free warps; A goes through registers
// (PixelOperands.h).
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Hopper/FragmentFeed.h"
#include "compiler/Conversion/Hopper/PixelOperands.h"

using namespace mlir;
using namespace tessera;

namespace {
class PixelFeed final : public FragmentFeed {
public:
  using FragmentFeed::FragmentFeed;

protected:
  void prepare(Value buffer) override;
  SmallVector<Value> multiplyStage(Wgmma &wgmma, const RingPlace &at,
                                   ArrayRef<Value> sums, bool isFirst) override;
};
} // namespace

/// The free warps of the producer's group share out the blocks.
void PixelFeed::prepare(Value buffer) {
  PixelTranspose transpose(e, getLane());
  const int64_t blocks = shape.tileN / kPixelBlock;
  for (int64_t i = 0; i < blocks; i += HopperShape::kPreparers) {
    Value block = e.add(context.warp, i - 1);
    emitIf(e, e.ult(block, blocks), [&] {
      transpose.emit(addBytes(e, buffer, e.mul(block, kPixelBlockBytes)));
    });
  }
}

SmallVector<Value> PixelFeed::multiplyStage(Wgmma &wgmma, const RingPlace &at,
                                            ArrayRef<Value> sums,
                                            bool isFirst) {
  PixelFragments fragments(e, shape, getGroupWarp(), getLane(), getFirstRow());
  SmallVector<Value> a = fragments.load(getBufferA(at.stage));
  ring.wait(ring.getReady(at.stage), at.parity);
  return wgmma.multiplyFragments(at.stage, a, sums, isFirst);
}

std::unique_ptr<StepFeed>
tessera::makePixelFeed(const StepFeed::Context &context) {
  return std::make_unique<PixelFeed>(context);
}
