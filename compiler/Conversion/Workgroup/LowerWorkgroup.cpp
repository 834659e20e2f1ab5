//===- LowerWorkgroup.cpp - From a workgroup's program to its threads -----===//
//
// Loops and arithmetic stay as they are. A role's place in a ring of stages
// becomes two values, a stage and a parity, which loops carry; the other ops
// are calls of the emitters of compiler/Conversion/Hopper.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Common/KernelFunction.h"
#include "compiler/Conversion/Hopper/ClusterSum.h"
#include "compiler/Conversion/Hopper/StepFeed.h"
#include "compiler/Conversion/Hopper/SumStore.h"
#include "compiler/Conversion/Hopper/TmaKernel.h"
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
  };
  /// What an op changes of a place.
  struct Moves {
    bool place = false, previous = false;
  };

  LogicalResult emitCopiers();
  LogicalResult emitConsumer();
  LogicalResult emitRole(wg::RoleOp role);
  void prepareConsumer(Value firstRow);
  void prepareStatistics(dnn::ViewOp result);
  LogicalResult lower(Block &block);
  LogicalResult lower(Operation *op);
  LogicalResult lowerLoop(scf::ForOp loop);
  LogicalResult lowerBranch(scf::IfOp branch);
  LogicalResult lowerRing(Operation *op, size_t number);
  void release(size_t number, Value stage);
  void lowerPassingBy(scf::IfOp branch);
  LogicalResult lowerProduct(wg::MmaOp mma);
  void lowerSums(wg::MmaSumsOp mma);
  void lowerLoad(wg::LoadSumsOp load);
  void acquireStage(wg::AcquireOp acquire, size_t number);
  void lowerSlice(wg::SliceOp slice);
  void lowerCopy(wg::CopyOp copy);
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
    rings.emplace_back(e, shared.pointer, offset, stages.countStages(),
                       readers);
    offset += 2 * stages.countStages() * kBarrierBytes;
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

LogicalResult Lowering::lowerLoop(scf::ForOp loop) {
  SmallVector<Moves> moves;
  for (auto [stages, place] : llvm::zip(plan.rings, places)) {
    Moves &of = moves.emplace_back();
    of.place = movesPlace(loop, stages);
    of.previous = of.place && releasesPrevious(*loop.getBody(), stages);
    if (of.previous && !place.previous)
      return loop.emitOpError("releases a stage before its first wg.next");
  }
  SmallVector<Value> begin;
  auto append = [&](SmallVector<Value> &list) {
    for (auto [of, place] : llvm::zip(moves, places)) {
      if (of.place)
        list.append({place.at.stage, place.at.parity});
      if (of.previous)
        list.push_back(place.previous);
    }
  };
  auto take = [&](ValueRange all) {
    for (auto [of, place] : llvm::zip(moves, places)) {
      if (!of.place)
        continue;
      place = {{all[0], all[1]}, of.previous ? all[2] : Value()};
      all = all.drop_front(of.previous ? 3 : 2);
    }
    return all;
  };
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
  map(acquire.getStages(),
      rings[number].claim(at, e.constant(acquire.getBytes())));
  for (Value buffer : plan.rings[number].getBuffers()) {
    const bool isA = buffer == plan.getBufferA();
    Value offset =
        isA ? e.mul(at.stage, shape.getBytesA())
            : e.add(e.mul(at.stage, shape.getBytesB()), shape.getOffsetB());
    map(buffer, addBytes(e, shared.pointer, offset));
  }
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
  } else if (isa<wg::AwaitOp>(op)) {
    const bool stays = plan.rings[number].stays();
    ring.awaitFull({place.at.stage, stays ? e.constant(0) : place.at.parity});
    if (tensorMemory)
      tensorMemory->fence();
  } else if (isa<wg::ReleaseOp>(op)) {
    if (!place.previous)
      return op->emitOpError("releases a stage that its role has not left");
    release(number, place.previous);
  } else if (auto next = dyn_cast<wg::NextOp>(op)) {
    if (issuesSums && plan.rings[number].haveSums())
      tensorMemory->commit(ring.getFull(place.at.stage));
    place = {next.getSteps() ? ring.advance(place.at, get(next.getSteps()))
                             : ring.advance(place.at),
             place.at.stage};
  } else if (isa<wg::LeaveOp>(op)) {
    release(number, place.at.stage);
    place = {ring.advance(place.at), Value()};
  } else {
    forEachStage(e, ring, e.constant(plan.rings[number].countStages()),
                 place.at,
                 [&](Value, const RingPlace &at) { ring.awaitEmpty(at); });
  }
  return success();
}

void Lowering::lowerCopy(wg::CopyOp copy) {
  auto box = copy.getBox().getDefiningOp<wg::BoxOp>();
  const bool isA = box == plan.boxA;
  Value to = castToCluster(e, get(copy.getBuffer()));
  plan.getOperand(box).copy(e, kernel.getArgument(isA ? 0 : 1), to,
                            get(copy.getStages()), getAll(copy.getBox()),
                            get(copy.getStep()), rank);
}

