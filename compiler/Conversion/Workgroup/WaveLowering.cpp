//===- WaveLowering.cpp - The threads of a program of waves ---------------===//

#include "compiler/Conversion/Workgroup/WaveLowering.h"
#include "compiler/Conversion/Common/LdsPointer.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tessera;

WaveLowering::WaveLowering(WavePlan &plan, OpBuilder &b, gpu::GPUFuncOp kernel,
                           const DeviceOps &device)
    : plan(plan), frame(b, plan.parts, kernel, device), e(frame.e),
      m(chooseFactor(plan.parts, device.getTarget(), frame.accessM,
                     plan.parts.rowsM)),
      n(chooseFactor(plan.parts, device.getTarget(), frame.accessN,
                     plan.parts.rowsN)),
      resultAccess(plan.parts.viewD) {
  Block &body = plan.program.getBody().front();
  map(body.getArgument(0), frame.block);
  map(body.getArgument(1), e.constant(0));
  if (plan.isShared() && plan.parts.isDirect)
    findProducts();
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
  if (plan.isShared())
    locateBlock(op->getResult(0));
}

/// Where copies of shared rows begin is computed with their position in the
/// walk, and not between the products of a step.
void WaveLowering::locateBlock(Value position) {
  for (Operation *user : position.getUsers())
    if (isa<wg::FetchOp, wg::FillOp>(user))
      if (auto copy = copies.find(wg::findTile(user->getOperand(0)));
          copy != copies.end() && user->getOperand(1) == position)
        copy->second->locate(get(position));
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
    entered = {};
    if (failed(lower(*loop.getBody())))
      return failure();
    scf::YieldOp::create(
        e.b, e.loc, flatten(loop.getBody()->getTerminator()->getOperands()));
  }
  unflatten(loop.getResults(), to.getResults());
  entered = {};
  return success();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void WaveLowering::findThreads() {
  if (hasThreads)
    return;
  hasThreads = true;
  frame.findThreads(plan.getLdsTypes());
}

/// Products read fragments where the lanes of their instruction have them. Of
/// shared rows `findRows` is called, if given, before those of B are located.
void WaveLowering::findProducts(llvm::function_ref<void()> findRows) {
  findThreads();
  if (mma)
    return;
  const TileProgram &parts = plan.parts;
  SourceFactory sourceM = makeSource(frame, m, !parts.lanesAlongN);
  if (plan.isShared())
    sourceM = [&](const FragmentPlace &place) {
      std::unique_ptr<HaloSource> made;
      if (parts.isDirect)
        made =
            std::make_unique<HaloSource>(e, frame.accessM, parts.halo, place);
      else
        made = std::make_unique<PlaneHaloSource>(e, frame.accessM,
                                                 parts.planeHalo, place);
      source = made.get();
      if (findRows)
        findRows();
      return made;
    };
  mma.emplace(frame.makeMma(m.lds, n.lds, sourceM,
                            makeSource(frame, n, parts.lanesAlongN)));
  if (parts.staged)
    staged.emplace(e, *parts.staged, resultAccess, frame.lds.back(),
                   frame.thread);
}

/// Of rows that taps share: what reads them, and what copies them, if anything
/// does.
void WaveLowering::lowerSharedTile(wg::TileOp tile) {
  TileProgram &parts = plan.parts;
  frame.group = get(tile.getGroup());
  Value row = get(tile.getRow());
  GlobalBuffer buffer = frame.getBuffer(frame.accessM, row);
  auto users = tile->getUsers();
  auto findRows = [&] {
    if (llvm::any_of(users, llvm::IsaPred<wg::LoadOp>))
      rows[tile] = source->findRows(buffer);
  };
  if (mma)
    findRows();
  else
    findProducts(findRows);
  if (!llvm::any_of(users, llvm::IsaPred<wg::FetchOp, wg::FillOp>))
    return;
  std::unique_ptr<TileCopy> &copy = copies[tile];
  if (parts.isDirect)
    copy = std::make_unique<HaloCopy>(e, frame.accessM, parts.halo, m.lds,
                                      parts.walk, buffer, parts.threads,
                                      frame.thread);
  else
    copy = std::make_unique<PlaneHaloCopy>(e, frame.accessM, parts.planeHalo,
                                           m.lds, parts.walk, buffer,
                                           parts.threads, frame.thread);
  for (Operation *user : users)
    if (isa<wg::FetchOp, wg::FillOp>(user) &&
        values.contains(user->getOperand(1)))
      copy->locate(get(user->getOperand(1)));
  copyM = copy.get();
  taps[tile] = tile;
}

