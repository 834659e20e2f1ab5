//===- ExpandPipeline.cpp - From a pipeline to the program of its roles ---===//
//
// A workgroup walks tiles for as long as there are any. Its producer runs
// ahead, through the end of one tile into the next, as far as the ring reaches;
// the consumers multiply, give stages back and store.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Common/KernelFunction.h"
#include "compiler/Conversion/Hopper/HopperPlan.h"
#include "compiler/Conversion/Hopper/TileOrder.h"
#include "compiler/Conversion/Hopper/Wgmma.h"
#include "compiler/Conversion/Passes.h"
#include "dialect/Workgroup/Workgroup.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tessera {
#define GEN_PASS_DEF_EXPANDPIPELINE
#include "compiler/Conversion/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {
/// Writes the program of one kernel behind its views.
class ProgramWriter {
public:
  ProgramWriter(TileProgram &program, const HopperPlan &plan,
                wg::ProgramOp frame, OpBuilder &b, const DeviceOps &device);
  void emit();

private:
  using Body = llvm::function_ref<void(Value)>;

  wg::BufferType getBufferType(int64_t slots, int64_t rows, Type element,
                               const TmaOperand *operand);
  void emitRole(StringRef name, int64_t warpgroups, bool isThread,
                int64_t registers, Body body);
  void forEachTile(Value first, int64_t stride, Body body);
  wg::BoxOp emitBox(dnn::TileLoadOp load, const TmaOperand &operand,
                    Value group, Value row, bool isShared);
  void copyTile(Value tile);
  void forEachOwnStep(Value group, Body body);
  void emitProducer();

  Value multiplySteps(Value steps, Body onIssued);
  Value multiplyPromoted(Value steps, Body onIssued);
  Value multiply(Value group, Body onIssued);
  Value multiplyStage(Value acc, DenseI64ArrayAttr shares = {});
  Value multiplyLoop(Value first, Value last, DenseI64ArrayAttr shares,
                     Value sums);
  void storeTile(Value sums, const ResultTile &tile);
  void storeShare(Value sums, ResultTile tile);
  void emitTile(Value tile, Value consumer);
  void emitConsumer(Value consumer);

  Emitter e;
  TileProgram &program;
  const HopperPlan &plan;
  const HopperShape &shape;
  Value workgroup, rank;
  Value bufferA, bufferB, staging, ring;
  Value rowsA; ///< Those of the consumer.
  wg::AccType acc;
};
} // namespace

ProgramWriter::ProgramWriter(TileProgram &program, const HopperPlan &plan,
                             wg::ProgramOp frame, OpBuilder &b,
                             const DeviceOps &device)
    : e(b, program.function.getLoc(), b.getBlock(), device), program(program),
      plan(plan), shape(plan.shape), workgroup(frame.getBody().getArgument(0)),
      rank(frame.getBody().getArgument(1)),
      acc(wg::AccType::get(b.getContext(), shape.getRows(), shape.getColumns(),
                           shape.isSwapped)) {}

/// The tile of a step of `rows` rows, as `operand` copies it.
wg::BufferType ProgramWriter::getBufferType(int64_t slots, int64_t rows,
                                            Type element,
                                            const TmaOperand *operand) {
  const bool isTransposed = operand && operand->isTransposed();
  const int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  const int64_t rowBytes = operand ? shape.rowBytes : kRowBytes;
  return wg::BufferType::get(
      element.getContext(), slots, rows, rowBytes / bytes, element,
      isTransposed, isTransposed ? operand->getBlockRowBytes() : rowBytes);
}

void ProgramWriter::emitRole(StringRef name, int64_t warpgroups, bool isThread,
                             int64_t registers, Body body) {
  auto role =
      wg::RoleOp::create(e.b, e.loc, name, warpgroups, isThread, registers);
  OpBuilder::InsertionGuard guard(e.b);
  Block *block = e.b.createBlock(&role.getBody(), {}, e.b.getI32Type(), e.loc);
  body(block->getArgument(0));
}

