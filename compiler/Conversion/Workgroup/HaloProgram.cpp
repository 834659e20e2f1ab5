//===- HaloProgram.cpp - Pixels that come once for all taps ---------------===//
//
// The filter and the pixels have stages of their own, and a thread each that
// fills them: one for each tap of the channels of a step, and one for each
// block of taps that share pixels. A filter of which all tiles need all, and
// whose stages hold all, comes once and stays.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Workgroup/ProgramWriter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

namespace {
class HaloProgram final : public ProgramWriter {
public:
  explicit HaloProgram(const Context &context)
      : ProgramWriter(context), halo(*plan.halo), taps(halo.countTaps()),
        blocks(halo.countBlocks()),
        filterStays(plan.sharesColumns && shape.stages == taps * blocks) {}

private:
  void emitStages() override;
  void emitCopiers() override;
  Value multiply(Value group, llvm::function_ref<void()> onIssued) override;
  void skipTile(Value tile) override;

  void copyFilter(Value tile);
  void copyPixels(Value tile);
  void releaseFilter();
  Value multiplyTap(Value tap, Value sums, Wgmma::Shares shares);
  Value multiplyLoop(int64_t first, int64_t last, Wgmma::Shares shares,
                     Value sums);

  const HaloOperand &halo;
  int64_t taps, blocks; ///< Of a tile's reduction: steps are their product.
  bool filterStays;
  Value filters, pixels; ///< Their stages.
};
} // namespace

void HaloProgram::emitStages() {
  filters = makeStages(bufferB, filterStays ? 0 : shape.countReaders());
  pixels = makeStages(bufferA, shape.countReaders());
}

//===----------------------------------------------------------------------===//
// The copiers
//===----------------------------------------------------------------------===//

/// Taps run fastest, other than in the reduction's own order.
void HaloProgram::copyFilter(Value tile) {
  ResultTile at = locateTile(tile);
  wg::BoxOp box = emitBox(program.loadN, plan.b, at.group, at.column);
  forEachStep(e.constant(taps * blocks), [&](Value i) {
    Value step = halo.getStep(e, e.divu(i, taps), e.remu(i, taps));
    wg::AcquireOp::create(e.b, e.loc, filters, plan.b.getBytes());
    wg::CopyOp::create(e.b, e.loc, box, step, bufferB, filters);
    wg::NextOp::create(e.b, e.loc, filters, Value());
  });
}

void HaloProgram::copyPixels(Value tile) {
  ResultTile at = locateTile(tile);
  wg::BoxOp box = emitBox(program.loadM, halo, at.group, at.row);
  forEachStep(e.constant(blocks), [&](Value block) {
    wg::AcquireOp::create(e.b, e.loc, pixels, halo.getBytes());
    wg::CopyOp::create(e.b, e.loc, box, block, bufferA, pixels);
    wg::NextOp::create(e.b, e.loc, pixels, Value());
  });
}

void HaloProgram::emitCopiers() {
  emitCopier("filter", [&] {
    if (filterStays)
      return copyFilter(workgroup);
    forEachTile(workgroup, plan.countWalkers(),
                [&](Value tile) { copyFilter(tile); });
  });
  emitCopier("pixels", [&] {
    forEachTile(workgroup, plan.countWalkers(),
                [&](Value tile) { copyPixels(tile); });
  });
}

//===----------------------------------------------------------------------===//
// The consumers
//===----------------------------------------------------------------------===//

void HaloProgram::releaseFilter() {
  if (!filterStays)
    wg::ReleaseOp::create(e.b, e.loc, filters);
}

/// Issues the products of a tap once its filter has come.
Value HaloProgram::multiplyTap(Value tap, Value sums, Wgmma::Shares shares) {
  wg::AwaitOp::create(e.b, e.loc, filters);
  Value seen = sliceRows(rowsA, shape.getRows(), halo.locateTap(e, tap));
  return wg::MmaOp::create(e.b, e.loc, acc, seen, bufferB, sums,
                           getShares(shares));
}

/// Steps `first` to `last`, of each the instructions `shares`.
Value HaloProgram::multiplyLoop(int64_t first, int64_t last,
                                Wgmma::Shares shares, Value sums) {
  auto onNextBlock = [&](Value isNext, llvm::function_ref<void()> body) {
    if (blocks > 1)
      emitIf(e, isNext, body);
  };
  return forEachStep(
      e.constant(first), e.constant(last), sums, [&](Value i, Value carried) {
        Value tap = e.remu(i, taps);
        Value isNext = e.ult(tap, 1);
        onNextBlock(isNext,
                    [&] { wg::NextOp::create(e.b, e.loc, pixels, Value()); });
        onNextBlock(isNext, [&] { wg::AwaitOp::create(e.b, e.loc, pixels); });
        Value next = multiplyTap(tap, carried, shares);
        wg::WaitOp::create(e.b, e.loc, 1);
        releaseFilter();
        onNextBlock(isNext, [&] { wg::ReleaseOp::create(e.b, e.loc, pixels); });
        wg::NextOp::create(e.b, e.loc, filters, Value());
        return next;
      });
}

/// A stage is released when the products of the next one have been issued, so
/// that one group always runs; so is that of pixels.
Value HaloProgram::multiply(Value, llvm::function_ref<void()> onIssued) {
  wg::AwaitOp::create(e.b, e.loc, pixels);
  // Past the last channel both operands are zero, if they reach there.
  const Wgmma::Shares whole{0, shape.rowBytes / Wgmma::kReductionBytes};
  Wgmma::Shares last{
      0, llvm::divideCeilSigned(halo.getLastBytes(), Wgmma::kReductionBytes)};
  if (plan.lastShares > 0)
    last.first = whole.count - last.count;
  const bool hasOthers = blocks > halo.countDepthTaps();
  Value sums = multiplyTap(e.constant(0), Value(), hasOthers ? whole : last);
  wg::NextOp::create(e.b, e.loc, filters, Value());
  const int64_t steps = taps * blocks;
  const int64_t others =
      last.count == whole.count ? steps : steps - taps * halo.countDepthTaps();
  if (others > 1)
    sums = multiplyLoop(1, others, whole, sums);
  if (others < steps)
    sums = multiplyLoop(std::max<int64_t>(others, 1), steps, last, sums);
  onIssued();
  wg::WaitOp::create(e.b, e.loc, 0);
  releaseFilter();
  wg::LeaveOp::create(e.b, e.loc, pixels);
  return sums;
}

void HaloProgram::skipTile(Value) {
  wg::NextOp::create(e.b, e.loc, filters, e.constant(taps * blocks));
  wg::NextOp::create(e.b, e.loc, pixels, e.constant(blocks));
}

std::unique_ptr<ProgramWriter>
tessera::makeHaloProgram(const ProgramWriter::Context &context) {
  return std::make_unique<HaloProgram>(context);
}
