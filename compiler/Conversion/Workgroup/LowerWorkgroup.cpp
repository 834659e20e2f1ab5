//===- LowerWorkgroup.cpp - From a workgroup's program to its threads -----===//
//
// Loops and arithmetic stay as they are. A role's place in a ring of stages
// becomes two values, a stage and a parity, which loops carry; the other ops
// are calls of the emitters of compiler/Conversion/Hopper.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Common/KernelFunction.h"
#include "compiler/Conversion/Hopper/ClusterSum.h"
#include "compiler/Conversion/Hopper/PixelOperands.h"
#include "compiler/Conversion/Hopper/SumStore.h"
#include "compiler/Conversion/Hopper/TmaKernel.h"
#include "compiler/Conversion/Hopper/TmaRing.h"
#include "compiler/Conversion/Hopper/Wgmma.h"
#include "compiler/Conversion/Passes.h"
#include "compiler/Conversion/Workgroup/TensorMemory.h"
#include "compiler/Conversion/Workgroup/WorkgroupPlan.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tessera {
#define GEN_PASS_DEF_LOWERWORKGROUP
#include "compiler/Conversion/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {
class Lowering {
public:
  Lowering(WorkgroupPlan &plan, const TmaKernel &kernel, OpBuilder &b,
           const DeviceOps &device);
  LogicalResult emit();

private:
  /// A role's place in a ring.
  struct Place {
    RingPlace at;
    Value previous; ///< The stage before it; null if that is not known.
    /// Of stages that slide `previous` is the oldest that is not released, so
    /// many in front of this one; null if there is none.
    int64_t held = 0;
  };

  LogicalResult emitCopiers();
  LogicalResult emitConsumer();
  LogicalResult emitRole(wg::RoleOp role, Value number);
  void prepareConsumer(Value firstRow);
  void prepareStatistics(dnn::ViewOp result);
  LogicalResult lower(Block &block);
  LogicalResult lower(Operation *op);
  FailureOr<SmallVector<Value *>> findCarried(scf::ForOp loop);
  LogicalResult lowerLoop(scf::ForOp loop);
  LogicalResult lowerBranch(scf::IfOp branch);
  LogicalResult lowerRing(Operation *op, size_t number);
  void release(size_t number, Value stage);
  void lowerPassingBy(scf::IfOp branch);
  LogicalResult lowerProduct(wg::MmaOp mma);
  void lowerSums(wg::MmaSumsOp mma);
  void lowerLoad(wg::LoadSumsOp load);
  void acquireStage(wg::AcquireOp acquire, size_t number);
  void releaseOldest(size_t number);
  void goOn(size_t number, Value steps);
  Value locateOldest(wg::SlideOp slide);
  Value locateShare(wg::SlideOp slide, int64_t block, int64_t k);
  Wgmma::Place locateOperands(wg::MmaOp mma);
  void lowerSlice(wg::SliceOp slice);
  void lowerCopy(wg::CopyOp copy);
  void lowerPrepare(wg::PrepareOp prepare);
  void emitReady(Value ready);
  void lowerLoad(wg::LoadOp load);
  void lowerAdd(wg::AddOp add);
  LogicalResult lowerResult(Operation *op);
  LogicalResult lowerCluster(Operation *op);
  void clone(Operation *op);

  Value get(Value source) { return getAll(source).front(); }
  SmallVector<Value> getAll(Value source) { return values.lookup(source); }
  void map(Value source, ArrayRef<Value> targets) {
    values[source] = SmallVector<Value>(targets);
  }
  SmallVector<Value> getAll(ValueRange sources);
  SmallVector<Type> getTypes(TypeRange types);
  void mapResults(ValueRange results, ValueRange targets);
  /// The current stage of a role in those of `buffer`.
  Value getStage(Value buffer) {
    return places[plan.getRing(wg::findStages(buffer))].at.stage;
  }
  /// Where slot `stage` of `buffer` is.
  Value getSlot(Value buffer, Value stage) {
    return addBytes(
        e, shared.pointer,
        buffer == plan.getBufferA()
            ? e.mul(stage, shape.getBytesA())
            : e.add(e.mul(stage, shape.getBytesB()), shape.getOffsetB()));
  }
  Value getLane() { return e.andi(thread, 31); }
  /// The number of the warp in its warpgroup.
  Value getGroupWarp() { return e.andi(warp, kWarpgroup / 32 - 1); }
  /// The first row of the rows `buffer`, behind the consumer's own.
  Value getRow(Value buffer) {
    return buffer.getDefiningOp<wg::SliceOp>() ? get(buffer) : e.constant(0);
  }