/// Each workgroup of a cluster that shares out steps has one tile.
void ProgramWriter::forEachTile(Value first, int64_t stride, Body body) {
  if (shape.cluster > 1)
    return body(first);
  auto loop = scf::ForOp::create(e.b, e.loc, first, e.constant(plan.tiles),
                                 e.constant(stride));
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

//===----------------------------------------------------------------------===//
// The producer
//===----------------------------------------------------------------------===//

wg::BoxOp ProgramWriter::emitBox(dnn::TileLoadOp load,
                                 const TmaOperand &operand, Value group,
                                 Value row, bool isShared) {
  ArrayRef<int64_t> tile = load.getType().getShape();
  auto type = wg::BoxType::get(e.b.getContext(), tile[0], tile[1],
                               load.getType().getElementType());
  return wg::BoxOp::create(
      e.b, e.loc, type, load.getView(), group, row,
      operand.getWalk() == TmaWalk::Pixels, operand.isStreamed(), isShared,
      operand.getLastSteps() == TmaOperand::LastSteps::Behind);
}

void ProgramWriter::forEachOwnStep(Value group, Body body) {
  if (shape.cluster == 1) {
    plan.walk.forEachStep(e, group, {}, [&](Value step, ValueRange) {
      body(step);
      return SmallVector<Value>();
    });
    return;
  }
  auto loop =
      scf::ForOp::create(e.b, e.loc, e.constant(0),
                         countSteps(e, plan, group, rank), e.constant(1));
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void ProgramWriter::copyTile(Value tile) {
  ResultTile at = locateTile(e, plan, program, tile, rank);
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

void ProgramWriter::emitProducer() {
  forEachTile(workgroup, plan.countWalkers(),
              [&](Value tile) { copyTile(tile); });
  if (shape.multicast)
    wg::DrainOp::create(e.b, e.loc, ring);
}

//===----------------------------------------------------------------------===//
// The consumers
//===----------------------------------------------------------------------===//

/// Issues the products of a stage once it is full.
Value ProgramWriter::multiplyStage(Value sums, DenseI64ArrayAttr shares) {
  wg::AwaitOp::create(e.b, e.loc, ring);
  return wg::MmaOp::create(e.b, e.loc, acc, rowsA, bufferB, ring, sums, shares);
}

/// Steps `first` to `last`, of each the instructions `shares`.
Value ProgramWriter::multiplyLoop(Value first, Value last,
                                  DenseI64ArrayAttr shares, Value sums) {
  auto loop = scf::ForOp::create(e.b, e.loc, first, last, e.constant(1), sums);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  Value next = multiplyStage(loop.getRegionIterArg(0), shares);
  wg::WaitOp::create(e.b, e.loc, 1);
  wg::ReleaseOp::create(e.b, e.loc, ring);
  wg::NextOp::create(e.b, e.loc, ring, Value());
  scf::YieldOp::create(e.b, e.loc, next);
  return loop.getResult(0);
}

/// A stage is given back when the products of the next one have been issued, so
/// that one group always runs.
Value ProgramWriter::multiplySteps(Value steps, Body onIssued) {
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
  onIssued(Value());
  wg::WaitOp::create(e.b, e.loc, 0);
  wg::ReleaseOp::create(e.b, e.loc, ring);
  return sums;
}

/// Accumulators begin anew after some steps, and what they have summed up until
/// then is added to sums that start as zeros.
Value ProgramWriter::multiplyPromoted(Value steps, Body onIssued) {
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
    Value added = multiplySteps(count, [](Value) {});
    scf::YieldOp::create(
        e.b, e.loc,
        ValueRange{wg::AddOp::create(e.b, e.loc, acc, loop.getRegionIterArg(0),
                                     added)});
  }
  onIssued(Value());
  return loop.getResult(0);
}

/// The sums are zeros if the group has no tap.
Value ProgramWriter::multiply(Value group, Body onIssued) {
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
  onIssued(Value());
  Value zeros = wg::ZeroOp::create(e.b, e.loc, acc);
  scf::YieldOp::create(e.b, e.loc, zeros);
  e.b.setInsertionPointToStart(branch.elseBlock());
  Value sums = multiplySteps(steps, onIssued);
  scf::YieldOp::create(e.b, e.loc, sums);
  return branch.getResult(0);
}

static wg::ResultOp emitResult(Emitter &e, TileProgram &program,
                               const HopperPlan &plan, Value staging,
                               const ResultTile &tile) {
  dnn::TileStoreOp store = program.store;
  return wg::ResultOp::create(e.b, e.loc, wg::ResultType::get(e.b.getContext()),
                              store.getView(), tile.group, tile.row,
                              tile.column, staging, plan.shape.storeRowBytes,
                              !plan.result, store.getExtras());
}

/// With the epilogue of the tile program.
static void emitStore(Emitter &e, TileProgram &program, Value sums,
                      Value result) {
  auto store = wg::StoreOp::create(e.b, e.loc, sums, result);
  Region &epilogue = program.store.getEpilogue();
  if (epilogue.empty())
    return;
  store.getEpilogue().takeBody(epilogue);
  Operation *yield = store.getEpilogue().front().getTerminator();
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPoint(yield);
  wg::YieldOp::create(e.b, e.loc, yield->getOperand(0));
  yield->erase();
}

/// A warp stores the rows that it has of its workgroup's share, unless that is
/// behind the last column. The store looks at columns only where shares end
/// behind it.
void ProgramWriter::storeShare(Value sums, ResultTile tile) {
  auto send =
      wg::SendOp::create(e.b, e.loc, e.b.getI32Type(), e.b.getI1Type(), sums);
  tile.column = e.add(tile.column, send.getColumn());
  auto emit = [&] {
    Value result = emitResult(e, program, plan, staging, tile);
    auto share = wg::AccType::get(e.b.getContext(), shape.getRows(),
                                  shape.getShareColumns(), shape.isSwapped);
    emitStore(e, program, wg::ReceiveOp::create(e.b, e.loc, share), result);
  };
  const int64_t columns = program.store.getView().getType().getShape().back();
  Value stores;
  if (shape.countShares() != shape.cluster)
    stores = send.getHasShare();
  if (columns % shape.tileN != 0)
    stores = e.both(stores, e.ult(tile.column, columns));
  if (stores)
    emitIf(e, stores, emit);
  else
    emit();
}

/// In ping-pong consumers take turns: without them the parities of a ring that
/// both walk would be taken for each other's.
void ProgramWriter::emitTile(Value tile, Value consumer) {
  ResultTile at = locateTile(e, plan, program, tile, rank);
  if (!shape.isPingPong)
    at.row = e.add(at.row, e.mul(consumer, shape.getRows()));
  if (shape.cluster > 1)
    return storeShare(multiply(at.group, [](Value) {}), at);
  Value result = emitResult(e, program, plan, staging, at);
  if (shape.isPingPong)
    wg::OrderWaitOp::create(e.b, e.loc, consumer);
  Value sums = multiply(at.group, [&](Value) {
    if (shape.isPingPong)
      wg::OrderArriveOp::create(e.b, e.loc, consumer, shape.consumers);
  });
  emitStore(e, program, sums, result);
}

void ProgramWriter::emitConsumer(Value consumer) {
  rowsA = bufferA;
  if (!shape.isPingPong) {
    auto all = cast<wg::BufferType>(bufferA.getType());
    auto rows = wg::BufferType::get(
        e.b.getContext(), all.getSlots(), shape.getRows(), all.getColumns(),
        all.getElementType(), all.getColumnMajor(), all.getSwizzle());
    rowsA = wg::SliceOp::create(e.b, e.loc, rows, bufferA,
                                e.mul(consumer, shape.getRows()));
  }
  auto skipTile = [&](Value tile) {
    Value group = locateTile(e, plan, program, tile, rank).group;
    wg::NextOp::create(e.b, e.loc, ring, plan.walk.countSteps(e, group));
  };
  auto isConsumer = [&](int64_t number) -> Value {
    return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, consumer,
                                 e.constant(number));
  };
  Value first = workgroup;
  const int64_t stride = plan.countWalkers();
  if (shape.isPingPong) {
    emitIf(e, isConsumer(shape.consumers - 1), [&] {
      wg::OrderArriveOp::create(e.b, e.loc, consumer, shape.consumers);
    });
    // The second consumer begins with the second tile.
    emitIf(e, isConsumer(1), [&] { skipTile(workgroup); });
    first = e.add(first, e.mul(consumer, stride));
  }
  forEachTile(first, shape.isPingPong ? 2 * stride : stride, [&](Value tile) {
    emitTile(tile, consumer);
    if (shape.isPingPong)
      skipTile(e.add(tile, stride));
  });
  wg::FlushOp::create(e.b, e.loc);
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

void ProgramWriter::emit() {
  constexpr int64_t kStaged = kStoreRows, kBlock = 64;
  auto alloc = [&](wg::BufferType type) -> Value {
    return wg::AllocOp::create(e.b, e.loc, type);
  };
  Type operand = program.loadM.getType().getElementType();
  Type result = program.store.getView().getType().getElementType();
  bufferA = alloc(getBufferType(shape.stages, shape.tileM, operand, &plan.a));
  bufferB = alloc(getBufferType(
      shape.stages, llvm::alignTo(shape.tileN, kBlock), operand, &plan.b));
  staging = alloc(getBufferType(shape.getWarps() * shape.stagers, kStaged,
                                result, nullptr));
  ring = wg::StagesOp::create(e.b, e.loc, wg::StagesType::get(e.b.getContext()),
                              ValueRange{bufferA, bufferB}, 1,
                              shape.countReaders() * shape.countSharers());
  emitRole("copy", 1, /*isThread=*/true, shape.getProducerRegisters(),
           [&](Value) { emitProducer(); });
  emitRole("multiply", shape.consumers, /*isThread=*/false,
           shape.getConsumerRegisters(),
           [&](Value consumer) { emitConsumer(consumer); });
}

namespace {
struct ExpandPipeline : tessera::impl::ExpandPipelineBase<ExpandPipeline> {
  using Base::Base;

  LogicalResult expand(func::FuncOp function, const DeviceOps &device) {
    TileProgram program;
    if (failed(matchTileProgram(function, device.getTarget(), program)))
      return failure();
    if (!isTwoOperandFeed(program))
      return success();
    FailureOr<HopperPlan> plan = makeHopperPlan(program, device.getTarget());
    if (failed(plan))
      return failure();
    const HopperShape &shape = plan->shape;
    OpBuilder b(program.tiles);
    IntegerAttr cluster = shape.getClusterSize() == 1
                              ? IntegerAttr()
                              : b.getI64IntegerAttr(shape.getClusterSize());
    auto frame = wg::ProgramOp::create(
        b, program.tiles.getLoc(), b.getI64IntegerAttr(plan->workgroups),
        b.getI64IntegerAttr(shape.blocksPerSm), cluster);
    const Location loc = frame.getLoc();
    b.createBlock(&frame.getBody(), {}, {b.getI32Type(), b.getI32Type()},
                  {loc, loc});
    ProgramWriter(program, *plan, frame, b, device).emit();
    program.tiles.erase();
    return success();
  }

  void runOnOperation() override {
    const GpuTarget *target = getModuleTarget(getOperation());
    if (!target)
      return signalPassFailure();
    if (!target->hasTma)
      return;
    std::unique_ptr<DeviceOps> device = createDeviceOps(*target);
    WalkResult result = getOperation().walk([&](func::FuncOp function) {
      bool copiesByTma = false;
      function.walk([&](dnn::PipelineOp pipeline) {
        copiesByTma |= pipeline.getCopy() == dnn::CopyKind::Tma;
      });
      return copiesByTma && failed(expand(function, *device))
                 ? WalkResult::interrupt()
                 : WalkResult::skip();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
