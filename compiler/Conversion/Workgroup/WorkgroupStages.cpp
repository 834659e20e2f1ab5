//===- WorkgroupStages.cpp - Stages, copies, products and results ---------===//

#include "compiler/Conversion/Workgroup/WorkgroupLowering.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tessera;

/// Where the slots of the stage are, and what their copies signal.
void WorkgroupLowering::acquireStage(wg::AcquireOp acquire, size_t number) {
  const RingPlace &at = places[number].at;
  if (plan.rings[number].haveSums()) {
    rings[number].awaitEmpty(at);
    tensorMemory->fence();
    return;
  }
  const auto expected = static_cast<int64_t>(acquire.getBytes());
  Value bytes = e.constant(expected);
  if (plan.rings[number].slides())
    bytes = e.select(e.ult(at.stage, 1), e.constant(2 * expected), bytes);
  map(acquire.getStages(), rings[number].claim(at, bytes));
  ValueRange buffers = plan.rings[number].getBuffers();
  for (Value buffer : buffers) {
    Value slot = getSlot(buffer, at.stage);
    map(buffer, buffers.size() == 1 ? castToCluster(e, slot) : slot);
  }
}

/// What the warp has written is read by wgmma, not by threads.
void WorkgroupLowering::emitReady(Value ready) {
  NVVM::FenceProxyOp::create(
      e.b, e.loc, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(e.b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
  emitWarpSync(e);
  emitIf(e, e.ult(getLane(), 1), [&] { emitArrival(e, ready); });
}

/// Tensor cores say themselves what they have read; warps say so when all of
/// them have.
void WorkgroupLowering::release(size_t number, Value stage) {
  if (issuesSums)
    return tensorMemory->commit(rings[number].getEmpty(stage));
  if (plan.rings[number].haveSums())
    tensorMemory->awaitLoads();
  emitRelease(e, thread, rings[number], stage, shape.countSharers());
}

/// What stays has come for good in the first round.
LogicalResult WorkgroupLowering::lowerRing(Operation *op, size_t number) {
  TmaRing &ring = rings[number];
  Place &place = places[number];
  if (auto acquire = dyn_cast<wg::AcquireOp>(op)) {
    acquireStage(acquire, number);
  } else if (auto await = dyn_cast<wg::AwaitOp>(op)) {
    const bool stays = plan.rings[number].stays();
    Value stage = place.at.stage;
    ring.wait(await.getReady() ? ring.getReady(stage) : ring.getFull(stage),
              stays ? e.constant(0) : place.at.parity);
    if (tensorMemory)
      tensorMemory->fence();
  } else if (isa<wg::ArriveOp>(op)) {
    emitReady(ring.getReady(place.at.stage));
  } else if (isa<wg::ReleaseOp>(op)) {
    if (!place.previous)
      return op->emitOpError("releases a stage that its role has not left");
    releaseOldest(number);
  } else if (auto next = dyn_cast<wg::NextOp>(op)) {
    if (issuesSums && plan.rings[number].haveSums())
      tensorMemory->commit(ring.getFull(place.at.stage));
    goOn(number, next.getSteps());
  } else if (isa<wg::LeaveOp>(op)) {
    release(number, plan.rings[number].slides() && place.previous
                        ? place.previous
                        : place.at.stage);
    place = {ring.advance(place.at), Value()};
  } else {
    forEachStage(e, ring, e.constant(plan.rings[number].countStages()),
                 place.at,
                 [&](Value, const RingPlace &at) { ring.awaitEmpty(at); });
  }
  return success();
}

/// The first slot of stages that slide has a mirror behind the last.
void WorkgroupLowering::lowerCopy(wg::CopyOp copy) {
  auto box = copy.getBox().getDefiningOp<wg::BoxOp>();
  auto copyTo = [&](Value slot) {
    plan.getOperand(box).copy(e, kernel.getArgument(box == plan.boxA ? 0 : 1),
                              castToCluster(e, slot), get(copy.getStages()),
                              getAll(copy.getBox()), get(copy.getStep()), rank);
  };
  copyTo(get(copy.getBuffer()));
  if (!box.getSlides())
    return;
  const int64_t slots = copy.getBuffer().getType().getSlots();
  emitIf(e, e.ult(getStage(copy.getBuffer()), 1),
         [&] { copyTo(getSlot(copy.getBuffer(), e.constant(slots))); });
}

/// The warps of the role share out the blocks, or the pieces.
void WorkgroupLowering::lowerPrepare(wg::PrepareOp prepare) {
  wg::BufferType type = prepare.getBuffer().getType();
  const auto shares =
      static_cast<int64_t>(*prepare->getParentOfType<wg::RoleOp>().getWarps());
  Value buffer = getSlot(prepare.getBuffer(), getStage(prepare.getBuffer()));
  const WarpShare share{warp, kWarpgroup / 32 - shares, shares};
  if (type.getIsSplit())
    TermWriter(e, shape, type.getColumnMajor(), getLane())
        .emitShare(buffer, share);
  else
    PixelTranspose(e, getLane()).emitShare(buffer, shape.tileN, share);
}

void WorkgroupLowering::lowerLoad(wg::LoadOp load) {
  Value whole = wg::getWhole(load);
  Value buffer = getSlot(whole, getStage(whole));
  Value row = getRow(load.getBuffer());
  if (load.getType().getIsSplit())
    terms[load] =
        loadTerms(e, shape, load.getBuffer().getType().getColumnMajor(),
                  getGroupWarp(), getLane(), row, buffer);
  else
    map(load,
        PixelFragments(e, shape, getGroupWarp(), getLane(), row).load(buffer));
}

/// The consumer's own rows are in the descriptor of all products.
void WorkgroupLowering::lowerSlice(wg::SliceOp slice) {
  Value row = e.add(getRow(slice.getBuffer()), get(slice.getRow()));
  const bool isOwn = slice == plan.ownRows;
  if (isOwn)
    prepareConsumer(row);
  map(slice, isOwn ? e.constant(0) : row);
}

/// Of stages that slide, the next one is the oldest then.
void WorkgroupLowering::releaseOldest(size_t number) {
  Place &place = places[number];
  release(number, place.previous);
  if (!plan.rings[number].slides())
    return;
  place.previous = rings[number].advance({place.previous, e.constant(0)}).stage;
  --place.held;
}

void WorkgroupLowering::goOn(size_t number, Value steps) {
  Place &place = places[number];
  if (!plan.rings[number].slides() || !place.previous)
    place.previous = place.at.stage;
  place.at = steps ? rings[number].advance(place.at, get(steps))
                   : rings[number].advance(place.at);
  ++place.held;
}

/// The stage of a ring that is `ahead` in front of the current one.
Value WorkgroupLowering::locateOldest(wg::SlideOp slide) {
  const size_t number = plan.getRing(wg::findStages(slide));
  const Place &place = places[number];
  if (!place.previous)
    return place.at.stage;
  RingPlace oldest{place.previous, e.constant(0)};
  for (auto i = static_cast<int64_t>(slide.getAhead()); i < place.held; ++i)
    oldest = rings[number].advance(oldest);
  return oldest.stage;
}

/// Where the share of the reduction from column `k` on of a block of rows is,
/// from the begin of the buffer.
Value WorkgroupLowering::locateShare(wg::SlideOp slide, int64_t block,
                                     int64_t k) {
  wg::BufferType type = slide.getBuffer().getType();
  const int64_t columns = type.getSlots() * type.getColumns();
  Value at = e.add(e.add(e.mul(get(slide), type.getColumns()),
                         e.add(get(slide.getColumn()),
                               block * static_cast<int64_t>(slide.getPitch()))),
                   k);
  Value wrapped = e.add(at, -columns);
  return e.mul(e.select(e.ult(at, columns), at, wrapped), type.getSwizzle());
}

/// The blocks of an A that slides are instructions, those of B one's.
Wgmma::Place WorkgroupLowering::locateOperands(wg::MmaOp mma) {
  Value a = mma.getA(), b = mma.getB();
  auto slideA = a.getDefiningOp<wg::SlideOp>();
  auto slideB = b.getDefiningOp<wg::SlideOp>();
  Wgmma::Place at{slideA ? Value()
                         : e.add(e.mul(getStage(a), shape.getBytesA()),
                                 e.mul(getRow(a), shape.rowBytes)),
                  slideB ? Value() : e.mul(getStage(b), shape.getBytesB())};
  wg::SlideOp slide = slideA ? slideA : slideB;
  if (!slide)
    return at;
  const int64_t blocks = slideA ? slide.countBlocks() : 1;
  for (int64_t k = 0; k < slide.getType().getColumns();
       k += wg::SlideOp::kShare)
    for (int64_t block = 0; block < blocks; ++block)
      (slideA ? at.sharesA : at.sharesB)
          .push_back(locateShare(slide, block, k));
  return at;
}

LogicalResult WorkgroupLowering::lowerProduct(wg::MmaOp mma) {
  Value a = mma.getA(), b = mma.getB();
  const bool isFirst = !mma.getAcc();
  if (auto load = a.getDefiningOp<wg::LoadOp>()) {
    SmallVector<Value> sums =
        isFirst ? wgmma->makeSums() : getAll(mma.getAcc());
    map(mma,
        load.getType().getIsSplit()
            ? wgmma->multiplyTerms(getStage(b), terms[load], sums, isFirst)
            : wgmma->multiplyFragments(getStage(b), getAll(a), sums, isFirst));
    return success();
  }
  std::optional<Wgmma::Shares> shares;
  if (auto some = mma.getShares())
    shares = {(*some)[0], (*some)[1]};
  map(mma, wgmma->multiply(locateOperands(mma),
                           isFirst ? wgmma->makeSums() : getAll(mma.getAcc()),
                           isFirst, shares));
  return success();
}

void WorkgroupLowering::lowerSums(wg::MmaSumsOp mma) {
  tensorMemory->multiply(e.mul(getStage(mma.getA()), shape.getBytesA()),
                         e.mul(getStage(mma.getB()), shape.getBytesB()),
                         getStage(mma.getSums()), get(mma.getAdd()));
}

void WorkgroupLowering::lowerLoad(wg::LoadSumsOp load) {
  map(load, tensorMemory->load(getStage(load.getSums()), getGroupWarp()));
}

/// Each value of two accumulators.
void WorkgroupLowering::lowerAdd(wg::AddOp add) {
  SmallVector<Value> sums;
  for (auto [lhs, rhs] :
       llvm::zip_equal(getAll(add.getLhs()), getAll(add.getRhs())))
    sums.push_back(addAccumulators(e, lhs, rhs));
  map(add, sums);
}

LogicalResult WorkgroupLowering::lowerResult(Operation *op) {
  if (auto result = dyn_cast<wg::ResultOp>(op))
    store->begin({get(result.getGroup()), get(result.getRow()),
                  get(result.getColumn())});
  else if (auto storeOp = dyn_cast<wg::StoreOp>(op))
    store->emit(getAll(storeOp.getAcc()));
  else
    store->finish();
  return success();
}

LogicalResult WorkgroupLowering::lowerCluster(Operation *op) {
  if (auto send = dyn_cast<wg::SendOp>(op)) {
    cluster.emplace(
        e, shape, shared.pointer,
        ClusterSum::Thread{rank, getGroupWarp(),
                           e.add(thread, -shape.countCopiers() * kWarpgroup)});
    cluster->send(getAll(send.getAcc()));
    map(send.getColumn(), cluster->getColumn());
    if (Value hasShare = cluster->hasShare())
      map(send.getHasShare(), hasShare);
    else
      map(send.getHasShare(), e.constant(e.b.getBoolAttr(true)));
    return success();
  }
  if (!cluster)
    return op->emitOpError("needs a wg.send in front of it");
  map(op->getResult(0), cluster->receive());
  return success();
}
