//===- ProgramWriter.cpp - The programs that pipelines become -------------===//

#include "compiler/Conversion/Workgroup/ProgramWriter.h"
#include "compiler/Conversion/Hopper/TileOrder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tessera;

ProgramWriter::ProgramWriter(const Context &context)
    : sizes(context.program.function, context.b.getBlock()),
      e(context.b, context.program.function.getLoc(), context.b.getBlock(),
        context.device),
      program(context.program), plan(context.plan), shape(plan.shape),
      workgroup(context.workgroup), rank(context.rank),
      acc(wg::AccType::get(context.b.getContext(), shape.getRows(),
                           shape.getColumns(), shape.isSwapped)) {
  e.sizes = &sizes;
}

//===----------------------------------------------------------------------===//
// What steps are written of
//===----------------------------------------------------------------------===//

Value ProgramWriter::makeStages(ValueRange buffers, int64_t readers,
                                int64_t preparers) {
  auto count = [&](int64_t number) {
    return number == 0 ? IntegerAttr() : e.b.getI64IntegerAttr(number);
  };
  return wg::StagesOp::create(e.b, e.loc, wg::StagesType::get(e.b.getContext()),
                              buffers, count(1), count(preparers),
                              count(readers));
}

void ProgramWriter::emitRole(StringRef name, Threads threads, int64_t count,
                             int64_t registers, Body body) {
  auto role = wg::RoleOp::create(
      e.b, e.loc, name, threads == Threads::Warpgroups ? count : 1,
      threads == Threads::One,
      threads == Threads::Warps ? e.b.getI64IntegerAttr(count) : IntegerAttr(),
      registers, threads == Threads::One && shape.copiesFirst);
  OpBuilder::InsertionGuard guard(e.b);
  Block *block = e.b.createBlock(&role.getBody(), {}, e.b.getI32Type(), e.loc);
  body(block->getArgument(0));
}

void ProgramWriter::emitCopier(StringRef name,
                               llvm::function_ref<void()> body) {
  emitRole(name, Threads::One, 1, shape.getProducerRegisters(),
           [&](Value) { body(); });
}

void ProgramWriter::emitPreparers(StringRef name,
                                  llvm::function_ref<void()> body) {
  emitRole(name, Threads::Warps, HopperShape::kPreparers,
           shape.getProducerRegisters(), [&](Value) { body(); });
}

