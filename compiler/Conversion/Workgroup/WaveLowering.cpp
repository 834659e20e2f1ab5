//===- WaveLowering.cpp - The threads of a program of waves ---------------===//

#include "compiler/Conversion/Workgroup/WaveLowering.h"

using namespace mlir;
using namespace tessera;

WaveLowering::WaveLowering(WavePlan &plan, OpBuilder &b, gpu::GPUFuncOp kernel,
                           const DeviceOps &device)
    : plan(plan), frame(b, plan.parts, kernel, device), e(frame.e),
      m(chooseFactor(plan.parts, device.getTarget(), frame.accessM,
                     plan.parts.rowsM)),
      n(chooseFactor(plan.parts, device.getTarget(), frame.accessN,
                     plan.parts.rowsN)) {
  Block &body = plan.program.getBody().front();
  map(body.getArgument(0), frame.block);
  map(body.getArgument(1), e.constant(0));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The number that a wg.size is.
static std::optional<OpenNumber> findSize(Value value) {
  auto size = value.getDefiningOp<wg::SizeOp>();
  if (!size)
    return std::nullopt;
  return OpenNumber(*parseSizeExpr(size.getExpression()));
}

/// Sizes are computed by the runtime, where they are first needed.
Value WaveLowering::get(Value source) {
  if (std::optional<OpenNumber> size = findSize(source))
    return e.constant(*size);
  return values[source].front().front();
}

/// Divisions by sizes become multiplications.
void WaveLowering::clone(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return map(constant, e.constant(constant.getValue()));
  if (isa<arith::DivUIOp, arith::RemUIOp>(op))
    if (std::optional<OpenNumber> by = findSize(op->getOperand(1)))
      return map(op->getResult(0), isa<arith::DivUIOp>(op)
                                       ? e.divu(get(op->getOperand(0)), *by)
                                       : e.remu(get(op->getOperand(0)), *by));
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, get(operand));
  map(op->getResult(0), e.b.clone(*op, mapping)->getResult(0));
}