/// If all taps of a tile that goes through registers are constants and none is
/// outside of the tensor, they are so many bytes from the first one in memory.
void WaveLowering::findTapBytes(wg::TileOp tile) {
  TileCopy &copy = *copies[tile];
  ViewAccess access(tile.getView().getDefiningOp<dnn::ViewOp>());
  AccessSpace space = access.getSpace(2, 0, tile.getTaps().value_or(0));
  auto isConstant = [&](Operation *user) {
    IntegerAttr tap;
    return isa<wg::TapOp>(user) &&
           matchPattern(user->getOperand(1), m_Constant(&tap)) &&
           tap.getInt() >= 0 && space.getExtent() > tap.getInt();
  };
  if (!plan.isShared() || plan.parts.isDirect ||
      !llvm::all_of(tile->getUsers(), isConstant))
    return;
  SmallVector<int64_t> &bytes = tapBytes[tile];
  for (int64_t tap = 0; tap < space.getExtent(); ++tap)
    bytes.push_back(space.getForm(0, tap));
  auto first = llvm::min_element(bytes);
  copy.setTap(e.constant(first - bytes.begin()));
  const int64_t least = *first;
  for (int64_t &distance : bytes)
    distance -= least;
}

void WaveLowering::lowerTile(wg::TileOp tile) {
  findThreads();
  const bool isM = isOfM(tile.getBuffer());
  if (isM && plan.isShared())
    return lowerSharedTile(tile);
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
  findTapBytes(tile);
}

/// A tap in a step is located with the first copy of it.
void WaveLowering::enterTap(Value box, Operation *user) {
  auto tap = box.getDefiningOp<wg::TapOp>();
  if (tap && tap->getBlock() == user->getBlock() &&
      taps[wg::findTile(box)] != box)
    lowerTap(tap);
}

void WaveLowering::lowerTap(wg::TapOp tap) {
  wg::TileOp tile = wg::findTile(tap);
  taps[tile] = tap;
  IntegerAttr number;
  auto bytes = tapBytes.find(tile);
  if (bytes == tapBytes.end() ||
      !matchPattern(tap.getTap(), m_Constant(&number)))
    return copies[tile]->setTap(get(tap.getTap()));
  copies[tile]->moveTap(bytes->second[number.getInt()]);
}

LogicalResult WaveLowering::checkTap(Operation *op, Value box) {
  const bool isHere = op->getParentOfType<wg::StepOp>() &&
                      box.getParentBlock() == op->getBlock();
  if (isHere || taps[wg::findTile(box)] == box)
    return success();
  return op->emitOpError("copies a tap which its tile has left for another "
                         "one");
}

/// Which of `count` the i-th n-th are.
static std::pair<int64_t, int64_t>
takePart(int64_t count, std::optional<ArrayRef<int64_t>> part) {
  if (!part)
    return {0, count};
  const int64_t i = (*part)[0], n = (*part)[1];
  return {count * i / n, count * (i + 1) / n};
}

/// Begins with what the parts before have brought, and calls `add` for each
/// load.
void WaveLowering::forEachLoad(wg::FetchOp fetch, Add add) {
  TileCopy &copy = *copies[wg::findTile(fetch.getBox())];
  Lists begin(copy.getPasses());
  if (fetch.getBefore())
    begin = getAll(fetch.getBefore());
  values[fetch] = std::move(begin);
  const int64_t parts = copy.getLoadParts();
  auto [first, last] = takePart(copy.getPasses() * parts, fetch.getPart());
  for (int64_t load = first; load < last; ++load)
    add([=, this, &copy]() mutable {
      enterTap(fetch.getBox(), fetch);
      const int64_t pass = load / parts;
      copy.load(pass, load % parts, get(fetch.getAt()), Value(),
                values[fetch][pass]);
    });
}

/// Of the passes that are complete with the part, each write.
void WaveLowering::forEachWrite(wg::PutOp put, Add add) {
  TileCopy &copy = isOfM(put.getBuffer()) ? *copyM : *copyN;
  const int64_t parts = copy.getLoadParts();
  auto [first, last] = takePart(copy.getPasses() * parts, put.getPart());
  for (unsigned pass = 0; pass < copy.getPasses(); ++pass) {
    const int64_t end = (pass + 1) * parts;
    for (unsigned part = 0;
         end > first && end <= last && part < copy.getWriteParts(); ++part)
      add([=, this, &copy]() mutable {
        copy.write(pass, part, getAll(put.getPieces())[pass],
                   getSlot(put.getBuffer(), put.getSlot()));
      });
  }
}

void WaveLowering::forEachFill(wg::FillOp fill, Add add) {
  TileCopy &copy = *copies[wg::findTile(fill.getBox())];
  auto [first, last] = takePart(copy.getPasses(), fill.getPart());
  for (int64_t pass = first; pass < last; ++pass)
    add([=, this, &copy]() mutable {
      enterTap(fill.getBox(), fill);
      copy.setSlot(getSharedSlot(fill.getSlot(), fill.getBehind()));
      Values none;
      copy.load(pass, 0, get(fill.getAt()),
                getSlot(fill.getBuffer(), fill.getSlot()), none);
    });
}

/// Rows outside of an image are read from the line behind the slots.
void WaveLowering::emitZeros() {
  const HaloLines &halo = plan.parts.halo;
  Value chunk = e.mul(e.remu(frame.thread, halo.getChunks()), kChunkBytes);
  auto type = VectorType::get(kChunkBytes / 4, e.b.getI32Type());
  LLVM::StoreOp::create(
      e.b, e.loc, e.constant(cast<TypedAttr>(e.b.getZeroAttr(type))),
      emitLdsPointer(e, frame.lds.front(), e.add(chunk, halo.getZeroOffset())));
}

