//===- LowerWorkgroup.cpp - From a workgroup's program to its threads -----===//
//
// Loops and arithmetic stay as they are. A role's place in the ring becomes two
// values, a stage and a parity, which loops carry; the other ops are calls of
// the emitters of compiler/Conversion/Hopper.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Common/KernelFunction.h"
#include "compiler/Conversion/Hopper/ClusterSum.h"
#include "compiler/Conversion/Hopper/StepFeed.h"
#include "compiler/Conversion/Hopper/SumStore.h"
#include "compiler/Conversion/Hopper/TmaKernel.h"
#include "compiler/Conversion/Passes.h"
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
  /// A role's place in the ring.
  struct Place {
    RingPlace at;
    Value previous; ///< The stage before it; null if that is not known.
  };

  LogicalResult emitRoles(size_t index, int64_t firstGroup, Value group);
  LogicalResult emitRole(wg::RoleOp role, int64_t firstGroup);
  void prepareConsumer();
  LogicalResult lower(Block &block);
  LogicalResult lower(Operation *op);
  LogicalResult lowerLoop(scf::ForOp loop);
  LogicalResult lowerBranch(scf::IfOp branch);
  LogicalResult lowerRing(Operation *op);
  LogicalResult lowerProduct(wg::MmaOp mma);
  void acquireStage(wg::AcquireOp acquire);
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

  Emitter e;
  WorkgroupPlan &plan;
  const HopperShape &shape;
  const HopperShape stored;
  gpu::GPUFuncOp kernel;
  const IRMapping &arguments;
  SharedBase shared;
  TmaRing ring;
  Value thread, warp, rank;
  Value consumer; ///< The warpgroup's number in its role.
  Place place;
  DenseMap<Value, SmallVector<Value>> values;
  std::optional<Wgmma> wgmma;
  std::optional<SumStore> store;
  std::optional<ClusterSum> cluster;
};
} // namespace

Lowering::Lowering(WorkgroupPlan &plan, const TmaKernel &frame, OpBuilder &b,
                   const DeviceOps &device)
    : e(b, plan.function.getLoc(), b.getBlock(), device), plan(plan),
      shape(plan.shape), stored(shape.getStored()), kernel(frame.function),
      arguments(frame.arguments),
      shared(emitSharedBase(e, kernel->getParentOfType<gpu::GPUModuleOp>())),
      ring(e, shared.pointer, shape.getOffsetBarriers(), shape.stages,
           static_cast<int64_t>(plan.ring.getEmpty())) {}

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

