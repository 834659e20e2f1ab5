//===- WaveLowering.cpp - The threads of a program of waves ---------------===//

#include "compiler/Conversion/Workgroup/WaveLowering.h"
#include "compiler/Conversion/Common/LdsPointer.h"
#include "compiler/Target/Codegen/Codegen.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"

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

/// Loads of the iteration before may be under way in front of its first op, and
/// what lanes know of their fragments is for all loops.
void WaveLowering::enterLoop(scf::ForOp loop) {
  if (!loop.getBody()
           ->walk([](wg::LoadOp) { return WalkResult::interrupt(); })
           .wasInterrupted())
    return;
  hasLoads = true;
  findProducts();
}

//===----------------------------------------------------------------------===//
// Lanes and barriers
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
  SourceFactory sourceN = makeSource(frame, n, parts.lanesAlongN);
  if (plan.hasWindows()) {
    sourceM = [&](const FragmentPlace &place) {
      return readWindow(e, parts.window, place);
    };
    sourceN = [&](const FragmentPlace &place) {
      return readResident(e, parts.resident, place);
    };
  }
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
  mma.emplace(frame.makeMma(m.lds, n.lds, sourceM, sourceN));
  if (parts.staged)
    staged.emplace(e, *parts.staged, resultAccess, frame.lds.back(),
                   frame.thread);
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
  const Values &sums = getLists(store.getAcc()).front();
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

LogicalResult WaveLowering::lower(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    enterLoop(loop);
    return lowerLoop(loop);
  }
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
    if (plan.isShared() && !isa<arith::ConstantOp>(op))
      locateBlock(op->getResult(0));
  }
  return success();
}

LogicalResult WaveLowering::emit() {
  if (failed(lower(plan.program.getBody().front())))
    return failure();
  gpu::ReturnOp::create(e.b, e.loc);
  return success();
}

/// Addresses of staged results are written anew for each of their pieces: three
/// of five ops behind the loop are there already. LLVM finds the same, but what
/// is dropped here is neither verified nor converted nor translated.
static void dropRepeated(gpu::GPUFuncOp kernel) {
  IRRewriter rewriter(kernel.getContext());
  DominanceInfo dominance(kernel);
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
}

static void dropUnused(gpu::GPUFuncOp kernel) {
  kernel.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

LogicalResult tessera::lowerWaveProgram(func::FuncOp function,
                                        wg::ProgramOp program,
                                        const DeviceOps &device) {
  FailureOr<WavePlan> plan =
      readWavePlan(function, program, device.getTarget());
  if (failed(plan) || failed(checkSlots(program)))
    return failure();
  TileLaunch launch{
      static_cast<int64_t>(program.getWorkgroups()), {}, program.getResident()};
  if (std::optional<StringRef> tiles = program.getTiles())
    launch.openWorkgroups = *parseSizeExpr(*tiles);
  gpu::GPUFuncOp kernel =
      createTileFunction(plan->parts, plan->getLdsTypes(), launch, device);
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  if (failed(WaveLowering(*plan, b, kernel, device).emit()))
    return failure();
  if (plan->parts.isStagedOver)
    dropRepeated(kernel);
  dropUnused(kernel);
  kernel->setAttr(kSimplifiedAttrName, b.getUnitAttr());
  function.erase();
  return success();
}