  Emitter e;
  WorkgroupPlan &plan;
  const HopperShape &shape;
  const HopperShape stored;
  gpu::GPUFuncOp kernel;
  const IRMapping &arguments;
  SharedBase shared;
  SmallVector<TmaRing> rings;
  Value workgroup, thread, warp, rank;
  Value consumer;            ///< The warpgroup's number in its role.
  SmallVector<Place> places; ///< In each of the rings.
  DenseMap<Value, SmallVector<Value>> values;
  /// Of what has been split.
  DenseMap<Value, SmallVector<SmallVector<SplitPair>>> terms;
  std::optional<Wgmma> wgmma;
  std::optional<SumStore> store;
  std::optional<ClusterSum> cluster;
  std::optional<TensorMemory> tensorMemory;
  bool issuesSums = false; ///< Whether the role does.
};
} // namespace

Lowering::Lowering(WorkgroupPlan &plan, const TmaKernel &frame, OpBuilder &b,
                   const DeviceOps &device)
    : e(b, plan.function.getLoc(), b.getBlock(), device), plan(plan),
      shape(plan.shape), stored(shape.getStored()), kernel(frame.function),
      arguments(frame.arguments),
      shared(emitSharedBase(e, kernel->getParentOfType<gpu::GPUModuleOp>())) {
  int64_t offset = shape.getOffsetBarriers();
  for (wg::StagesOp stages : plan.rings) {
    const auto readers =
        static_cast<int64_t>(stages.getEmpty().value_or(shape.countReaders()));
    rings.emplace_back(e, shared.pointer, offset, stages.countStages(), readers,
                       static_cast<int64_t>(stages.getReady().value_or(0)));
    offset += stages.countBarriers() * stages.countStages() * kBarrierBytes;
  }
  if (plan.mmaSums)
    tensorMemory.emplace(e, shape, plan.mmaSums.getSums().getType(),
                         plan.boxA.getType().getElementType(), shared, offset);
}

SmallVector<Value> Lowering::getAll(ValueRange sources) {
  SmallVector<Value> all;
  for (Value source : sources)
    llvm::append_range(all, getAll(source));
  return all;
}

/// A struct of sums for each instruction that shares an accumulator.
SmallVector<Type> Lowering::getTypes(TypeRange types) {
  SmallVector<Type> all;
  for (Type type : types) {
    auto acc = dyn_cast<wg::AccType>(type);
    if (!acc) {
      all.push_back(type);
      continue;
    }
    SmallVector<Type> sums(acc.getProductColumns() / 2, e.b.getF32Type());
    all.append(acc.countBlocks(),
               LLVM::LLVMStructType::getLiteral(e.b.getContext(), sums));
  }
  return all;
}

void Lowering::mapResults(ValueRange results, ValueRange targets) {
  size_t first = 0;
  for (Value result : results) {
    const size_t count = getTypes(result.getType()).size();
    map(result, llvm::to_vector(targets.slice(first, count)));
    first += count;
  }
}

//===----------------------------------------------------------------------===//
// Loops and branches
//===----------------------------------------------------------------------===//

static bool movesPlace(Operation *op, Value ring) {
  return llvm::any_of(ring.getUsers(), [&](Operation *user) {
    return isa<wg::NextOp, wg::LeaveOp>(user) && op->isAncestor(user);
  });
}