/// Waits for LDS and, of direct copies, for the loads of all but the youngest
/// groups.
void WaveLowering::emitBarrier(wg::BarrierOp barrier) {
  if (plan.isShared() && plan.parts.isDirect && !std::exchange(hasZeros, true))
    emitZeros();
  if (!barrier.getAhead()) {
    // LLVM waits for what the wave has written, but not for loads whose results
    // nobody needs: those of a step behind the last one.
    if (hasLoads && !barrier->getParentOfType<wg::StepOp>())
      e.device.emitWait(e, std::nullopt, 0);
    return e.device.emitLdsBarrier(e);
  }
  const unsigned passes =
      (copyM ? copyM->getPasses() : 0) + (copyN ? copyN->getPasses() : 0);
  e.device.waitForDirectGroups(e, static_cast<int64_t>(*barrier.getAhead()),
                               passes);
  e.device.emitOrderPin(e);
  e.device.emitBareBarrier(e);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Where a slot of rows that taps share begins.
Value WaveLowering::getSharedSlot(int64_t slot, Value behind) {
  return behind ? get(behind)
                : e.constant(slot * plan.parts.halo.getBufferBytes());
}

/// What the tap of a load of shared rows sees, from here on.
void WaveLowering::enterTap(wg::LoadOp load) {
  if (!load.getBox())
    return;
  wg::TileOp tile = wg::findTile(load.getBox());
  const auto tap = static_cast<int64_t>(*load.getTap());
  const auto wanted = std::tuple(tile.getOperation(), tap, load.getBehind());
  if (std::exchange(entered, wanted) != wanted)
    source->enterTap(rows[tile], tap,
                     getSharedSlot((*load.getAt())[0], load.getBehind()));
}

Value WaveLowering::readFragment(wg::LoadOp load, int64_t index) {
  enterTap(load);
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

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void WaveLowering::enterResult(wg::ResultOp result) {
  frame.group = get(result.getGroup());
  frame.row0 = get(result.getRow());
  frame.column0 = get(result.getColumn());
}

void WaveLowering::lowerStore(wg::StoreOp store) {
  auto result = store.getResult().getDefiningOp<wg::ResultOp>();
  enterResult(result);
  const Values &sums = getAll(store.getAcc()).front();
  if (!result.getStaging())
    return frame.emitDealtStore(*mma, sums);
  frame.emitStore(*mma, sums, [&](Value words, int64_t p, int64_t q) {
    staged->put(*mma, words, p, q);
  });
}

void WaveLowering::storePiece(wg::FlushOp flush, Value words, Value piece) {
  enterResult(flush.getResult().getDefiningOp<wg::ResultOp>());
  Value exists = flush.getExists() ? get(flush.getExists()) : Value();
  staged->store(words,
                {frame.getBuffer(resultAccess, frame.row0), frame.row0,
                 frame.column0, exists},
                piece);
}

/// Outside of steps: all of a result, or what is on its way to LDS.
void WaveLowering::lowerFlush(wg::FlushOp flush) {
  if (!flush.getResult())
    return e.device.waitForDirectGroups(e, 0, 0);
  for (int64_t piece = 0; piece < plan.parts.staged->countPieces(); ++piece) {
    Value at = e.constant(piece);
    storePiece(flush, staged->read(at), at);
  }
}

LogicalResult WaveLowering::lowerCopy(Operation *op) {
  auto now = [](const std::function<void()> &emit) { emit(); };
  if (auto put = dyn_cast<wg::PutOp>(op)) {
    forEachWrite(put, now);
    return success();
  }
  if (failed(checkTap(op, op->getOperand(0))))
    return failure();
  if (auto fetch = dyn_cast<wg::FetchOp>(op))
    forEachLoad(fetch, now);
  else
    forEachFill(cast<wg::FillOp>(op), now);
  return success();
}

LogicalResult WaveLowering::lower(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return lowerLoop(loop);
  if (auto step = dyn_cast<wg::StepOp>(op))
    return lowerStep(step);
  if (isa<wg::FetchOp, wg::PutOp, wg::FillOp>(op))
    return lowerCopy(op);
  if (auto tile = dyn_cast<wg::TileOp>(op)) {
    lowerTile(tile);
  } else if (auto tap = dyn_cast<wg::TapOp>(op)) {
    lowerTap(tap);
  } else if (auto hasTap = dyn_cast<wg::HasTapOp>(op)) {
    Value exists = copies[wg::findTile(hasTap.getBox())]->emitTapExists(
        get(hasTap.getTap()));
    map(hasTap, exists ? exists : e.constant(e.b.getBoolAttr(true)));
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
    lowerStore(store);
  } else if (auto flush = dyn_cast<wg::FlushOp>(op)) {
    lowerFlush(flush);
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
  gpu::GPUFuncOp kernel =
      createTileFunction(plan->parts, plan->getLdsTypes(), launch, device);
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  if (failed(WaveLowering(*plan, b, kernel, device).emit()))
    return failure();
  function.erase();
  return success();
}