/// Each workgroup of a cluster that shares out steps has one tile, and so has
/// one that makes all copies first.
void ProgramWriter::forEachTile(Value first, const OpenNumber &stride,
                                Body body) {
  if (shape.cluster > 1 || shape.copiesFirst)
    return body(first);
  auto loop = scf::ForOp::create(e.b, e.loc, first, e.constant(plan.tiles),
                                 e.constant(stride));
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

Value ProgramWriter::forEachStep(Value first, Value last, Value carried,
                                 llvm::function_ref<Value(Value, Value)> body) {
  if (first == last)
    return carried;
  auto loop =
      scf::ForOp::create(e.b, e.loc, first, last, e.constant(1), carried);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  Value next = body(loop.getInductionVar(), loop.getRegionIterArg(0));
  scf::YieldOp::create(e.b, e.loc, next);
  return loop.getResult(0);
}

void ProgramWriter::forEachStep(Value count, Body body) {
  auto loop =
      scf::ForOp::create(e.b, e.loc, e.constant(0), count, e.constant(1));
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

ResultTile ProgramWriter::locateTile(Value tile) {
  if (plan.walksBothWays)
    tile = wg::WalkOp::create(e.b, e.loc, e.b.getI32Type(), tile,
                              e.b.getI64IntegerAttr(plan.tiles));
  return tessera::locateTile(e, plan, program, tile, rank);
}

wg::BoxOp ProgramWriter::emitBox(dnn::TileLoadOp load,
                                 const TmaOperand &operand, Value group,
                                 Value row, bool isShared) {
  using Last = TmaOperand::LastSteps;
  ArrayRef<int64_t> tile = load.getType().getShape();
  auto type = wg::BoxType::get(e.b.getContext(), tile[0], tile[1],
                               load.getType().getElementType());
  return wg::BoxOp::create(e.b, e.loc, type, load.getView(), group, row,
                           operand.getWalk() == TmaWalk::Pixels,
                           operand.isStreamed(), isShared,
                           operand.getLastSteps() == Last::Behind,
                           operand.getLastSteps() == Last::InPlace,
                           plan.halo && load == program.loadM,
                           plan.sliding && &operand == &*plan.sliding);
}

Value ProgramWriter::sliceRows(Value buffer, int64_t rows, Value first) {
  auto all = cast<wg::BufferType>(buffer.getType());
  return wg::SliceOp::create(e.b, e.loc, all.withRows(rows), buffer, first);
}

DenseI64ArrayAttr ProgramWriter::getShares(Wgmma::Shares shares) {
  if (shares.count == shape.rowBytes / Wgmma::kReductionBytes)
    return {};
  return e.b.getDenseI64ArrayAttr({shares.first, shares.count});
}

//===----------------------------------------------------------------------===//
// The consumers
//===----------------------------------------------------------------------===//

wg::ResultOp ProgramWriter::emitResult(const ResultTile &tile) {
  dnn::TileStoreOp store = program.store;
  return wg::ResultOp::create(
      e.b, e.loc, wg::ResultType::get(e.b.getContext()), store.getView(),
      tile.group, tile.row, tile.column, staging,
      e.b.getI64IntegerAttr(plan.shape.storeRowBytes), !plan.result,
      /*atomic=*/false, store.getExtras(), Value());
}

void tessera::copyEpilogue(Emitter &e, dnn::TileStoreOp from,
                           wg::StoreOp store) {
  Region &epilogue = from.getEpilogue();
  if (epilogue.empty())
    return;
  IRMapping mapping;
  epilogue.cloneInto(&store.getEpilogue(), mapping);
  Operation *yield = store.getEpilogue().front().getTerminator();
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPoint(yield);
  wg::YieldOp::create(e.b, e.loc, yield->getOperand(0));
  yield->erase();
}

/// With the epilogue of the tile program.
void ProgramWriter::emitStore(Value sums, Value result) {
  copyEpilogue(e, program.store,
               wg::StoreOp::create(
                   e.b, e.loc, sums, result, program.store.getStatistics(),
                   program.store.getNormTensors(),
                   program.store.getNormNumbers(), IntegerAttr()));
}

/// A warp stores the rows that it has of its workgroup's share, unless that is
/// behind the last column. The store looks at columns only where shares end
/// behind it.
void ProgramWriter::storeShare(Value sums, ResultTile tile) {
  auto send =
      wg::SendOp::create(e.b, e.loc, e.b.getI32Type(), e.b.getI1Type(), sums);
  tile.column = e.add(tile.column, send.getColumn());
  auto emit = [&] {
    Value result = emitResult(tile);
    auto share = wg::AccType::get(e.b.getContext(), shape.getRows(),
                                  shape.getShareColumns(), shape.isSwapped);
    emitStore(wg::ReceiveOp::create(e.b, e.loc, share), result);
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
void ProgramWriter::emitTile(Value tile) {
  ResultTile at = locateTile(tile);
  if (shape.wavesN > 1)
    at.column = e.add(at.column, e.mul(consumer, shape.getColumns()));
  else if (!shape.isPingPong)
    at.row = e.add(at.row, e.mul(consumer, shape.getRows()));
  if (shape.cluster > 1)
    return storeShare(multiply(at.group, [] {}), at);
  Value result = emitResult(at);
  if (shape.isPingPong)
    wg::OrderWaitOp::create(e.b, e.loc, consumer);
  Value sums = multiply(at.group, [&] {
    if (shape.isPingPong)
      wg::OrderArriveOp::create(e.b, e.loc, consumer, shape.consumers);
  });
  emitStore(sums, result);
}

void ProgramWriter::emitConsumer() {
  rowsA = bufferA;
  if (!shape.isPingPong && !shape.preparesB && !plan.sliding) {
    const int64_t others = shape.tileM - shape.getRows();
    const int64_t all = cast<wg::BufferType>(bufferA.getType()).getRows();
    rowsA = sliceRows(bufferA, all - others, e.mul(consumer, shape.getRows()));
  }
  auto isConsumer = [&](int64_t number) -> Value {
    return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, consumer,
                                 e.constant(number));
  };
  Value first = workgroup;
  const OpenNumber stride = plan.countWalkers();
  if (shape.takesTurns())
    emitIf(e, isConsumer(shape.consumers - 1), [&] {
      wg::OrderArriveOp::create(e.b, e.loc, consumer, shape.consumers);
    });
  if (shape.isPingPong) {
    // The second consumer begins with the second tile.
    emitIf(e, isConsumer(1), [&] { skipTile(workgroup); });
    first = e.add(first, e.mul(consumer, stride));
  }
  forEachTile(first, shape.isPingPong ? stride * 2 : stride, [&](Value tile) {
    emitTile(tile);
    if (shape.isPingPong)
      skipTile(e.add(tile, stride));
  });
  wg::FlushOp::create(e.b, e.loc);
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

/// The tile of a step of `rows` rows, as `operand` copies it.
wg::BufferType ProgramWriter::getBufferType(int64_t slots, int64_t rows,
                                            Type element,
                                            const TmaOperand *operand) {
  const bool isTransposed = operand && operand->isTransposed();
  const int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  const int64_t rowBytes = operand ? shape.rowBytes : kRowBytes;
  return wg::BufferType::get(
      element.getContext(), slots, rows, rowBytes / bytes, element,
      isTransposed ? wg::Layout::ColumnMajor : wg::Layout::RowMajor,
      isTransposed ? operand->getBlockRowBytes() : rowBytes,
      operand == &plan.b && shape.splitsF32, /*isMirrored=*/false);
}

/// So many rows of pixels as lie together, and a mirror behind the last slot.
wg::BufferType ProgramWriter::getSlidingType(Type element) {
  const int64_t bytes = plan.sliding->getBlockRowBytes();
  return wg::BufferType::get(element.getContext(), shape.halo.buffers,
                             bytes / (element.getIntOrFloatBitWidth() / 8),
                             shape.halo.rows, element, wg::Layout::ColumnMajor,
                             bytes, /*isSplit=*/false, /*isMirrored=*/true);
}

void ProgramWriter::emitBuffers() {
  constexpr int64_t kStaged = kStoreRows, kBlock = 64;
  auto alloc = [&](wg::BufferType type) -> Value {
    return wg::AllocOp::create(e.b, e.loc, type);
  };
  Type operand = program.loadM.getType().getElementType();
  Type result = program.store.getView().getType().getElementType();
  bufferA = alloc(
      plan.sliding && !shape.hasHaloB() ? getSlidingType(operand)
      : plan.halo
          ? getBufferType(shape.halo.buffers, shape.halo.rows, operand, &plan.a)
          : getBufferType(shape.stages, shape.tileM, operand, &plan.a));
  bufferB =
      alloc(shape.hasHaloB() ? getSlidingType(operand)
                             : getBufferType(shape.stages,
                                             llvm::alignTo(shape.tileN, kBlock),
                                             operand, &plan.b));
  staging = alloc(getBufferType(shape.getWarps() * shape.stagers, kStaged,
                                result, nullptr));
}

void ProgramWriter::emit() {
  emitBuffers();
  emitStages();
  emitCopiers();
  emitRole("multiply", Threads::Warpgroups, shape.consumers,
           shape.getConsumerRegisters(), [&](Value number) {
             consumer = number;
             emitConsumer();
           });
}