/// Whether `block` releases the stage of `ring` that was before the place at
/// its begin. On a condition on which it has gone on, it does not.
static bool releasesPrevious(Block &block, Value ring) {
  llvm::SmallDenseSet<Value> conditions;
  for (Operation &op : block) {
    auto branch = dyn_cast<scf::IfOp>(op);
    if (branch && conditions.contains(branch.getCondition()))
      continue;
    if (isa<wg::NextOp, wg::LeaveOp>(op) && op.getOperand(0) == ring)
      return false;
    if (isa<wg::ReleaseOp>(op) && op.getOperand(0) == ring)
      return true;
    for (Region &region : op.getRegions())
      if (isa<scf::ForOp, scf::IfOp>(op) && !region.empty() &&
          releasesPrevious(region.front(), ring))
        return true;
    if (branch && movesPlace(branch, ring))
      conditions.insert(branch.getCondition());
  }
  return false;
}

/// What `loop` carries of places. Stages that slide have what consumers have
/// yet to release behind all else.
FailureOr<SmallVector<Value *>> Lowering::findCarried(scf::ForOp loop) {
  SmallVector<Value *> carried, behind;
  const bool anySlides =
      llvm::any_of(plan.rings, [](wg::StagesOp ring) { return ring.slides(); });
  for (auto [stages, place] : llvm::zip(plan.rings, places)) {
    if (!movesPlace(loop, stages))
      continue;
    carried.append({&place.at.stage, &place.at.parity});
    const bool slides = stages.slides() && place.held > 0;
    if (!slides && !releasesPrevious(*loop.getBody(), stages)) {
      place.previous = Value();
      continue;
    }
    if (!place.previous)
      return loop.emitOpError("releases a stage before its first wg.next");
    (anySlides ? behind : carried).push_back(&place.previous);
  }
  carried.append(behind);
  return carried;
}

LogicalResult Lowering::lowerLoop(scf::ForOp loop) {
  FailureOr<SmallVector<Value *>> carried = findCarried(loop);
  if (failed(carried))
    return failure();
  auto append = [&](SmallVector<Value> &list) {
    for (Value *value : *carried)
      list.push_back(*value);
  };
  auto take = [&](ValueRange all) {
    for (auto [stages, place] : llvm::zip(plan.rings, places))
      if (movesPlace(loop, stages))
        place.previous = Value();
    for (auto [value, from] : llvm::zip(*carried, all))
      *value = from;
    return all.drop_front(carried->size());
  };
  SmallVector<Value> begin;
  append(begin);
  llvm::append_range(begin, getAll(loop.getInitArgs()));
  auto to =
      scf::ForOp::create(e.b, e.loc, get(loop.getLowerBound()),
                         get(loop.getUpperBound()), get(loop.getStep()), begin);
  {
    OpBuilder::InsertionGuard guard(e.b);
    if (begin.empty())
      to.getBody()->getTerminator()->erase();
    e.b.setInsertionPointToStart(to.getBody());
    map(loop.getInductionVar(), to.getInductionVar());
    mapResults(loop.getRegionIterArgs(), take(to.getRegionIterArgs()));
    if (failed(lower(*loop.getBody())))
      return failure();
    SmallVector<Value> yielded;
    append(yielded);
    llvm::append_range(yielded,
                       getAll(loop.getBody()->getTerminator()->getOperands()));
    scf::YieldOp::create(e.b, e.loc, yielded);
  }
  mapResults(loop.getResults(), take(to.getResults()));
  return success();
}

/// Whether a branch does nothing but go on in the ring.
static bool isPassingBy(scf::IfOp branch) {
  return branch.getElseRegion().empty() &&
         llvm::all_of(branch.getThenRegion().front(), [](Operation &op) {
           return isa<wg::NextOp, scf::YieldOp>(op) ||
                  isa<arith::ArithDialect>(op.getDialect());
         });
}

/// The place is chosen, and so is the stage before it.
void Lowering::lowerPassingBy(scf::IfOp branch) {
  const SmallVector<Place> before = places;
  (void)lower(branch.getThenRegion().front());
  Value passes = get(branch.getCondition());
  for (auto [place, old] : llvm::zip(places, before)) {
    if (place.at.stage == old.at.stage)
      continue;
    place.at = {e.select(passes, place.at.stage, old.at.stage),
                e.select(passes, place.at.parity, old.at.parity)};
    if (old.previous)
      place.previous = e.select(passes, place.previous, old.previous);
  }
}

