//===- PairProgram.cpp - Steps that bring both operands -------------------===//

#include "compiler/Conversion/Hopper/TileOrder.h"
#include "compiler/Conversion/Workgroup/ProgramWriter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

namespace {
class PairProgram final : public ProgramWriter {
public:
  using ProgramWriter::ProgramWriter;

private:
  using OnIssued = llvm::function_ref<void()>;

  void emitStages() override {
    ring = makeStages(
        {bufferA, bufferB},
        shape.copiesFirst ? 0 : shape.countReaders() * shape.countSharers(),
        shape.preparesB ? HopperShape::kPreparers : 0);
  }
  void emitCopiers() override;
  Value multiply(Value group, OnIssued onIssued) override;
  void skipTile(Value tile) override;

  void copyTile(Value tile);
  void prepareTile(Value tile);
  void forEachOwnStep(Value group, Body body);
  Value multiplySteps(Value steps, OnIssued onIssued);
  Value multiplyPrepared(Value sums);
  Value multiplyPromoted(Value steps, OnIssued onIssued);
  Value multiplyStage(Value sums, DenseI64ArrayAttr shares = {});
  Value multiplyLoop(Value first, Value last, DenseI64ArrayAttr shares,
                     Value sums);
  void release();

  Value ring;
};
} // namespace

void PairProgram::forEachOwnStep(Value group, Body body) {
  if (shape.cluster == 1) {
    plan.walk.forEachStep(e, group, {}, [&](Value step, ValueRange) {
      body(step);
      return SmallVector<Value>();
    });
    return;
  }
  forEachStep(countSteps(e, plan, group, rank), body);
}

void PairProgram::copyTile(Value tile) {
  ResultTile at = locateTile(tile);
  Value firstStep = getFirstStep(e, plan, at.group, rank);
  const bool isSharedB = shape.multicast == dnn::TileDim::N;
  wg::BoxOp a = emitBox(program.loadM, plan.a, at.group, at.row,
                        shape.multicast && !isSharedB);
  wg::BoxOp b = emitBox(program.loadN, plan.b, at.group, at.column, isSharedB);
  forEachOwnStep(at.group, [&](Value stepOfPart) {
    Value step = e.add(firstStep, stepOfPart);
    wg::AcquireOp::create(e.b, e.loc, ring,
                          plan.a.getBytes() + plan.b.getBytes());
    wg::CopyOp::create(e.b, e.loc, a, step, bufferA, ring);
    wg::CopyOp::create(e.b, e.loc, b, step, bufferB, ring);
    wg::NextOp::create(e.b, e.loc, ring, Value());
  });
}

void PairProgram::emitCopiers() {
  emitCopier("copy", [&] {
    forEachTile(workgroup, plan.countWalkers(),
                [&](Value tile) { copyTile(tile); });
    if (shape.multicast)
      wg::DrainOp::create(e.b, e.loc, ring);
  });
  if (!shape.preparesB)
    return;
  emitPreparers(shape.splitsF32 ? "split" : "transpose", [&] {
    forEachTile(workgroup, plan.countWalkers(),
                [&](Value tile) { prepareTile(tile); });
  });
}

/// B becomes what wgmma reads.
void PairProgram::prepareTile(Value tile) {
  Value group = locateTile(tile).group;
  forEachStep(countSteps(e, plan, group, rank), [&](Value) {
    wg::AwaitOp::create(e.b, e.loc, ring);
    wg::PrepareOp::create(e.b, e.loc, bufferB);
    wg::ArriveOp::create(e.b, e.loc, ring);
    wg::NextOp::create(e.b, e.loc, ring, Value());
  });
}

/// Stages of which each is filled once stay.
void PairProgram::release() {
  if (!shape.copiesFirst)
    wg::ReleaseOp::create(e.b, e.loc, ring);
}

/// Issues the products of a stage once it is full.
Value PairProgram::multiplyStage(Value sums, DenseI64ArrayAttr shares) {
  wg::AwaitOp::create(e.b, e.loc, ring);
  return wg::MmaOp::create(e.b, e.loc, acc, rowsA, bufferB, sums, shares);
}

/// Steps `first` to `last`, of each the instructions `shares`.
Value PairProgram::multiplyLoop(Value first, Value last,
                                DenseI64ArrayAttr shares, Value sums) {
  return forEachStep(first, last, sums, [&](Value, Value carried) {
    Value next = multiplyStage(carried, shares);
    wg::WaitOp::create(e.b, e.loc, 1);
    release();
    wg::NextOp::create(e.b, e.loc, ring, Value());
    return next;
  });
}