static bool movesPlace(Operation *op) {
  return op->walk([](wg::NextOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Whether `block` releases the stage that was before the place at its begin.
static bool releasesPrevious(Block &block) {
  for (Operation &op : block) {
    if (isa<wg::NextOp>(op))
      return false;
    if (isa<wg::ReleaseOp>(op))
      return true;
    for (Region &region : op.getRegions())
      if (isa<scf::ForOp, scf::IfOp>(op) && !region.empty() &&
          releasesPrevious(region.front()))
        return true;
  }
  return false;
}

LogicalResult Lowering::lowerLoop(scf::ForOp loop) {
  const bool moves = movesPlace(loop);
  const bool carriesPrevious = moves && releasesPrevious(*loop.getBody());
  SmallVector<Value> begin;
  auto append = [&](SmallVector<Value> &list) {
    if (moves)
      list.append({place.at.stage, place.at.parity});
    if (carriesPrevious)
      list.push_back(place.previous);
  };
  if (carriesPrevious && !place.previous)
    return loop.emitOpError("releases a stage before its first wg.next");
  auto take = [&](ValueRange all) {
    if (moves) {
      place.at = {all[0], all[1]};
      place.previous = carriesPrevious ? all[2] : Value();
    }
    return all.drop_front((moves ? 2 : 0) + (carriesPrevious ? 1 : 0));
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

LogicalResult Lowering::lowerBranch(scf::IfOp branch) {
  if (isPassingBy(branch)) {
    const RingPlace before = place.at;
    if (failed(lower(branch.getThenRegion().front())))
      return failure();
    Value passes = get(branch.getCondition());
    place = {{e.select(passes, place.at.stage, before.stage),
              e.select(passes, place.at.parity, before.parity)},
             Value()};
    return success();
  }
  const bool moves = movesPlace(branch);
  SmallVector<Type> types = getTypes(branch.getResultTypes());
  if (moves)
    types.append(2, e.b.getI32Type());
  const bool hasElse = !branch.getElseRegion().empty() || moves;
  auto to =
      scf::IfOp::create(e.b, e.loc, types, get(branch.getCondition()), hasElse);
  const Place before = place;
  auto fill = [&](Region &from, Block *block) -> LogicalResult {
    OpBuilder::InsertionGuard guard(e.b);
    if (!block->empty())
      block->back().erase();
    e.b.setInsertionPointToStart(block);
    place = before;
    if (!from.empty() && failed(lower(from.front())))
      return failure();
    SmallVector<Value> yielded;
    if (!from.empty())
      yielded = getAll(from.front().getTerminator()->getOperands());
    if (moves)
      yielded.append({place.at.stage, place.at.parity});
    scf::YieldOp::create(e.b, e.loc, yielded);
    return success();
  };
  if (failed(fill(branch.getThenRegion(), to.thenBlock())) ||
      (hasElse && failed(fill(branch.getElseRegion(), to.elseBlock()))))
    return failure();
  mapResults(branch.getResults(),
             to.getResults().take_front(types.size() - (moves ? 2 : 0)));
  if (moves)
    place = {{to.getResults().drop_back().back(), to.getResults().back()},
             Value()};
  return success();
}

//===----------------------------------------------------------------------===//
// Rings, copies, products
//===----------------------------------------------------------------------===//

/// Where the slots of the stage are, and what their copies signal.
void Lowering::acquireStage(wg::AcquireOp acquire) {
  Value stage = place.at.stage;
  map(plan.ring, ring.claim(place.at, e.constant(acquire.getBytes())));
  map(plan.getBufferA(),
      addBytes(e, shared.pointer, e.mul(stage, shape.getBytesA())));
  map(plan.getBufferB(),
      addBytes(e, shared.pointer,
               e.add(e.mul(stage, shape.getBytesB()), shape.getOffsetB())));
}

LogicalResult Lowering::lowerRing(Operation *op) {
  if (auto acquire = dyn_cast<wg::AcquireOp>(op)) {
    acquireStage(acquire);
  } else if (isa<wg::AwaitOp>(op)) {
    ring.awaitFull(place.at);
  } else if (isa<wg::ReleaseOp>(op)) {
    if (!place.previous)
      return op->emitOpError("releases a stage that its role has not left");
    emitRelease(e, thread, ring, place.previous, shape.countSharers());
  } else if (auto next = dyn_cast<wg::NextOp>(op)) {
    place.previous = place.at.stage;
    place.at = next.getSteps() ? ring.advance(place.at, get(next.getSteps()))
                               : ring.advance(place.at);
  } else {
    forEachStage(e, ring, e.constant(shape.stages), place.at,
                 [&](Value, const RingPlace &at) { ring.awaitEmpty(at); });
  }
  return success();
}

void Lowering::lowerCopy(wg::CopyOp copy) {
  auto box = copy.getBox().getDefiningOp<wg::BoxOp>();
  const bool isA = box == plan.boxA;
  Value to = castToCluster(e, get(copy.getBuffer()));
  plan.getOperand(box).copy(e, kernel.getArgument(isA ? 0 : 1), to,
                            get(plan.ring), getAll(copy.getBox()),
                            get(copy.getStep()), rank);
}

LogicalResult Lowering::lowerProduct(wg::MmaOp mma) {
  Value stage = place.at.stage;
  Wgmma::Place at{e.mul(stage, shape.getBytesA()),
                  e.mul(stage, shape.getBytesB())};
  const bool isFirst = !mma.getAcc();
  std::optional<Wgmma::Shares> shares;
  if (auto some = mma.getShares())
    shares = {(*some)[0], (*some)[1]};
  map(mma,
      wgmma->multiply(at, isFirst ? wgmma->makeSums() : getAll(mma.getAcc()),
                      isFirst, shares));
  return success();
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
  if (isa<wg::AcquireOp, wg::AwaitOp, wg::ReleaseOp, wg::NextOp, wg::DrainOp>(
          op))
    return lowerRing(op);
  if (auto box = dyn_cast<wg::BoxOp>(op)) {
    map(box, plan.getOperand(box).locate(e, get(box.getGroup()),
                                         get(box.getRow()), rank));
  } else if (auto copy = dyn_cast<wg::CopyOp>(op)) {
    lowerCopy(copy);
  } else if (auto mma = dyn_cast<wg::MmaOp>(op)) {
    return lowerProduct(mma);
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
  } else if (isa<wg::SliceOp>(op)) {
    if (op == plan.mma.getA().getDefiningOp())
      prepareConsumer();
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
void Lowering::prepareConsumer() {
  auto rows = plan.mma.getA().getDefiningOp<wg::SliceOp>();
  wgmma.emplace(e, shape, plan.boxA.getType().getElementType(),
                getOperand(shape, plan.a), getOperand(shape, plan.b),
                shared.address, rows ? get(rows.getRow()) : e.constant(0));
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
}

/// Stages begin empty: for those that fill them, the round before the first
/// counts as read.
LogicalResult Lowering::emitRole(wg::RoleOp role, int64_t firstGroup) {
  bool acquires = false;
  role.walk([&](wg::AcquireOp) { acquires = true; });
  NVVM::SetMaxRegisterOp::create(
      e.b, e.loc, static_cast<int64_t>(role.getRegisters()),
      role == plan.consumer ? NVVM::SetMaxRegisterAction::increase
                            : NVVM::SetMaxRegisterAction::decrease);
  map(role.getBody().getArgument(0), consumer);
  place = {{e.constant(0), e.constant(acquires ? 1 : 0)}, Value()};
  LogicalResult result = success();
  if (role == plan.consumer && !plan.mma.getA().getDefiningOp<wg::SliceOp>())
    prepareConsumer();
  auto emitBody = [&] { result = lower(role.getBody().front()); };
  if (role.getThread()) {
    Value isMe =
        arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, thread,
                              e.constant(firstGroup * kWarpgroup));
    emitIf(e, isMe, emitBody);
  } else {
    emitBody();
  }
  if (shape.cluster > 1 && role != plan.consumer)
    ClusterSum::attend(e);
  return result;
}

/// The roles from number `index` on, of the warpgroups from `firstGroup` on.
LogicalResult Lowering::emitRoles(size_t index, int64_t firstGroup,
                                  Value group) {
  wg::RoleOp role = plan.roles[index];
  if (index + 1 == plan.roles.size())
    return emitRole(role, firstGroup);
  const auto next = firstGroup + static_cast<int64_t>(role.getWarpgroups());
  auto branch = scf::IfOp::create(e.b, e.loc, e.ult(group, next),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(&branch.getThenRegion().front());
  if (failed(emitRole(role, firstGroup)))
    return failure();
  e.b.setInsertionPointToStart(&branch.getElseRegion().front());
  return emitRoles(index + 1, next, group);
}

LogicalResult Lowering::emit() {
  TmaThreads threads = emitTmaThreads(e, shape);
  thread = threads.thread;
  warp = threads.warp;
  rank = threads.rank;
  consumer = threads.consumer;
  map(plan.program.getBody().getArgument(0), threads.workgroup);
  map(plan.program.getBody().getArgument(1), rank);
  emitTmaBegin(e, shape, kernel, plan.getMaps().size(), thread,
               [&] { ring.initialize(); });
  for (Operation &op : plan.program.getBody().front())
    if (isa<arith::ArithDialect>(op.getDialect()))
      clone(&op);
  LogicalResult result = emitRoles(0, 0, threads.group);
  e.b.setInsertionPointToEnd(&kernel.getBody().front());
  gpu::ReturnOp::create(e.b, e.loc);
  return result;
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