LogicalResult Lowering::lowerBranch(scf::IfOp branch) {
  if (isPassingBy(branch)) {
    lowerPassingBy(branch);
    return success();
  }
  SmallVector<Place *> moved;
  for (auto [stages, place] : llvm::zip(plan.rings, places))
    if (movesPlace(branch, stages))
      moved.push_back(&place);
  const size_t results = getTypes(branch.getResultTypes()).size();
  SmallVector<Type> types = getTypes(branch.getResultTypes());
  types.append(2 * moved.size(), e.b.getI32Type());
  const bool hasElse = !branch.getElseRegion().empty() || !moved.empty();
  auto to =
      scf::IfOp::create(e.b, e.loc, types, get(branch.getCondition()), hasElse);
  const SmallVector<Place> before = places;
  auto fill = [&](Region &from, Block *block) -> LogicalResult {
    OpBuilder::InsertionGuard guard(e.b);
    if (!block->empty())
      block->back().erase();
    e.b.setInsertionPointToStart(block);
    llvm::copy(before, places.begin());
    if (!from.empty() && failed(lower(from.front())))
      return failure();
    SmallVector<Value> yielded;
    if (!from.empty())
      yielded = getAll(from.front().getTerminator()->getOperands());
    for (Place *place : moved)
      yielded.append({place->at.stage, place->at.parity});
    scf::YieldOp::create(e.b, e.loc, yielded);
    return success();
  };
  if (failed(fill(branch.getThenRegion(), to.thenBlock())) ||
      (hasElse && failed(fill(branch.getElseRegion(), to.elseBlock()))))
    return failure();
  mapResults(branch.getResults(), to.getResults().take_front(results));
  for (auto [i, place] : llvm::enumerate(moved))
    *place = {
        {to.getResult(results + 2 * i), to.getResult(results + 2 * i + 1)},
        Value()};
  return success();
}

//===----------------------------------------------------------------------===//
// Rings, copies, products
//===----------------------------------------------------------------------===//