LogicalResult WaveLowering::lowerLoop(scf::ForOp loop) {
  // Of the iteration before, in front of its first op.
  hasLoads |= loop.getBody()
                  ->walk([](wg::LoadOp) { return WalkResult::interrupt(); })
                  .wasInterrupted();
  SmallVector<Lists> carried;
  auto flatten = [&](ValueRange sources) {
    Values all;
    for (Value source : sources)
      for (const Values &list : getAll(source))
        llvm::append_range(all, list);
    return all;
  };
  for (Value init : loop.getInitArgs())
    carried.push_back(getAll(init));
  auto unflatten = [&](ValueRange sources, ValueRange all) {
    for (auto [source, lists] : llvm::zip_equal(sources, carried)) {
      Lists &into = values[source];
      into = lists;
      for (Values &list : into) {
        llvm::copy(all.take_front(list.size()), list.begin());
        all = all.drop_front(list.size());
      }
    }
  };
  Values begin = flatten(loop.getInitArgs());
  auto to =
      scf::ForOp::create(e.b, e.loc, get(loop.getLowerBound()),
                         get(loop.getUpperBound()), get(loop.getStep()), begin);
  {
    OpBuilder::InsertionGuard guard(e.b);
    if (begin.empty())
      to.getBody()->getTerminator()->erase();
    e.b.setInsertionPointToStart(to.getBody());
    map(loop.getInductionVar(), to.getInductionVar());
    unflatten(loop.getRegionIterArgs(), to.getRegionIterArgs());
    if (failed(lower(*loop.getBody())))
      return failure();
    scf::YieldOp::create(
        e.b, e.loc, flatten(loop.getBody()->getTerminator()->getOperands()));
  }
  unflatten(loop.getResults(), to.getResults());
  return success();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void WaveLowering::findThreads() {
  if (hasThreads)
    return;
  hasThreads = true;
  SmallVector<Type> types;
  for (int64_t slot = 0; slot < plan.parts.buffers; ++slot)
    for (int64_t rows : {plan.parts.rowsM, plan.parts.rowsN})
      types.push_back(getLdsType(plan.parts, rows * plan.parts.step));
  for (wg::AllocOp table : plan.tables)
    types.push_back(getLdsType(plan.parts, table.getType().getColumns()));
  frame.findThreads(types);
}

/// Products read fragments where the lanes of their instruction have them.
void WaveLowering::findProducts() {
  findThreads();
  if (mma)
    return;
  const bool isPAlongN = plan.parts.lanesAlongN;
  mma.emplace(frame.makeMma(m.lds, n.lds, makeSource(frame, m, !isPAlongN),
                            makeSource(frame, n, isPAlongN)));
}

void WaveLowering::lowerTile(wg::TileOp tile) {
  findThreads();
  const bool isM = isOfM(tile.getBuffer());
  TileFactor factor = isM ? m : n;
  if (Value table = tile.getTable())
    factor.table = frame.lds[2 * plan.parts.buffers +
                             (llvm::find(plan.tables, table.getDefiningOp()) -
                              plan.tables.begin())];
  frame.group = get(tile.getGroup());
  std::unique_ptr<TileCopy> &copy = copies[tile];
  copy = createCopy(frame, factor, get(tile.getRow()));
  (isM ? copyM : copyN) = copy.get();
  taps[tile] = tile;
}

TileCopy *WaveLowering::findCopy(Operation *op, Value box) {
  wg::TileOp tile = wg::findTile(box);
  if (taps[tile] == box)
    return copies[tile].get();
  op->emitOpError("copies a tap which its tile has left for another one");
  return nullptr;
}

void WaveLowering::lowerFetch(wg::FetchOp fetch) {
  TileCopy &copy = *copies[wg::findTile(fetch.getBox())];
  Lists &pieces = values[fetch];
  pieces.resize(copy.getPasses());
  for (unsigned pass = 0; pass < copy.getPasses(); ++pass)
    for (unsigned part = 0; part < copy.getLoadParts(); ++part)
      copy.load(pass, part, get(fetch.getAt()), Value(), pieces[pass]);
}

/// Waits for LDS and, of direct copies, for the loads of all but the youngest
/// groups.
void WaveLowering::emitBarrier(wg::BarrierOp barrier) {
  if (!barrier.getAhead()) {
    // LLVM waits for what the wave has written, but not for loads whose results
    // nobody needs: those of a step behind the last one.
    if (hasLoads && !barrier->getParentOfType<wg::StepOp>())
      e.device.emitWait(e, std::nullopt, 0);
    return e.device.emitLdsBarrier(e);
  }
  const unsigned passes = copyM->getPasses() + copyN->getPasses();
  e.device.waitForDirectGroups(e, static_cast<int64_t>(*barrier.getAhead()),
                               passes);
  e.device.emitOrderPin(e);
  e.device.emitBareBarrier(e);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Value WaveLowering::readFragment(wg::LoadOp load, int64_t index) {
  ArrayRef<int64_t> at = *load.getAt();
  return mma->readFragment(isOfM(load.getBuffer()), index,
                           at[1] / load.getType().getColumns(),
                           getSlot(load.getBuffer(), at[0]));
}

/// Outside of steps; the first ones behind a barrier stay behind it, if steps
/// are pinned.
void WaveLowering::lowerLoad(wg::LoadOp load) {
  findProducts();
  hasLoads = true;
  if (plan.isPinned && isa_and_present<wg::BarrierOp>(load->getPrevNode()))
    e.device.emitOrderPin(e);
  const FragmentSide &side =
      isOfM(load.getBuffer()) ? mma->getM() : mma->getN();
  Values fragments;
  for (int64_t index = 0; index < side.count; ++index)
    fragments.push_back(readFragment(load, index));
  values[load] = {fragments};
}

/// Puts what `op` is to the step's products into `parts`.
static bool addPart(Operation &op, Value bufferM, WaveStep &parts) {
  auto place = [&](auto found, auto &ofM, auto &ofN, Value buffer) {
    auto &into = buffer == bufferM ? ofM : ofN;
    if (into)
      return false;
    into = found;
    return true;
  };
  if (auto load = dyn_cast<wg::LoadOp>(op)) {
    if (parts.barrier)
      return place(load, parts.nextM, parts.nextN, load.getBuffer());
    (load.getBuffer() == bufferM ? parts.loadsM : parts.loadsN).push_back(load);
    return true;
  }
  if (auto product = dyn_cast<wg::MmaOp>(op)) {
    parts.products.push_back(product);
    return !parts.barrier;
  }
  if (auto put = dyn_cast<wg::PutOp>(op))
    return !parts.barrier &&
           place(put, parts.putM, parts.putN, put.getBuffer());
  if (auto fetch = dyn_cast<wg::FetchOp>(op))
    return !parts.barrier && place(fetch, parts.fetchM, parts.fetchN,
                                   wg::findTile(fetch.getBox()).getBuffer());
  if (auto fill = dyn_cast<wg::FillOp>(op)) {
    parts.fills.push_back(fill);
    return parts.barrier && !parts.commits;
  }
  if (auto barrier = dyn_cast<wg::BarrierOp>(op))
    return !std::exchange(parts.barrier, barrier);
  parts.commits = true;
  return parts.barrier != wg::BarrierOp();
}

/// What StepBody.h spreads: the products of all parts of a step, in their
/// order, with loads of all parts but the first in front of the barrier, and
/// the next step's first ones behind it.
LogicalResult WaveLowering::findStep(wg::StepOp step, WaveStep &parts) {
  for (Operation &op : step.getBody().front().without_terminator())
    if (!addPart(op, plan.bufferM, parts))
      return op.emitOpError(
          "is a second one of its kind in its step, or on the wrong side of "
          "the barrier: copies to registers and from them, loads of the step "
          "and products stand in front of it; the next step's loads, direct "
          "copies and their wg.commit behind it");
  const auto count = static_cast<size_t>(mma->getChunkReads());
  if (!parts.barrier || !parts.nextM || !parts.nextN ||
      parts.products.size() != count || parts.loadsM.size() + 1 != count ||
      parts.loadsN.size() + 1 != count)
    return step.emitOpError()
           << "needs a barrier, " << count << " products, loads of all their "
           << "fragments but the first, and behind the barrier the first ones "
              "of the next step";
  for (size_t part = 1; part < count; ++part) {
    wg::MmaOp product = parts.products[part];
    if (product.getA() != parts.loadsM[part - 1].getResult() ||
        product.getB() != parts.loadsN[part - 1].getResult() ||
        product.getAcc() != parts.products[part - 1].getResult())
      return product.emitOpError("needs the fragments that were loaded for it, "
                                 "and the sums of the product before");
  }
  if (!parts.fills.empty() && !parts.commits)
    return parts.fills.back().emitOpError("needs a wg.commit in its step");
  return success();
}

/// Each staged piece goes to LDS, and the piece of a step ahead takes its
/// registers.
StepBody::Actions WaveLowering::makeCopies(WaveStep &step) {
  using Kind = StepBody::Kind;
  StepBody::Actions actions;
  auto add = [&](wg::PutOp put, wg::FetchOp fetch, TileCopy &copy) {
    if (fetch)
      values[fetch].resize(copy.getPasses());
    for (unsigned pass = 0; pass < copy.getPasses(); ++pass) {
      for (unsigned part = 0; put && part < copy.getWriteParts(); ++part)
        actions.push_back({Kind::LdsWrite, [=, this, &copy]() mutable {
                             copy.write(
                                 pass, part, getAll(put.getPieces())[pass],
                                 getSlot(put.getBuffer(), put.getSlot()));
                           }});
      for (unsigned part = 0; fetch && part < copy.getLoadParts(); ++part)
        actions.push_back({Kind::GlobalLoad, [=, this, &copy]() mutable {
                             copy.load(pass, part, get(fetch.getAt()), Value(),
                                       values[fetch][pass]);
                           }});
    }
  };
  add(step.putM, step.fetchM, *copyM);
  add(step.putN, step.fetchN, *copyN);
  return actions;
}

StepBody::Actions WaveLowering::makeRefills(WaveStep &step) {
  StepBody::Actions actions;
  for (wg::FillOp fill : step.fills) {
    TileCopy &copy = *copies[wg::findTile(fill.getBox())];
    for (unsigned pass = 0; pass < copy.getPasses(); ++pass)
      actions.push_back(
          {StepBody::Kind::GlobalLoad,
           [=, this, &copy, isLast = fill == step.fills.back()]() mutable {
             Values none;
             copy.load(pass, 0, get(fill.getAt()),
                       getSlot(fill.getBuffer(), fill.getSlot()), none);
             if (isLast && pass + 1 == copy.getPasses())
               e.device.endDirectGroup(e);
           }});
  }
  return actions;
}

LogicalResult WaveLowering::lowerStep(wg::StepOp step) {
  findProducts();
  WaveStep parts;
  if (failed(findStep(step, parts)))
    return failure();
  for (wg::FetchOp fetch : {parts.fetchM, parts.fetchN})
    if (fetch && !findCopy(fetch, fetch.getBox()))
      return failure();
  for (wg::FillOp fill : parts.fills)
    if (!findCopy(fill, fill.getBox()))
      return failure();
  const int64_t countM = mma->getM().count;
  StepBody::Parts splits;
  splits.read = [&](int64_t index, int64_t chunk) {
    return index < countM
               ? readFragment(parts.loadsM[chunk - 1], index)
               : readFragment(parts.loadsN[chunk - 1], index - countM);
  };
  splits.readNext = [&](int64_t index) {
    return index < countM ? readFragment(parts.nextM, index)
                          : readFragment(parts.nextN, index - countM);
  };
  splits.emitBarrier = [&] { emitBarrier(parts.barrier); };
  if (parts.putM || parts.putN || parts.fetchM || parts.fetchN)
    splits.copies = makeCopies(parts);
  splits.refills = makeRefills(parts);
  wg::MmaOp product = parts.products.front();
  Values sums = getAll(product.getAcc()).front();
  Values fragments = getAll(product.getA()).front();
  llvm::append_range(fragments, getAll(product.getB()).front());
  Values next = StepBody(e, *mma, step.getPinned())
                    .emit(sums, std::move(fragments), std::move(splits));
  values[parts.products.back()] = {sums};
  values[parts.nextM] = {Values(ArrayRef(next).take_front(countM))};
  values[parts.nextN] = {Values(ArrayRef(next).drop_front(countM))};
  for (auto [result, yielded] :
       llvm::zip_equal(step.getResults(),
                       step.getBody().front().getTerminator()->getOperands())) {
    Lists lists = getAll(yielded);
    if (lists.empty())
      return step.emitOpError("yields fragments or sums that its own products "
                              "have used up");
    values[result] = std::move(lists);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LogicalResult WaveLowering::lower(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return lowerLoop(loop);
  if (auto step = dyn_cast<wg::StepOp>(op))
    return lowerStep(step);
  if (auto tile = dyn_cast<wg::TileOp>(op)) {
    lowerTile(tile);
  } else if (auto tap = dyn_cast<wg::TapOp>(op)) {
    wg::TileOp tile = wg::findTile(tap);
    copies[tile]->setTap(get(tap.getTap()));
    taps[tile] = tap;
  } else if (auto hasTap = dyn_cast<wg::HasTapOp>(op)) {
    Value exists = copies[wg::findTile(hasTap.getBox())]->emitTapExists(
        get(hasTap.getTap()));
    map(hasTap, exists ? exists : e.constant(e.b.getBoolAttr(true)));
  } else if (auto fetch = dyn_cast<wg::FetchOp>(op)) {
    if (!findCopy(fetch, fetch.getBox()))
      return failure();
    lowerFetch(fetch);
  } else if (auto put = dyn_cast<wg::PutOp>(op)) {
    TileCopy &copy = isOfM(put.getBuffer()) ? *copyM : *copyN;
    for (auto [pass, pieces] : llvm::enumerate(getAll(put.getPieces())))
      for (unsigned part = 0; part < copy.getWriteParts(); ++part)
        copy.write(pass, part, pieces, getSlot(put.getBuffer(), put.getSlot()));
  } else if (auto fill = dyn_cast<wg::FillOp>(op)) {
    TileCopy *copy = findCopy(fill, fill.getBox());
    if (!copy)
      return failure();
    Values none;
    for (unsigned pass = 0; pass < copy->getPasses(); ++pass)
      copy->load(pass, 0, get(fill.getAt()),
                 getSlot(fill.getBuffer(), fill.getSlot()), none);
  } else if (isa<wg::CommitOp>(op)) {
    e.device.endDirectGroup(e);
  } else if (auto barrier = dyn_cast<wg::BarrierOp>(op)) {
    emitBarrier(barrier);
  } else if (auto load = dyn_cast<wg::LoadOp>(op)) {
    lowerLoad(load);
  } else if (auto zero = dyn_cast<wg::ZeroOp>(op)) {
    findProducts();
    values[zero] = {Values(mma->getAccumulators(), mma->makeZeroAccumulator())};
  } else if (auto store = dyn_cast<wg::StoreOp>(op)) {
    auto result = store.getResult().getDefiningOp<wg::ResultOp>();
    frame.group = get(result.getGroup());
    frame.row0 = get(result.getRow());
    frame.column0 = get(result.getColumn());
    frame.emitDealtStore(*mma, getAll(store.getAcc()).front());
  } else if (isa<wg::FlushOp>(op)) {
    e.device.waitForDirectGroups(e, 0, 0);
  } else if (isa<arith::ArithDialect>(op->getDialect())) {
    clone(op);
  }
  return success();
}

LogicalResult WaveLowering::lower(Block &block) {
  for (Operation &op : block.getOperations()) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    if (failed(lower(&op)))
      return failure();
  }
  return success();
}

LogicalResult WaveLowering::emit() {
  if (failed(lower(plan.program.getBody().front())))
    return failure();
  gpu::ReturnOp::create(e.b, e.loc);
  return success();
}

LogicalResult tessera::lowerWaveProgram(func::FuncOp function,
                                        wg::ProgramOp program,
                                        const DeviceOps &device) {
  FailureOr<WavePlan> plan =
      readWavePlan(function, program, device.getTarget());
  if (failed(plan) || failed(checkSlots(program)))
    return failure();
  TileLaunch launch{static_cast<int64_t>(program.getWorkgroups()), {}, {}};
  if (std::optional<StringRef> tiles = program.getTiles())
    launch.openWorkgroups = *parseSizeExpr(*tiles);
  SmallVector<Type> lds;
  TileProgram &parts = plan->parts;
  for (int64_t slot = 0; slot < parts.buffers; ++slot)
    for (int64_t rows : {parts.rowsM, parts.rowsN})
      lds.push_back(getLdsType(parts, rows * parts.step));
  for (wg::AllocOp table : plan->tables)
    lds.push_back(getLdsType(parts, table.getType().getColumns()));
  gpu::GPUFuncOp kernel = createTileFunction(parts, lds, launch, device);
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  if (failed(WaveLowering(*plan, b, kernel, device).emit()))
    return failure();
  function.erase();
  return success();
}