/// The consumer's own rows are in the descriptor of all products.
void Lowering::lowerSlice(wg::SliceOp slice) {
  Value row = e.add(getRow(slice.getBuffer()), get(slice.getRow()));
  const bool isOwn = slice == plan.ownRows;
  if (isOwn)
    prepareConsumer(row);
  map(slice, isOwn ? e.constant(0) : row);
}

LogicalResult Lowering::lowerProduct(wg::MmaOp mma) {
  Value a = mma.getA(), b = mma.getB();
  Wgmma::Place at{e.add(e.mul(getStage(a), shape.getBytesA()),
                        e.mul(getRow(a), shape.rowBytes)),
                  e.mul(getStage(b), shape.getBytesB())};
  const bool isFirst = !mma.getAcc();
  std::optional<Wgmma::Shares> shares;
  if (auto some = mma.getShares())
    shares = {(*some)[0], (*some)[1]};
  map(mma,
      wgmma->multiply(at, isFirst ? wgmma->makeSums() : getAll(mma.getAcc()),
                      isFirst, shares));
  return success();
}

void Lowering::lowerSums(wg::MmaSumsOp mma) {
  tensorMemory->multiply(e.mul(getStage(mma.getA()), shape.getBytesA()),
                         e.mul(getStage(mma.getB()), shape.getBytesB()),
                         getStage(mma.getSums()), get(mma.getAdd()));
}

void Lowering::lowerLoad(wg::LoadSumsOp load) {
  constexpr int64_t kWarps = kWarpgroup / 32;
  map(load,
      tensorMemory->load(getStage(load.getSums()), e.andi(warp, kWarps - 1)));
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
    constexpr int64_t kWarps = kWarpgroup / 32;
    cluster.emplace(e, shape, shared.pointer,
                    ClusterSum::Thread{rank, e.andi(warp, kWarps - 1),
                                       e.add(thread, -kWarpgroup)});
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
  if (isa<wg::AcquireOp, wg::AwaitOp, wg::ReleaseOp, wg::NextOp, wg::LeaveOp,
          wg::DrainOp>(op))
    return lowerRing(op, plan.getRing(op->getOperand(0)));
  if (auto box = dyn_cast<wg::BoxOp>(op)) {
    map(box, plan.getOperand(box).locate(e, get(box.getGroup()),
                                         get(box.getRow()), rank));
  } else if (auto copy = dyn_cast<wg::CopyOp>(op)) {
    lowerCopy(copy);
  } else if (auto mma = dyn_cast<wg::MmaOp>(op)) {
    return lowerProduct(mma);
  } else if (auto mmaSums = dyn_cast<wg::MmaSumsOp>(op)) {
    lowerSums(mmaSums);
  } else if (auto load = dyn_cast<wg::LoadSumsOp>(op)) {
    lowerLoad(load);
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
  if (!tensorMemory)
    wgmma.emplace(e, shape, plan.boxA.getType().getElementType(),
                  getOperand(shape, *plan.a), getOperand(shape, *plan.b),
                  shared.address, firstRow);
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
  constexpr int64_t kWarps = kWarpgroup / 32, kLanes = 32;
  Value statistics = plan.store.getStatistics();
  const StatisticsMemory memory{
      arguments.lookup(statistics),
      cast<MemRefType>(statistics.getType()).getDimSize(0), plan.hasPartOfTile,
      static_cast<int64_t>(plan.program.getWorkgroups())};
  store->setStatistics(std::make_unique<ResultStatistics>(
      e, stored, result, memory,
      ResultStatistics::Thread{workgroup, consumer, e.andi(warp, kWarps - 1),
                               e.andi(thread, kLanes - 1)}));
}

/// Stages begin empty: for those that fill them, the round before the first
/// counts as read.
LogicalResult Lowering::emitRole(wg::RoleOp role) {
  map(role.getBody().getArgument(0), consumer);
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

/// A warp each, of which one thread runs.
LogicalResult Lowering::emitCopiers() {
  constexpr int64_t kWarp = 32;
  NVVM::SetMaxRegisterOp::create(
      e.b, e.loc, static_cast<int64_t>(plan.roles.front().getRegisters()),
      NVVM::SetMaxRegisterAction::decrease);
  LogicalResult result = success();
  for (auto [i, role] : llvm::enumerate(ArrayRef(plan.roles).drop_back())) {
    Value isMe =
        arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, thread,
                              e.constant(static_cast<int64_t>(i) * kWarp));
    emitIf(e, isMe, [&] {
      if (failed(emitRole(role)))
        result = failure();
    });
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
  return emitRole(plan.consumer);
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