/// Where the slots of the stage are, and what their copies signal.
void Lowering::acquireStage(wg::AcquireOp acquire, size_t number) {
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
void Lowering::emitReady(Value ready) {
  NVVM::FenceProxyOp::create(
      e.b, e.loc, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(e.b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
  emitWarpSync(e);
  emitIf(e, e.ult(getLane(), 1), [&] { emitArrival(e, ready); });
}

/// Tensor cores say themselves what they have read; warps say so when all of
/// them have.
void Lowering::release(size_t number, Value stage) {
  if (issuesSums)
    return tensorMemory->commit(rings[number].getEmpty(stage));
  if (plan.rings[number].haveSums())
    tensorMemory->awaitLoads();
  emitRelease(e, thread, rings[number], stage, shape.countSharers());
}

/// What stays has come for good in the first round.
LogicalResult Lowering::lowerRing(Operation *op, size_t number) {
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
void Lowering::lowerCopy(wg::CopyOp copy) {
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
void Lowering::lowerPrepare(wg::PrepareOp prepare) {
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

void Lowering::lowerLoad(wg::LoadOp load) {
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
void Lowering::lowerSlice(wg::SliceOp slice) {
  Value row = e.add(getRow(slice.getBuffer()), get(slice.getRow()));
  const bool isOwn = slice == plan.ownRows;
  if (isOwn)
    prepareConsumer(row);
  map(slice, isOwn ? e.constant(0) : row);
}

/// Of stages that slide, the next one is the oldest then.
void Lowering::releaseOldest(size_t number) {
  Place &place = places[number];
  release(number, place.previous);
  if (!plan.rings[number].slides())
    return;
  place.previous = rings[number].advance({place.previous, e.constant(0)}).stage;
  --place.held;
}

void Lowering::goOn(size_t number, Value steps) {
  Place &place = places[number];
  if (!plan.rings[number].slides() || !place.previous)
    place.previous = place.at.stage;
  place.at = steps ? rings[number].advance(place.at, get(steps))
                   : rings[number].advance(place.at);
  ++place.held;
}

/// The stage of a ring that is `ahead` in front of the current one.
Value Lowering::locateOldest(wg::SlideOp slide) {
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
Value Lowering::locateShare(wg::SlideOp slide, int64_t block, int64_t k) {
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
Wgmma::Place Lowering::locateOperands(wg::MmaOp mma) {
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

LogicalResult Lowering::lowerProduct(wg::MmaOp mma) {
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

void Lowering::lowerSums(wg::MmaSumsOp mma) {
  tensorMemory->multiply(e.mul(getStage(mma.getA()), shape.getBytesA()),
                         e.mul(getStage(mma.getB()), shape.getBytesB()),
                         getStage(mma.getSums()), get(mma.getAdd()));
}

void Lowering::lowerLoad(wg::LoadSumsOp load) {
  map(load, tensorMemory->load(getStage(load.getSums()), getGroupWarp()));
}

/// Each value of two accumulators.
void Lowering::lowerAdd(wg::AddOp add) {
  SmallVector<Value> sums;
  for (auto [lhs, rhs] :
       llvm::zip_equal(getAll(add.getLhs()), getAll(add.getRhs())))
    sums.push_back(addAccumulators(e, lhs, rhs));
  map(add, sums);
}

LogicalResult Lowering::lowerResult(Operation *op) {
  if (auto result = dyn_cast<wg::ResultOp>(op))
    store->begin({get(result.getGroup()), get(result.getRow()),
                  get(result.getColumn())});
  else if (auto storeOp = dyn_cast<wg::StoreOp>(op))
    store->emit(getAll(storeOp.getAcc()));
  else
    store->finish();
  return success();
}

LogicalResult Lowering::lowerCluster(Operation *op) {
  if (auto send = dyn_cast<wg::SendOp>(op)) {
    cluster.emplace(
        e, shape, shared.pointer,
        ClusterSum::Thread{rank, getGroupWarp(), e.add(thread, -kWarpgroup)});
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

void Lowering::clone(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return map(constant, e.constant(constant.getValue()));
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, get(operand));
  map(op->getResult(0), e.b.clone(*op, mapping)->getResult(0));
}

LogicalResult Lowering::lower(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return lowerLoop(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return lowerBranch(branch);
  if (isa<wg::AcquireOp, wg::AwaitOp, wg::ArriveOp, wg::ReleaseOp, wg::NextOp,
          wg::LeaveOp, wg::DrainOp>(op))
    return lowerRing(op, plan.getRing(op->getOperand(0)));
  if (auto box = dyn_cast<wg::BoxOp>(op)) {
    map(box, plan.getOperand(box).locate(e, get(box.getGroup()),
                                         get(box.getRow()), rank));
  } else if (auto copy = dyn_cast<wg::CopyOp>(op)) {
    lowerCopy(copy);
  } else if (auto prepare = dyn_cast<wg::PrepareOp>(op)) {
    lowerPrepare(prepare);
  } else if (auto load = dyn_cast<wg::LoadOp>(op)) {
    lowerLoad(load);
  } else if (auto mma = dyn_cast<wg::MmaOp>(op)) {
    return lowerProduct(mma);
  } else if (auto mmaSums = dyn_cast<wg::MmaSumsOp>(op)) {
    lowerSums(mmaSums);
  } else if (auto loadSums = dyn_cast<wg::LoadSumsOp>(op)) {
    lowerLoad(loadSums);
  } else if (auto wait = dyn_cast<wg::WaitOp>(op)) {
    wgmma->wait(static_cast<int64_t>(wait.getGroups()));
  } else if (auto zero = dyn_cast<wg::ZeroOp>(op)) {
    Type type = getTypes(zero.getType()).front();
    map(zero, SmallVector<Value>(zero.getType().countBlocks(),
                                 LLVM::ZeroOp::create(e.b, e.loc, type)));
  } else if (auto add = dyn_cast<wg::AddOp>(op)) {
    lowerAdd(add);
  } else if (auto take = dyn_cast<wg::OrderWaitOp>(op)) {
    emitTakeTurn(e, get(take.getWarpgroup()));
  } else if (auto pass = dyn_cast<wg::OrderArriveOp>(op)) {
    emitPassTurn(e, get(pass.getWarpgroup()),
                 static_cast<int64_t>(pass.getWarpgroups()));
  } else if (isa<wg::ResultOp, wg::StoreOp, wg::FlushOp>(op)) {
    return lowerResult(op);
  } else if (isa<wg::SendOp, wg::ReceiveOp>(op)) {
    return lowerCluster(op);
  } else if (auto slice = dyn_cast<wg::SliceOp>(op)) {
    lowerSlice(slice);
  } else if (auto slide = dyn_cast<wg::SlideOp>(op)) {
    map(slide, locateOldest(slide));
  } else {
    clone(op);
  }
  return success();
}

LogicalResult Lowering::lower(Block &block) {
  for (Operation &op : block.getOperations()) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    if (failed(lower(&op)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

static Wgmma::Operand getOperand(const HopperShape &shape,
                                 const TmaOperand &operand) {
  const int64_t bytes = operand.getBlockRowBytes();
  return {operand.isTransposed(), bytes,
          kWgmmaRows * shape.rowBytes * bytes / kRowBytes};
}

/// Behind what says where the consumer's rows are: what stays the same for all
/// tiles.
void Lowering::prepareConsumer(Value firstRow) {
  Wgmma::Operand b = getOperand(shape, *plan.b);
  if (wg::SlideOp slide = plan.getSlideB())
    b.blockBytes = static_cast<int64_t>(slide.getPitch()) * b.rowBytes;
  if (!tensorMemory)
    wgmma.emplace(e, shape, plan.boxA.getType().getElementType(),
                  getOperand(shape, *plan.a), b, shared.address, firstRow);
  StoredTile tile{plan.result.getView().getDefiningOp<dnn::ViewOp>(),
                  {},
                  plan.store.getEpilogue(),
                  plan.map};
  for (Value extra : plan.result.getExtras())
    tile.extras.push_back(extra.getDefiningOp<dnn::ViewOp>());
  constexpr unsigned kResult = 2;
  store.emplace(makeSumStore(
      e, stored, tile,
      {shared.pointer, thread, warp, consumer,
       plan.map ? kernel.getArgument(kResult) : Value(),
       [&](Value source) { return arguments.lookup(source); },
       [&](Value scalar) { return getEpilogueScalar(e, arguments, scalar); }}));
  if (plan.store.getStatistics())
    prepareStatistics(tile.view);
}

void Lowering::prepareStatistics(dnn::ViewOp result) {
  Value statistics = plan.store.getStatistics();
  const StatisticsMemory memory{
      arguments.lookup(statistics),
      cast<MemRefType>(statistics.getType()).getDimSize(0), plan.hasPartOfTile,
      static_cast<int64_t>(plan.program.getWorkgroups())};
  store->setStatistics(std::make_unique<ResultStatistics>(
      e, stored, result, memory,
      ResultStatistics::Thread{workgroup, consumer, getGroupWarp(),
                               getLane()}));
}

/// Stages begin empty: for those that fill them, the round before the first
/// counts as read.
LogicalResult Lowering::emitRole(wg::RoleOp role, Value number) {
  map(role.getBody().getArgument(0), number);
  places.clear();
  issuesSums = plan.mmaSums && role->isProperAncestor(plan.mmaSums);
  for (wg::StagesOp stages : plan.rings) {
    const bool acquires =
        llvm::any_of(stages.getResult().getUsers(), [&](Operation *user) {
          return isa<wg::AcquireOp>(user) && role->isAncestor(user);
        });
    places.push_back({{e.constant(0), e.constant(acquires ? 1 : 0)}, Value()});
  }
  return lower(role.getBody().front());
}

/// A warp each, of which one thread runs, and then those that change operands.
LogicalResult Lowering::emitCopiers() {
  constexpr int64_t kWarp = 32;
  NVVM::SetMaxRegisterOp::create(
      e.b, e.loc, static_cast<int64_t>(plan.roles.front().getRegisters()),
      NVVM::SetMaxRegisterAction::decrease);
  LogicalResult result = success();
  int64_t first = 0;
  for (wg::RoleOp role : ArrayRef(plan.roles).drop_back()) {
    using Predicate = arith::CmpIPredicate;
    Value isMe = role.getThread()
                     ? arith::CmpIOp::create(e.b, e.loc, Predicate::eq, thread,
                                             e.constant(first * kWarp))
                     : arith::CmpIOp::create(e.b, e.loc, Predicate::uge, warp,
                                             e.constant(first));
    emitIf(e, isMe, [&] {
      Value number = role.getThread() ? e.constant(0) : e.add(warp, -first);
      if (failed(emitRole(role, number)))
        result = failure();
    });
    ++first;
  }
  if (shape.cluster > 1)
    ClusterSum::attend(e);
  return result;
}

LogicalResult Lowering::emitConsumer() {
  NVVM::SetMaxRegisterOp::create(
      e.b, e.loc, static_cast<int64_t>(plan.consumer.getRegisters()),
      NVVM::SetMaxRegisterAction::increase);
  if (!plan.ownRows)
    prepareConsumer(e.constant(0));
  return emitRole(plan.consumer, consumer);
}

LogicalResult Lowering::emit() {
  TmaThreads threads = emitTmaThreads(e, shape);
  workgroup = threads.workgroup;
  thread = threads.thread;
  warp = threads.warp;
  rank = threads.rank;
  consumer = threads.consumer;
  map(plan.program.getBody().getArgument(0), threads.workgroup);
  map(plan.program.getBody().getArgument(1), rank);
  if (tensorMemory)
    tensorMemory->allocate(warp);
  emitTmaBegin(e, shape, kernel, plan.getMaps().size(), thread, [&] {
    for (TmaRing &ring : rings)
      ring.initialize();
  });
  if (tensorMemory)
    tensorMemory->find();
  for (Operation &op : plan.program.getBody().front())
    if (isa<arith::ArithDialect>(op.getDialect()))
      clone(&op);
  auto roles = scf::IfOp::create(e.b, e.loc, e.ult(threads.group, 1),
                                 /*withElseRegion=*/true);
  e.b.setInsertionPointToStart(&roles.getThenRegion().front());
  if (failed(emitCopiers()))
    return failure();
  e.b.setInsertionPointToStart(&roles.getElseRegion().front());
  if (failed(emitConsumer()))
    return failure();
  e.b.setInsertionPointToEnd(&kernel.getBody().front());
  if (tensorMemory)
    tensorMemory->free(warp);
  gpu::ReturnOp::create(e.b, e.loc);
  return success();
}

namespace {
struct LowerWorkgroup : tessera::impl::LowerWorkgroupBase<LowerWorkgroup> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    registerDeviceDialects(registry);
  }

  LogicalResult lower(func::FuncOp function, wg::ProgramOp program,
                      const DeviceOps &device) {
    FailureOr<WorkgroupPlan> plan =
        readWorkgroupPlan(function, program, device.getTarget());
    if (failed(plan) || failed(checkStages(*plan)))
      return failure();
    llvm::SmallDenseSet<Value> pointers;
    for (Value extra : plan->result.getExtras())
      pointers.insert(extra.getDefiningOp<dnn::ViewOp>().getSource());
    if (!plan->map)
      pointers.insert(
          plan->result.getView().getDefiningOp<dnn::ViewOp>().getSource());
    if (Value statistics = plan->store.getStatistics())
      pointers.insert(statistics);
    TmaKernel kernel =
        createTmaKernel(function, plan->getMaps(), pointers, plan->shape,
                        static_cast<int64_t>(program.getWorkgroups()));
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.function.getBody().front());
    if (failed(Lowering(*plan, kernel, b, device).emit()))
      return failure();
    function.erase();
    return success();
  }

  void runOnOperation() override {
    const GpuTarget *target = getModuleTarget(getOperation());
    if (!target)
      return signalPassFailure();
    SmallVector<func::FuncOp> functions;
    getOperation().walk([&](func::FuncOp function) {
      if (wg::findProgram(function))
        functions.push_back(function);
    });
    if (functions.empty())
      return;
    std::unique_ptr<DeviceOps> device = createDeviceOps(*target);
    getKernelModule(getOperation());
    for (func::FuncOp function : functions)
      if (failed(lower(function, wg::findProgram(function), *device)))
        return signalPassFailure();
  }
};
} // namespace