/// While a consumer loads A, the products of the others run: they issue them in
/// turns, if A is split behind that.
Value PairProgram::multiplyPrepared(Value sums) {
  const int64_t rows = shape.getRows();
  auto all = cast<wg::BufferType>(bufferA.getType());
  auto type = wg::FragmentType::get(e.b.getContext(), rows, all.getColumns(),
                                    all.getElementType(), shape.splitsF32);
  wg::AwaitOp::create(e.b, e.loc, ring);
  Value mine = sliceRows(bufferA, rows, e.mul(consumer, rows));
  Value a = wg::LoadOp::create(e.b, e.loc, type, mine);
  wg::AwaitOp::create(e.b, e.loc, ring, /*ready=*/true);
  if (shape.takesTurns())
    wg::OrderWaitOp::create(e.b, e.loc, consumer);
  Value next =
      wg::MmaOp::create(e.b, e.loc, acc, a, bufferB, sums, DenseI64ArrayAttr());
  if (shape.takesTurns())
    wg::OrderArriveOp::create(e.b, e.loc, consumer, shape.consumers);
  wg::WaitOp::create(e.b, e.loc, 0);
  wg::LeaveOp::create(e.b, e.loc, ring);
  return next;
}

/// A stage is released when the products of the next one have been issued, so
/// that one group always runs; but not if A goes through registers.
Value PairProgram::multiplySteps(Value steps, OnIssued onIssued) {
  if (shape.preparesB) {
    Value sums = forEachStep(
        e.constant(1), steps, multiplyPrepared(Value()),
        [&](Value, Value carried) { return multiplyPrepared(carried); });
    onIssued();
    return sums;
  }
  Value first = multiplyStage(Value());
  wg::NextOp::create(e.b, e.loc, ring, Value());
  const bool endsInside = plan.lastShares > 0;
  Value whole = endsInside ? e.constant(plan.a.countWholeSteps()) : steps;
  Value sums = multiplyLoop(e.constant(1), whole, {}, first);
  if (endsInside) {
    const int64_t all = shape.rowBytes / Wgmma::kReductionBytes;
    sums = multiplyLoop(
        whole, steps,
        e.b.getDenseI64ArrayAttr({all - plan.lastShares, plan.lastShares}),
        sums);
  }
  onIssued();
  wg::WaitOp::create(e.b, e.loc, 0);
  release();
  return sums;
}

/// Accumulators begin anew after some steps, and what they have summed up until
/// then is added to sums that start as zeros.
Value PairProgram::multiplyPromoted(Value steps, OnIssued onIssued) {
  Value zeros = wg::ZeroOp::create(e.b, e.loc, acc);
  auto loop = scf::ForOp::create(e.b, e.loc, e.constant(0), steps,
                                 e.constant(shape.promote), zeros);
  {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(loop.getBody());
    Value left =
        arith::SubIOp::create(e.b, e.loc, steps, loop.getInductionVar());
    Value count = e.constant(shape.promote);
    if (shape.promote > 1)
      count = arith::MinUIOp::create(e.b, e.loc, left, count);
    Value added = multiplySteps(count, [] {});
    scf::YieldOp::create(
        e.b, e.loc,
        ValueRange{wg::AddOp::create(e.b, e.loc, acc, loop.getRegionIterArg(0),
                                     added)});
  }
  onIssued();
  return loop.getResult(0);
}

/// The sums are zeros if the group has no tap.
Value PairProgram::multiply(Value group, OnIssued onIssued) {
  Value steps = countSteps(e, plan, group, rank);
  if (shape.promote > 0)
    return multiplyPromoted(steps, onIssued);
  if (!plan.walk.canBeEmpty())
    return multiplySteps(steps, onIssued);
  auto branch =
      scf::IfOp::create(e.b, e.loc, TypeRange(Type(acc)), e.ult(steps, 1),
                        /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(branch.thenBlock());
  onIssued();
  Value zeros = wg::ZeroOp::create(e.b, e.loc, acc);
  scf::YieldOp::create(e.b, e.loc, zeros);
  e.b.setInsertionPointToStart(branch.elseBlock());
  Value sums = multiplySteps(steps, onIssued);
  scf::YieldOp::create(e.b, e.loc, sums);
  return branch.getResult(0);
}

void PairProgram::skipTile(Value tile) {
  Value group = locateTile(tile).group;
  wg::NextOp::create(e.b, e.loc, ring, plan.walk.countSteps(e, group));
}

std::unique_ptr<ProgramWriter>
tessera::makePairProgram(const ProgramWriter::Context &context) {
  return std::make_unique<PairProgram>(context);
}
